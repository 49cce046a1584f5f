/**
 * Which PostgreSQL of a storage has which database.
 *
 * The table `placement` of the first one says so. A new database goes where a hash of its name points. So a PostgreSQL that is added
 * gets new databases only. Switching a row is the one step at which a move has happened: before it the copy counts for nothing,
 * and after it the original (docs/internals/postgres.md).
 */
import { createHash } from 'node:crypto'
import { awaited } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { failure } from './errors.ts'
import type { OnePostgres } from './one-postgres.ts'

/** The spot of a database: where it is. */
export interface Spot {
  readonly postgres: OnePostgres
  /**
   * The number of the move that brought the database there; null: the database was created there. Undefined: nobody has
   * asked.
   */
  readonly number: number | null | undefined
}

/** A handle's look for its database in one PostgreSQL. */
interface DatabaseRow {
  readonly id: number | undefined
  /** Undefined: it is gone. */
  readonly away: number | undefined
}

/** A row of the table. */
interface Placement {
  readonly spot: Spot
  /** The number of the move that runs. */
  readonly moving: number | null
  /** The move has stopped the writers for longer than `FROZEN_MS_MAX`. */
  readonly isOverdue: boolean
}

/** A move that has stopped the writers for longer is taken for dead, and undone by those who wait. */
export const FROZEN_MS_MAX = 5000

export class Places {
  readonly all: readonly OnePostgres[]
  readonly home: OnePostgres
  readonly environment: Environment
  readonly #listeners = new Map<string, Set<(spot: Spot) => void>>()
  /** Lookups that run (looking). */
  readonly #looking = new Map<string, Promise<Spot | undefined>>()

  /** The first one knows where each database is. */
  constructor(all: readonly OnePostgres[]) {
    this.all = all
    this.home = all[0]!
    this.environment = this.home.environment
  }

  /** Adds one user: the connections stay until all users have left. */
  join(): void {
    for (const { connections } of this.all) connections.join()
  }

  leave(): void {
    for (const { connections } of this.all) connections.leave()
  }

  /** The number of a database, or of a move: 52 bits that nobody else has. */
  newNumber(): number {
    return parseInt(this.environment.randomId().slice(0, 13), 16)
  }

  /** The id of a PostgreSQL. Makes the tables where they are missing. */
  idOf(postgres: OnePostgres): Promise<string> {
    return awaited(this.environment, this.#idOf(postgres))
  }

  async #idOf(postgres: OnePostgres): Promise<string> {
    const home = await this.home.asFirst()
    return postgres === this.home ? home : postgres.asFurther(home)
  }

