/**
 * The lease, hints and pins among servers, as rows.
 *
 * The right to write is a row of the table of turns, with a queue: first come, first served. Its holder keeps it from write to write.
 * A holder that is wanted and gives no sign of life for `WRITER_SILENCE_MS_MAX` loses it to the next one. The fences of the page
 * store then refuse what it may still try. A crash of PostgreSQL empties the table, and nobody has the right.
 */
import { assert, pause } from 'pannier/internal'
import { Lease, WRITER_SILENCE_MS_MAX } from 'pannier/storage'
import type { Coordinator, Generation, Hint, WriterLease } from 'pannier/storage'
import type { Environment } from 'pannier/types'
import { failure, operationError } from './errors.ts'
import { UNAWAITED, type Result, type Statement } from './connections.ts'
import { ID_LENGTH, type Freed, type Hub, type Member, type Message } from './hub.ts'
import type { OnePostgres } from './one-postgres.ts'

/** How long one that waits sleeps, if it hears nothing. */
const WAIT_MS = 250

/** The handle to which a coordinator belongs. */
export interface Handle {
  /** The name of the database. */
  readonly name: string
  readonly realm: string
  readonly environment: Environment
}

export class PostgresCoordinator implements Coordinator, Member {
  readonly realm: string
  readonly name: string
  readonly self: string
  readonly #environment: Environment
  readonly #hub: Hub
  readonly #place: string
  #listener: (hint: Hint | undefined) => void = () => (this.#missed = true)
  /** Whether something was missed: it came before there was a listener. */
  #missed = false
  #lease: Lease | undefined
  #waiting: { wake(freed?: Freed): void } | undefined
  /** Names the request for the lease in the row. Each has another one, so that a late message is of no earlier one. */
  #request = ''
  #requests = 0
  /** The statement that asks for the lease. What takes the request back comes after it, wherever each of them runs. */
  #asking: Promise<unknown> = Promise.resolve()
  #releasing: Promise<void> = Promise.resolve()
  #pinning: Promise<void> = Promise.resolve()
  #pinned: Generation | undefined
  readonly #ending = new AbortController()
  #closed = false

  constructor({ hub, place }: OnePostgres, { name, realm, environment }: Handle) {
    this.#hub = hub
    this.#place = place
    this.#environment = environment
    this.self = environment.randomId().slice(0, ID_LENGTH)
    this.name = name
    this.realm = realm
    hub.join(this)
  }

