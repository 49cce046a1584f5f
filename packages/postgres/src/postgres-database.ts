/**
 * One handle on a database: the page store contract as SQL. An append is one statement; every call is one round trip.
 *
 * The fence row refuses a handle that has not seen the newest state. `barrier` refuses what a connection that is gone may still have under
 * way: who does not know the outcome of a call raises it, and then looks. `place` refuses writes to another server than
 * the one that the handle has read: after a failover or a restore it has to look first (docs/internals/postgres.md).
 */
import { PannierError } from 'pannier'
import { pause } from 'pannier/internal'
import type {
  Commit,
  Durability,
  Generation,
  KnownState,
  LogRecord,
  Page,
  PageId,
  SharedDatabase,
  StoreState,
} from 'pannier/storage'
import type { Connections, Patience, Result, Statement } from './connections.ts'
import { failure, isFenced, openError, operationError, UnknownOutcome } from './errors.ts'
import type { Places, Spot } from './places.ts'
import type { Statements } from './statements.ts'

/** Bytes of pages in one statement. */
const BLOB_BYTES = 4 * 1024 * 1024
/** Several pages: their ids, where each begins, their sizes, and all bytes. */
type Blob = readonly [ids: string, starts: string, sizes: string, bytes: Buffer]

const RELAXED = 'set local synchronous_commit = off'

/**
 * The counters that a poll reads: the newest commit, the newest storage checkpoint, and how often the keyring was put.
 */
interface Counters {
  readonly sequence: number
  readonly generation: number
  readonly keyrings: number
}

/** The newest meta record that a handle has. It is large and seldom news. */
interface Meta {
  readonly generation: number
  readonly bytes: Uint8Array
}

/** The outcome of a call whose answer was lost. */
type Settled = 'happened' | 'not'

/** The database is not where this handle looked: it is gone there, or a move has stopped it. */
class Away extends Error {
  readonly number: number | undefined

  constructor(number?: number) {
    super('away')
    this.number = number
  }
}

/** How often one that waits for the end of a move looks. */
const FOLLOW_MS = 50

export class PostgresDatabase implements SharedDatabase {
  closed = false
  readonly #closing = new AbortController()
  readonly #places: Places
  readonly #name: string
  /** The spot where the database is. */
  #spot: Spot
  /** Undefined until the first call, which makes the database if need be. */
  #id: number | undefined
  /** The newest epoch that this handle has seen, by its place: numbers would be given again after a restore. */
  #place = ''
  #barrier = 0
  /** The newest of what this handle has read or written. An answer that comes late takes nothing back. */
  #seen: Counters = { sequence: 0, generation: 0, keyrings: 0 }
  #meta: Meta | undefined
  /** Whether something is unsettled: a call may still be under way. */
  #unsettled = false
  /** The database was put back to an earlier state than this handle has seen. */
  #restored: PannierError | undefined

  private constructor(places: Places, name: string, spot: Spot) {
    this.#places = places
    this.#name = name
    this.#spot = spot
  }

  /** The first call opens or makes it: with `read` that costs no round trip of its own. */
  static async open(places: Places, name: string): Promise<PostgresDatabase> {
    return new PostgresDatabase(places, name, await places.decide(name))
  }

