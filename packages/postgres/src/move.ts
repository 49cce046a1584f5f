/**
 * Moves a database from one PostgreSQL to another while servers use it: docs/internals/postgres.md is the contract.
 *
 * Pages are copied while writers write on, again and again, until few are missing. Then the fence at the source stops the writers, the rest
 * is copied, and one row of the first PostgreSQL is switched. That row is the move: before it the copy counts for nothing, after it the
 * original. A move that dies with the writers stopped is undone or finished by those who wait (`Places.follow`).
 */
import type { LongWork, PannierError } from 'pannier'
import { tellListener } from 'pannier/internal'
import type { Result, Statement } from './connections.ts'
import { CopyToTarget } from './copying.ts'
import { failure } from './errors.ts'
import type { OnePostgres } from './one-postgres.ts'
import { FROZEN_MS_MAX, type Places, type Spot } from './places.ts'

/** Where a move stands. For tests, which end it there. */
export type MoveStep =
  | 'begun'
  | 'made'
  | 'copied'
  | 'stopping'
  | 'stopped'
  | 'complete'
  | 'switched'
  | 'opened'
  | 'done'

interface MoveWork extends LongWork {
  readonly onStep?: (step: MoveStep) => Promise<void> | void
}

/** With no more pages and records missing the writers are stopped. */
const REST_MAX = 64
/** A database that changes faster than it is copied is stopped with more missing. */
const PASSES_MAX = 10

/** @throws PANNIER_NOT_FOUND, PANNIER_ABORTED, PANNIER_STALE, PANNIER_OPEN_FAILED */
export async function moveDatabase(places: Places, name: string, target: OnePostgres, work: MoveWork): Promise<void> {
  const spot = await places.find(name)
  const source = spot === undefined ? undefined : await idAt(spot.postgres, name)
  if (spot === undefined || source === undefined) throw failure('PANNIER_NOT_FOUND', `There is no database ${name}.`)
  await places.idOf(target)
  if (spot.postgres === target) {
    // An earlier call has switched it, and was ended before it had tidied up.
    for (const postgres of places.all) await deleteCopies(places, postgres, name)
    return tellListener(() => work.onProgress?.(1))
  }
  await new Move(places, name, { spot, id: source, target }, work).run()
}

interface Ends {
  readonly spot: Spot
  /** The number of the database at the source. */
  readonly id: number
  readonly target: OnePostgres
}

class Move {
  readonly #places: Places
  readonly #name: string
  readonly #source: OnePostgres
  readonly #target: OnePostgres
  readonly #id: number
  readonly #work: MoveWork
  /** Names the move, and the copy that it makes. */
  readonly #number: number
  readonly #copying: CopyToTarget

  constructor(places: Places, name: string, { spot, id, target }: Ends, work: MoveWork) {
    this.#places = places
    this.#name = name
    this.#source = spot.postgres
    this.#target = target
    this.#id = id
    this.#work = work
    this.#number = places.newNumber()
    this.#copying = new CopyToTarget({ source: this.#source, id, target, copy: this.#number })
  }

  async run(): Promise<void> {
    // What is at the target now is of moves that are dead once this one has begun.
    const dead = await this.#places.copiesAt(this.#target, this.#name)
    await this.#begin()
    try {
      await this.#step('begun')
      for (const id of dead) await this.#places.deleteCopy(this.#target, id)
      // A move that is dead may have stopped the writers, and nobody has come since.
      const spot = { postgres: this.#source, number: undefined }
      const away = await awayOf(this.#source, this.#id)
      if (away !== undefined) await this.#places.follow(this.#name, spot, { id: this.#id, away })
      await this.#copyAll()
      await this.#stop()
      await this.#step('stopped')
      await this.#copying.complete(this.#name, () => this.#throwIfAborted())
      await this.#step('complete')
      this.#throwIfAborted()
      await this.#switch()
    } catch (error) {
      await this.#undo()
      throw error
    }
    await this.#step('switched')
    await this.#copying.open()
    await this.#step('opened')
    await this.#source.hub.announce(this.#name)
    await this.#places.deleteCopy(this.#source, this.#id)
    await this.#step('done')
    tellListener(() => this.#work.onProgress?.(1))
  }

  /** From here on no other move of the database can switch it. */
  async #begin(): Promise<void> {
    const to = await this.#places.idOf(this.#target)
    const text = `update ${this.#placement} set target = $2, target_number = $3, frozen = null where name = $1 and place <> $2`
    const { count } = await this.#atHome({ text, values: [this.#name, to, this.#number] })
    if (count === 0) throw this.#overtaken()
  }

  /** Pass after pass, until few pages are missing. */
  async #copyAll(): Promise<void> {
    await this.#copying.begin(this.#name)
    await this.#step('made')
    for (let pass = 0; pass < PASSES_MAX; pass++) {
      const missing = await this.#copying.pass((done) => {
        this.#throwIfAborted()
        if (pass === 0) tellListener(() => this.#work.onProgress?.(0.95 * done))
      })
      if (missing <= REST_MAX) break
    }
    await this.#step('copied')
  }