  async acquireWriter(): Promise<WriterLease> {
    assert(this.#lease === undefined && this.#waiting === undefined, 'one lease or request a handle')
    let woken = false
    let given: Freed | undefined
    this.#request = `${this.self}.${++this.#requests}`
    let wake = (): void => {}
    this.#waiting = {
      wake(freed) {
        woken = true
        given = freed ?? given
        wake()
      },
    }
    try {
      await this.#releasing
      for (;;) {
        if (this.#closed) throw closedError()
        woken = false
        if (given !== undefined || (await this.#ask())) {
          if (given?.isWanted === true) this.#answerSoon()
          this.#lease = new Lease(() => {
            this.#lease = undefined
            this.#letGo()
          })
          if (this.#closed) {
            this.#lease.release()
            throw closedError()
          }
          this.#hub.send(this, 'held')
          return this.#lease
        }
        if (!woken) {
          const waking = new AbortController()
          wake = () => waking.abort()
          await pause(this.#environment, WAIT_MS, waking.signal)
        }
      }
    } catch (error) {
      // Nobody would answer for this request: the others would wait until it is taken for dead.
      if (!this.#closed) this.#letGo()
      throw operationError(error, this.#place)
    } finally {
      this.#waiting = undefined
    }
  }

  announce(hint: Hint): void {
    if (!this.#closed) this.#hub.send(this, hint)
  }

  onHint(listener: (hint: Hint | undefined) => void): void {
    this.#listener = listener
    if (this.#missed) listener(undefined)
    this.#missed = false
  }

  pin(generation: Generation): Promise<void> {
    const pinning = this.#pinning.then(async () => {
      if (this.#closed || this.#pinned === generation) return
      await this.#hub.alive()
      const text = `insert into ${this.#hub.tables('pin')} (name, handle, server, generation) values ($1, $2, $3, $4)
          on conflict (name, handle) do update set generation = excluded.generation`
      await this.#query({ text, values: [this.name, this.self, this.#hub.server, generation] })
      this.#pinned = generation
    })
    this.#pinning = pinning.catch(() => {})
    return pinning.catch((error: unknown) => {
      throw operationError(error, this.#place)
    })
  }

  async oldestPinned(): Promise<Generation | undefined> {
    const text = `select min(p.generation) from ${this.#hub.tables('pin')} p
      join ${this.#hub.tables('server')} s on s.server = p.server where p.name = $1 and s.until > clock_timestamp()`
    try {
      const { rows } = await this.#query({ text, values: [this.name] })
      return (rows[0]![0] as Generation | null) ?? undefined
    } catch (error) {
      throw operationError(error, this.#place)
    }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#ending.abort()
    if (this.#lease !== undefined) this.#lease.release()
    else if (this.#waiting !== undefined) {
      this.#waiting.wake()
      this.#letGo()
    }
    const text = `delete from ${this.#hub.tables('pin')} where name = $1 and handle = $2`
    const unpinned = this.#pinning.then(async () => {
      if (this.#pinned !== undefined) await this.#hub.query({ text, values: [this.name, this.self] }, UNAWAITED)
    })
    void Promise.allSettled([unpinned, this.#releasing]).then(() => this.#hub.leave(this))
  }

  /** The database is elsewhere: the handle loses its lease here, and learns of it. */
  leave(): void {
    if (this.#lease !== undefined) {
      this.#lose(this.#lease)
      this.#letGo()
    }
    this.close()
  }

  heard(message: Message): void {
    if (this.#closed) return
    if (message === 'held') this.#waiting?.wake()
    else if (message === 'want') this.#answer()
    else if ('holder' in message) this.#waiting?.wake(message.holder === this.#request ? message : undefined)
    else this.#listener(message)
  }

  look(): void {
    if (!this.#closed) this.#listener(undefined)
  }

  get held(): string | undefined {
    return this.#lease === undefined ? undefined : this.#request
  }

  turn(held: string, holder: string | null, isWanted: boolean): void {
    if (this.#lease === undefined || this.#request !== held) return
    if (holder !== held) this.#lose(this.#lease)
    else if (isWanted) this.#answer()
  }

  #ask(): Promise<boolean> {
    const asked = this.#take()
    this.#asking = asked.catch(() => {})
    return asked
  }

  /** The row may be gone: PostgreSQL empties unlogged tables after a crash and on a standby that is promoted. */
  async #take(): Promise<boolean> {
    const isFree = `(t.holder is null or t.holder = $2 or t.wanted < clock_timestamp() - interval '${WRITER_SILENCE_MS_MAX} ms')`
    const { rows } = await this.#hub.query({
      text: `with taken as (insert into ${this.#hub.tables('turn')} as t (name, holder, queue) values ($1, $2, '{}')
        on conflict (name) do update set
          holder = case when ${isFree} then $2 else t.holder end,
          queue = case when ${isFree} then array_remove(t.queue, $2) when $2 = any(t.queue) then t.queue else t.queue || $2::text end,
          wanted = case when ${isFree} then case when cardinality(array_remove(t.queue, $2)) > 0 then clock_timestamp() end
            else coalesce(t.wanted, clock_timestamp()) end
        returning holder = $2 as mine, cardinality(queue) > 0 as wanted)
        select mine, wanted, (select ${this.#hub.telling(this, `'want'`)} where not mine) from taken`,
      values: [this.name, this.#request],
    })
    const [isMine, isWanted] = rows[0] as [boolean, boolean]
    if (!isMine) this.#hub.sendHere(this, 'want')
    if (isMine && isWanted) this.#answerSoon()
    return isMine
  }

  #answerSoon(): void {
    void this.#environment.yield().then(() => this.#answer())
  }

  /** Tells the holder, and gives a sign of life in a later task: a process that is stopped gives none. */
  #answer(): void {
    const lease = this.#lease
    if (lease === undefined) return
    lease.want()
    void this.#environment.yield().then(() => {
      if (this.#lease !== lease) return
      const text = `update ${this.#hub.tables('turn')} set wanted = clock_timestamp() where name = $1 and holder = $2`
      this.#hub.query({ text, values: [this.name, this.#request] }).then(
        ({ count }) => {
          if (count === 0 && this.#lease === lease) this.#lose(lease)
        },
        () => {},
      )
    })
  }

  /** For the handle: tries end when it is closed. */
  #query(statement: Statement): Promise<Result> {
    return this.#hub.query(statement, { signal: this.#ending.signal })
  }

  #lose(lease: Lease): void {
    this.#lease = undefined
    lease.lose()
  }

  /** The first of the queue has it at once. */
  #letGo(): void {
    const text = `with freed as (update ${this.#hub.tables('turn')} set
        holder = case when holder = $2 then queue[1] else holder end,
        queue = case when holder = $2 then queue[2:] else array_remove(queue, $2) end,
        wanted = case when holder <> $2 then wanted when cardinality(queue) > 1 then clock_timestamp() end
      where name = $1 and (holder = $2 or $2 = any(queue))
        returning coalesce(holder, '') as holder, cardinality(queue) > 0 as wanted)
      select holder, wanted, ${this.#hub.telling(this, `'free:' || holder || ':' || wanted`)} from freed`
    const values = [this.name, this.#request]
    // Nobody waits for what a closed handle releases.
    const limits = { isAwaited: () => !this.#closed }
    const freed = this.#asking.then(() => this.#hub.query({ text, values }, limits))
    this.#releasing = freed.then(
      ({ rows }) => {
        const [holder, isWanted] = (rows[0] ?? ['', false]) as [string, boolean]
        this.#hub.sendHere(this, { holder, isWanted })
      },
      () => {},
    )
  }
}

function closedError(): Error {
  return failure('PANNIER_CLOSED', 'The handle is closed.')
}