  /** The patience of a call of this handle. It ends with the handle. */
  #patience(): Patience {
    return this.#connections.patience({ signal: this.#closing.signal })
  }

  get #connections(): Connections {
    return this.#spot.postgres.connections
  }

  get #sql(): Statements {
    return this.#spot.postgres.sql
  }

  get #address(): string {
    return this.#spot.postgres.place
  }

  async read(known?: KnownState): Promise<StoreState> {
    const patience = this.#patience()
    return this.#following(patience, async () => {
      for (;;) {
        if (this.#unsettled) await this.#raiseBarrier(patience)
        const [place, meta] = [this.#place, this.#meta]
        const row = await this.#readRow(known, patience)
        const away = row[11] as number | null
        if (away !== null) throw new Away(away)
        // Another call has found another place meanwhile: this answer says nothing of that.
        if (this.#place !== place) continue
        if (row[10] === true) return this.#stateOf(row, meta)
        // This server has not been here before. One that was promoted may have forgotten that the database has left.
        if (await this.#places.hasLeft(this.#name, this.#spot.postgres)) throw new Away()
        const adopt = { text: this.#sql.adopt, values: [this.#id] }
        await this.#connections.patiently(() => this.#connections.one(adopt), patience)
      }
    })
  }

  async #readRow(known: KnownState | undefined, patience: Patience): Promise<readonly unknown[]> {
    const newest = [known?.generation ?? -1, known?.sequence ?? -1, this.#place, this.#meta?.generation ?? -1]
    if (this.#id !== undefined) {
      const statement = { name: 'pannier_read', text: this.#sql.read, values: [this.#id, ...newest] }
      const { rows } = await this.#connections.patiently(() => this.#connections.one(statement), patience)
      if (rows[0] === undefined) throw new Away()
      return rows[0]
    }
    const read = { text: this.#sql.readByName, values: [this.#name, ...newest] }
    const results = await this.#connections.patiently(
      () => this.#connections.transaction([...this.#making(), read]),
      patience,
    )
    const row = results.at(-1)!.rows[0]
    if (row === undefined) throw this.#elsewhere()
    this.#id = row[12] as number
    return row
  }

  #making(): Statement[] {
    return [
      { text: this.#sql.settle, values: [this.#name] },
      { text: this.#sql.make, values: [this.#places.newNumber(), this.#name] },
      { text: this.#sql.adoptByName, values: [this.#name, this.#places.all.length === 1] },
    ]
  }

  /** Identifies the database, for calls before the first `read`. */
  async #identify(): Promise<number> {
    if (this.#id === undefined) {
      const id = { text: this.#sql.id, values: [this.#name] }
      const results = await this.#connections.patiently(
        () => this.#connections.transaction([...this.#making(), id]),
        this.#patience(),
      )
      const row = results.at(-1)!.rows[0]
      if (row === undefined) throw this.#elsewhere()
      this.#id = row[0] as number
    }
    return this.#id
  }

  #elsewhere(): PannierError {
    const message = `The database ${this.#name} is not at PostgreSQL at ${this.#address}: it was moved. Name all PostgreSQLs that have databases.`
    return failure('PANNIER_OPEN_FAILED', message)
  }

  /** Runs `work` again where the database has moved meanwhile. */
  async #following<T>(patience: Patience, work: () => Promise<T>): Promise<T> {
    return this.#calls(async () => {
      for (;;) {
        const spot = this.#spot
        try {
          return await work()
        } catch (error) {
          if (!(error instanceof Away)) throw error
          // Another call may have followed it meanwhile.
          if (this.#spot === spot) await this.#follow(error, patience)
        }
      }
    })
  }

  /** Resolves when this handle knows where the database is. @throws PANNIER_CLOSED if it was destroyed */
  async #follow({ number: away }: Away, patience: Patience): Promise<void> {
    for (;;) {
      const spot = await this.#places.follow(this.#name, this.#spot, { id: this.#id, away })
      if (spot === undefined) throw closedError()
      if (spot !== 'wait') return this.#arrive(spot, patience)
      if (patience.isOver)
        throw failure(
          'PANNIER_IO_FAILED',
          `The database ${this.#name} is being moved to another PostgreSQL. Try again.`,
        )
      await pause(this.#places.environment, FOLLOW_MS)
    }
  }

  async #arrive(spot: Spot, patience: Patience): Promise<void> {
    const { connections, sql } = spot.postgres
    const find = { text: sql.id, values: [this.#name] }
    const { rows } = await connections.patiently(() => connections.one(find), patience)
    if (rows[0] === undefined) throw closedError()
    this.#spot = spot
    this.#id = rows[0][0] as number
  }

  /** `known`: the meta record that this handle had when it asked. */
  #stateOf(row: readonly unknown[], known: Meta | undefined): StoreState {
    const [generation, base, sequence, barrier, place] = row as [number, number, number, number, string]
    const [, , , , , logSeal, bytes, keyring, log] = row as (string | null)[]
    const [start, , , , keyrings, startGeneration, startKeyrings] = row.slice(9) as (number | null)[]
    const seen = this.#seen
    const hasLost = (one: number, from: number | null | undefined): boolean => typeof from === 'number' && one > from
    if (
      hasLost(seen.sequence, start) ||
      hasLost(seen.generation, startGeneration) ||
      hasLost(seen.keyrings, startKeyrings)
    )
      throw (this.#restored = this.#restoredError(start!))
    this.#barrier = place === this.#place ? Math.max(barrier, this.#barrier) : barrier
    this.#place = place
    this.#hasSeen({ sequence, generation, keyrings: keyrings! })
    const meta = bytes === null ? known : { generation, bytes: fromBase64(bytes!) }
    if (generation >= (this.#meta?.generation ?? 0)) this.#meta = meta
    const records = log === null ? [] : log!.split(',').map(fromBase64)
    return {
      meta:
        generation === 0
          ? undefined
          : {
              generation: generation as Generation,
              sequence: base as LogRecord['sequence'],
              bytes: new Uint8Array(meta!.bytes),
            },
      log: records.map((record, i) => ({
        sequence: (sequence - records.length + 1 + i) as LogRecord['sequence'],
        bytes: record,
      })),
      keyring: keyring === null ? undefined : fromBase64(keyring!),
      logSeal: logSeal === null ? undefined : fromBase64(logSeal!),
    }
  }

  #hasSeen({ sequence = 0, generation = 0, keyrings = 0 }: Partial<Counters>): void {
    const seen = this.#seen
    this.#seen = {
      sequence: Math.max(seen.sequence, sequence),
      generation: Math.max(seen.generation, generation),
      keyrings: Math.max(seen.keyrings, keyrings),
    }
  }

  /** Reads at the place that this handle knows. After a failover or a restore the same ids may be other pages. */
  async readPages(ids: readonly PageId[]): Promise<(Uint8Array | undefined)[]> {
    const found = await this.#following(this.#patience(), async () => {
      for (;;) {
        const id = await this.#identify()
        const statement = { name: 'pannier_pages', text: this.#sql.pages, values: [id, arrayOf(ids), this.#place] }
        const { rows } = await this.#connections.patiently(() => this.#connections.one(statement), this.#patience())
        const place = rows.find(([page]) => page === null)
        if (place === undefined) throw new Away()
        if (place[2] === true) return rows
        await this.read()
      }
    })
    const pages = new Map(found.map(([id, bytes]) => [id, bytes === null ? undefined : fromBase64(bytes as string)]))
    return ids.map((id) => pages.get(id))
  }

  async append(record: LogRecord, durability: Durability, logSeal?: Uint8Array): Promise<void> {
    const { sequence } = record
    const bytes = copyOf(record.bytes)
    const text = durability === 'strict' ? this.#sql.append : this.#sql.appendRelaxed
    const seal = logSeal === undefined ? null : copyOf(logSeal)
    const name = durability === 'strict' ? 'pannier_append' : 'pannier_append_relaxed'
    await this.#write(
      async () => {
        const values = [this.#id, sequence, bytes, seal, this.#barrier, this.#place]
        const { count } = await this.#connections.one({ name, text, values })
        if (count === 0) throw await this.#refusal(`the newest log record is not ${sequence - 1}`)
      },
      (patience) => this.#settleRecord(sequence, bytes, patience),
    )
    this.#hasSeen({ sequence })
  }

  async claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): Promise<void> {
    await this.#writeTogether(
      () => [
        { text: this.#sql.lockClaim, values: [this.#id] },
        { text: this.#sql.checkGeneration, values: [this.#id, expectedGeneration, this.#barrier, this.#place] },
        { text: this.#sql.deletePagesFrom, values: [this.#id, firstNewPageId] },
        { text: this.#sql.setClaim, values: [this.#id, token] },
      ],
      async (patience) => ((await this.#look(this.#sql.claimed, [], patience))[0] === token ? 'happened' : 'not'),
    )
  }

  /** Stages pages. Done twice it is done once: nothing is to be settled. */
  async stage(token: string, pages: readonly Page[]): Promise<void> {
    const blobs = blobsOf(pages)
    await this.#writeTogether(() => [{ text: this.#sql.checkClaim, values: [this.#id, token] }, ...this.#puts(blobs)])
  }

  async commit(commit: Commit): Promise<void> {
    const { claim, meta, record, firstNewPageId, expectedGeneration } = commit
    const bytes = copyOf(meta.bytes)
    const seal = commit.logSeal === undefined ? null : copyOf(commit.logSeal)
    const recordBytes = record === undefined ? undefined : copyOf(record.bytes)
    const free = arrayOf(commit.free)
    const blobs = blobsOf(commit.pages)
    const statements = (): Statement[] => {
      const id = this.#id
      const steps: Statement[] = []
      if (commit.durability === 'relaxed') steps.push({ text: RELAXED })
      if (claim === undefined) {
        steps.push({ text: this.#sql.lockClaim, values: [id] })
        steps.push({ text: this.#sql.deleteAbandoned, values: [id, firstNewPageId] })
      } else steps.push({ text: this.#sql.lockClaimOf, values: [id, claim] })
      steps.push(...this.#puts(blobs))
      if (commit.free.length > 0) steps.push({ text: this.#sql.freePages, values: [id, free] })
      steps.push({ text: this.#sql.setMeta, values: [id, bytes] })
      steps.push({ text: this.#sql.endClaim, values: [id] })
      if (record !== undefined) steps.push({ text: this.#sql.putRecord, values: [id, record.sequence, recordBytes] })
      steps.push({ text: this.#sql.truncateLog, values: [id, meta.sequence] })
      // Last, so that appends of this handle need not wait for the pages.
      const fence = [expectedGeneration, meta.sequence, record?.sequence ?? null, seal, this.#barrier, this.#place]
      return [...steps, { text: this.#sql.flip, values: [id, ...fence] }]
    }
    await this.#writeTogether(statements, async (patience) => {
      // The meta record may be that of others by now. A storage checkpoint may be made once more, a commit may not.
      if (record !== undefined) return this.#settleRecord(record.sequence, recordBytes!, patience)
      const [generation, stored] = await this.#look(this.#sql.lookMeta, [], patience)
      return generation === meta.generation && isSame(stored, bytes) ? 'happened' : 'not'
    })
    if (meta.generation > (this.#meta?.generation ?? 0)) this.#meta = { generation: meta.generation, bytes }
    this.#hasSeen({ sequence: record?.sequence ?? 0, generation: meta.generation })
  }

  async putKeyring(expected: Uint8Array | undefined, keyring: Uint8Array, durability: Durability): Promise<void> {
    const bytes = copyOf(keyring)
    const before = expected === undefined ? null : copyOf(expected)
    const keyrings = this.#seen.keyrings + 1
    await this.#writeTogether(
      () => [
        ...(durability === 'relaxed' ? [{ text: RELAXED }] : []),
        { text: this.#sql.checkBarrier, values: [this.#id, this.#barrier, before === null, this.#place] },
        { text: this.#sql.putKeyring, values: [this.#id, before, bytes] },
      ],
      async (patience) => {
        const [stored] = await this.#look(this.#sql.keyring, [], patience)
        return isSame(stored, bytes) ? 'happened' : 'not'
      },
    )
    this.#hasSeen({ keyrings })
  }

  /** Done twice it is done once, as the keyring is asked for. */
  async replacePages(keyring: Uint8Array, pages: readonly Page[]): Promise<void> {
    const copy = copyOf(keyring)
    const blobs = blobsOf(pages)
    await this.#writeTogether(() => [
      { text: this.#sql.checkKeyring, values: [this.#id, copy] },
      { text: this.#sql.checkStays, values: [this.#id, this.#place] },
      ...blobs.map((blob) => ({ text: this.#sql.replacePages, values: [this.#id, ...blob] })),
    ])
  }

  async listPages(): Promise<readonly PageId[]> {
    const { rows } = await this.#ask('listPages')
    return rows.map(([id]) => id as PageId)
  }

  async usedBytes(): Promise<number> {
    const { rows } = await this.#ask('usedBytes')
    return rows[0]![0] as number
  }

  /** One round trip, for calls that take no arguments. */
  async #ask(query: 'listPages' | 'usedBytes'): Promise<Result> {
    return this.#following(this.#patience(), async () => {
      const id = await this.#identify()
      const calls = [{ text: this.#sql[query] }, { text: this.#sql.away }].map((call) => ({ ...call, values: [id] }))
      const [answer, away] = await this.#connections.patiently(
        () => this.#connections.transaction(calls),
        this.#patience(),
      )
      if (away!.rows.length === 0) throw new Away()
      return answer!
    })
  }

  #puts(blobs: readonly Blob[]): Statement[] {
    return blobs.map((blob) => ({ text: this.#sql.putPages, values: [this.#id, ...blob] }))
  }

  async #writeTogether(
    statements: () => readonly Statement[],
    settle?: (patience: Patience) => Promise<Settled>,
  ): Promise<void> {
    await this.#write(async () => {
      try {
        await this.#connections.transaction(statements())
      } catch (error) {
        if (isFenced(error)) throw await this.#refusal('a fence of the statement did not hold')
        throw error
      }
    }, settle)
  }

  /**
   * Tries again while PostgreSQL can't be reached. Where the outcome of a try is unknown, `settle` finds it out first. Without it
   * a try may be repeated.
   */
  async #write(attempt: () => Promise<void>, settle?: (patience: Patience) => Promise<Settled>): Promise<void> {
    const patience = this.#patience()
    await this.#calls(async () => {
      // A handle that has seen nothing can miss nothing: any place is right.
      if (this.#place === '') await this.read()
      for (;;) {
        const [spot, place] = [this.#spot, this.#place]
        try {
          await attempt()
          // Another call may have found meanwhile that the server which has answered is gone, with what it had last.
          if (this.#place === place) return
          throw new UnknownOutcome('at another place')
        } catch (error) {
          if (error instanceof Away) {
            if (this.#spot === spot) await this.#follow(error, patience)
            throw failure('PANNIER_STALE', 'The database has moved since.')
          }
          const isUnknown = error instanceof UnknownOutcome
          if (isUnknown && settle !== undefined) this.#unsettled = true
          await patience.pauseAfter(error)
          if (isUnknown && settle !== undefined) {
            try {
              if ((await this.#following(patience, () => settle(patience))) === 'happened') return
            } catch {
              // What matters is that the outcome is unknown.
              throw error
            }
          }
        }
      }
    })
  }

  /** From here on what was under way has happened, or never will. */
  async #raiseBarrier(patience: Patience): Promise<void> {
    const raise = { text: this.#sql.raiseBarrier, values: [this.#id] }
    const { rows } = await this.#connections.patiently(() => this.#connections.one(raise), patience)
    if (rows.length === 0) throw new Away()
    this.#barrier = rows[0]![0] as number
    this.#unsettled = false
  }

  async #settleRecord(sequence: number, bytes: Buffer, patience: Patience): Promise<Settled> {
    const [newest, stored] = await this.#look(this.#sql.lookRecord, [sequence], patience)
    if (isSame(stored, bytes)) return 'happened'
    // Others have written since, and the record of this sequence is theirs or was truncated.
    if ((newest as number) >= sequence && stored === null) throw new UnknownOutcome('truncated')
    return 'not'
  }

  /** Settles, and reads one row. */
  async #look(text: string, values: readonly unknown[], patience: Patience): Promise<readonly unknown[]> {
    await this.#raiseBarrier(patience)
    const statement = { text, values: [this.#id, ...values] }
    const { rows } = await this.#connections.patiently(() => this.#connections.one(statement), patience)
    if (rows.length === 0) throw new Away()
    return rows[0]!
  }

  /** Why a fence did not hold: the database is gone, has moved, or another handle has written. */
  async #refusal(what: string): Promise<Error> {
    const ask = { text: this.#sql.away, values: [this.#id] }
    const { rows } = await this.#connections.patiently(() => this.#connections.one(ask), this.#patience())
    const away = rows[0]?.[0] as number | null | undefined
    if (away !== null) return new Away(away)
    return failure('PANNIER_STALE', `Another handle has written since: ${what}.`)
  }

  async #calls<T>(work: () => Promise<T>): Promise<T> {
    if (this.closed) throw closedError()
    if (this.#restored !== undefined) throw this.#restored
    try {
      return await work()
    } catch (error) {
      if (this.#id === undefined) throw openError(error, this.#address, this.#spot.postgres.settings.schema)
      throw operationError(error, this.#address)
    }
  }

  #restoredError(found: number): PannierError {
    const { sequence: seen } = this.#seen
    const from = found < 0 ? 'an earlier commit' : `commit ${found}`
    const what = seen > found ? `commit ${seen}` : 'pages or keys that are not there any more'
    const message = `PostgreSQL at ${this.#address} was put back to an earlier state: it goes on after ${from}, and this handle has seen ${what}. Open the database again.`
    return new PannierError('PANNIER_RESTORED', message, { details: { seen, ...(found >= 0 && { found }) } })
  }

  close(): void {
    this.closed = true
    this.#closing.abort()
  }
}

/** Pages as few large values: the driver writes arrays of bytes as text. */
function blobsOf(pages: Iterable<Page>): Blob[] {
  const blobs: Blob[] = []
  let batch: Page[] = []
  let size = 0
  const flush = (): void => {
    if (batch.length === 0) return
    const sizes = batch.map(({ bytes }) => bytes.length)
    let end = 1
    const starts = sizes.map((length) => (end += length) - length)
    const bytes = Buffer.concat(batch.map((page) => page.bytes))
    blobs.push([arrayOf(batch.map(({ id }) => id)), arrayOf(starts), arrayOf(sizes), bytes])
    batch = []
    size = 0
  }
  for (const page of pages) {
    if (size + page.bytes.length > BLOB_BYTES) flush()
    batch.push(page)
    size += page.bytes.length
  }
  flush()
  return blobs
}

function arrayOf(numbers: readonly number[]): string {
  return `{${numbers.join(',')}}`
}

/** The socket writes later, or again: what the caller does with its bytes meanwhile must not show. */
function copyOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes)
}

function fromBase64(text: string): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.from(text, 'base64')
  return new Uint8Array(buffer, byteOffset, length)
}

/** `text` is base64, or null where nothing is stored. */
function isSame(text: unknown, bytes: Buffer): boolean {
  return typeof text === 'string' && bytes.equals(fromBase64(text))
}

function closedError(): PannierError {
  return failure('PANNIER_CLOSED', 'The database was closed or destroyed.')
}