  /** Undefined: there is no such database. */
  async find(name: string): Promise<Spot | undefined> {
    await this.idOf(this.home)
    if (this.all.length === 1) return { postgres: this.home, number: undefined }
    return (await this.#placementOf(name))?.spot
  }

  /** As `find`. A handle and its coordinator, which ask at the same time, share the answer. */
  findTogether(name: string): Promise<Spot | undefined> {
    let looking = this.#looking.get(name)
    if (looking === undefined) {
      looking = this.find(name).finally(() => this.#looking.delete(name))
      this.#looking.set(name, looking)
    }
    return looking
  }

  /** Where it is, or is to be made. */
  async decide(name: string): Promise<Spot> {
    const found = await this.findTogether(name)
    if (found !== undefined) return found
    const ids = await Promise.all(this.all.map((postgres) => this.idOf(postgres)))
    // A first PostgreSQL that was put back to an earlier state may have forgotten it.
    const having = await Promise.all(this.all.map((postgres) => this.#isAt(postgres, name)))
    const known = ids.find((_id, i) => having[i])
    const [first] = ids.sort((a, b) => (weightOf(a, name) < weightOf(b, name) ? 1 : -1))
    const text = `insert into ${this.#placement} (name, place) values ($1, $2) on conflict (name) do nothing`
    await this.#atHome(text, [name, known ?? first!])
    // It may be destroyed meanwhile.
    return (await this.#placementOf(name))?.spot ?? this.decide(name)
  }

  /**
   * Where to look next for a database that is gone, or that a move has stopped. What a dead move has left is undone or finished here.
   * Undefined: it was destroyed. 'wait': a move is under way.
   */
  async follow(name: string, at: Spot, { id, away }: DatabaseRow): Promise<Spot | undefined | 'wait'> {
    const row = await this.#placementOf(name)
    if (row === undefined) return undefined
    const { spot, moving } = row
    const isHere = spot.postgres === at.postgres
    if (away === undefined) {
      const isSame = isHere && (at.number === undefined || at.number === spot.number)
      return isSame ? undefined : spot
    }
    const number = Math.abs(away)
    if (isHere && away === -(spot.number ?? 0)) {
      const text = `update ${at.postgres.settings.schema}.fence set away = null where database = $1 and away = $2`
      await this.#at(at.postgres, text, [id, away])
    } else if (number === moving) {
      if (row.isOverdue) await this.cancel(name, number)
      // A copy that is not whole yet is never where the database is.
      return isHere ? 'wait' : spot
    } else if (isHere && away > 0) {
      const text = `update ${at.postgres.settings.schema}.fence set away = null where database = $1 and away = $2`
      await this.#at(at.postgres, text, [id, away])
    } else {
      // What a move leaves at its source, or a dead one at its target. Nobody waits for that.
      this.deleteCopy(at.postgres, id!).catch(() => {})
    }
    return spot
  }

  /**
   * Whether it is elsewhere, of a server that has not been here before. A move that runs is ended first: a server that was promoted may
   * have forgotten that the writers were stopped.
   */
  async hasLeft(name: string, at: OnePostgres): Promise<boolean> {
    if (this.all.length === 1) return false
    let row = await this.#placementOf(name)
    if (row !== undefined && row.moving !== null) {
      await this.cancel(name, row.moving)
      row = await this.#placementOf(name)
    }
    return row !== undefined && row.spot.postgres !== at
  }

  /** The move of that number happens no more, if it has not happened yet. */
  async cancel(name: string, number: number): Promise<void> {
    const text = `update ${this.#placement} set target = null, target_number = null, frozen = null where name = $1 and target_number = $2`
    await this.#atHome(text, [name, number])
  }

  /** Copies that moves have left in a PostgreSQL. The database itself is not among them. */
  async copiesAt(postgres: OnePostgres, name: string): Promise<readonly number[]> {
    const rows = await this.#at(postgres, postgres.sql.copies, [name])
    return rows.map(([id]) => id as number)
  }

  async deleteCopy(postgres: OnePostgres, id: number): Promise<void> {
    const { connections, sql } = postgres
    const { count } = await connections.patiently(() => connections.one({ text: sql.destroyCopy, values: [id] }))
    if (count > 0) await postgres.deleteDestroyed()
  }

  async destroy(name: string): Promise<void> {
    const spot = await this.find(name)
    if (spot === undefined) return
    const stop = `update ${this.#placement} set target = null, target_number = null, frozen = null where name = $1`
    await this.#atHome(stop, [name])
    for (const postgres of this.all) {
      await this.idOf(postgres)
      for (const id of await this.copiesAt(postgres, name)) await this.deleteCopy(postgres, id)
    }
    const { postgres } = spot
    await this.#at(postgres, postgres.sql.destroy, [name])
    await this.#atHome(`delete from ${this.#placement} where name = $1 and target is null`, [name])
    await postgres.deleteDestroyed()
  }

  /** Calls the listener when a database turns out to be at another spot. The result ends it. */
  onSpot(name: string, listener: (spot: Spot) => void): () => void {
    let listeners = this.#listeners.get(name)
    if (listeners === undefined) this.#listeners.set(name, (listeners = new Set()))
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(name) === listeners) this.#listeners.delete(name)
    }
  }

  get #placement(): string {
    return `${this.home.settings.schema}.placement`
  }

  async #placementOf(name: string): Promise<Placement | undefined> {
    const text = `select place, number, target_number, coalesce(frozen < clock_timestamp() - interval '${FROZEN_MS_MAX} ms', false)
      from ${this.#placement} where name = $1`
    const [row] = await this.#atHome(text, [name])
    if (row === undefined) return undefined
    const [place, number, moving, isOverdue] = row as [string, number | null, number | null, boolean]
    const postgres = await this.#byId(place, name)
    const spot = { postgres, number }
    for (const listener of this.#listeners.get(name) ?? []) listener(spot)
    return { spot, moving, isOverdue }
  }

  /** Finds the PostgreSQL with this id. PostgreSQLs that do not answer are not waited for. */
  async #byId(id: string, name: string): Promise<OnePostgres> {
    const another = new Error('another')
    try {
      const found = Promise.any(
        this.all.map(async (postgres) => {
          if ((await this.#idOf(postgres)) !== id) throw another
          return postgres
        }),
      )
      return await awaited(this.environment, found)
    } catch (error) {
      const failed: unknown = (error as AggregateError).errors.find((one) => one !== another)
      if (failed !== undefined) throw failed
      const message = `The database ${name} is at a PostgreSQL that is not named: its table pannier.identity has the id ${id}. Name all of them.`
      throw failure('PANNIER_OPEN_FAILED', message, error)
    }
  }

  async #isAt(postgres: OnePostgres, name: string): Promise<boolean> {
    const { schema } = postgres.settings
    const text = `select exists (select from ${schema}.database d join ${schema}.fence f on f.database = d.id
      where d.name = $1 and f.away is null)`
    return (await this.#at(postgres, text, [name]))[0]![0] === true
  }

  #atHome(text: string, values: readonly unknown[]): Promise<readonly (readonly unknown[])[]> {
    return this.#at(this.home, text, values)
  }

  /** Runs a statement at a PostgreSQL that is safe to repeat. */
  async #at(
    { connections }: OnePostgres,
    text: string,
    values: readonly unknown[],
  ): Promise<readonly (readonly unknown[])[]> {
    return (await connections.patiently(() => connections.one({ text, values }))).rows
  }
}

/** Rendezvous hashing: of all PostgreSQLs the one with the highest weight gets the name. */
function weightOf(id: string, name: string): string {
  return createHash('sha256').update(`${id}\0${name}`).digest('hex')
}