  /** Stops the writers: they wait from here on. */
  async #stop(): Promise<void> {
    const text = `update ${this.#placement} set frozen = clock_timestamp() where name = $1 and target_number = $2`
    const { count } = await this.#atHome({ text, values: [this.#name, this.#number] })
    if (count === 0) throw this.#overtaken()
    await this.#step('stopping')
    await this.#copying.stop()
  }

  /** The move happens here, in one row, or never. */
  async #switch(): Promise<void> {
    const text = `update ${this.#placement} set place = target, number = target_number, target = null, target_number = null, frozen = null
      where name = $1 and target_number = $2 returning 1`
    const { count } = await this.#atHome({ text, values: [this.#name, this.#number] })
    if (count > 0) return
    // A call whose answer was lost may have done it.
    const look = { text: `select number from ${this.#placement} where name = $1`, values: [this.#name] }
    if ((await this.#atHome(look)).rows[0]?.[0] !== this.#number) throw this.#overtaken()
  }

  /** Undoes it: the original counts, as before. What fails here those who wait do. */
  async #undo(): Promise<void> {
    try {
      await this.#places.cancel(this.#name, this.#number)
      const look = { text: `select number from ${this.#placement} where name = $1`, values: [this.#name] }
      if ((await this.#atHome(look)).rows[0]?.[0] === this.#number) return
      await this.#copying.resumeWrites()
      await this.#places.deleteCopy(this.#target, this.#number)
    } catch {
      // PostgreSQL is away.
    }
  }

  #overtaken(): PannierError {
    const message = `The database ${this.#name} stays where it is: another move has begun, it was destroyed, or its writers had waited for ${FROZEN_MS_MAX / 1000} seconds. Try again.`
    return failure('PANNIER_STALE', message)
  }

  #throwIfAborted(): void {
    if (this.#work.signal?.aborted === true)
      throw failure('PANNIER_ABORTED', `The move was cancelled: ${this.#name} stays where it is.`)
  }

  async #step(step: MoveStep): Promise<void> {
    await this.#work.onStep?.(step)
  }

  get #placement(): string {
    return `${this.#places.home.settings.schema}.placement`
  }

  /** Runs a statement that is safe to repeat at the first PostgreSQL. */
  #atHome(statement: Statement): Promise<Result> {
    const { connections } = this.#places.home
    return connections.patiently(() => connections.one(statement))
  }
}

async function idAt({ connections, sql }: OnePostgres, name: string): Promise<number | undefined> {
  const { rows } = await connections.patiently(() => connections.one({ text: sql.id, values: [name] }))
  return rows[0]?.[0] as number | undefined
}

/** Finishes or deletes what moves have left at a PostgreSQL. */
async function deleteCopies(places: Places, postgres: OnePostgres, name: string): Promise<void> {
  await places.idOf(postgres)
  for (const id of await places.copiesAt(postgres, name)) {
    const found = await places.follow(name, { postgres, number: undefined }, { id, away: await awayOf(postgres, id) })
    if (found !== 'wait' && found?.postgres !== postgres) await places.deleteCopy(postgres, id)
  }
}

async function awayOf({ connections, sql }: OnePostgres, id: number): Promise<number | undefined> {
  const { rows } = await connections.patiently(() => connections.one({ text: sql.away, values: [id] }))
  return (rows[0]?.[0] as number | null) ?? undefined
}
