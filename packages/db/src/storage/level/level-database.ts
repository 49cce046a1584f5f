/**
 * One database in an abstract-level database: the operations of the page store contract as batches. Handles of one
 * process share it.
 *
 * Guarantees: writes and `read` run one after the other, each write as one batch, which LevelDB applies whole or not at
 * all. Fences compare with the newest known state, so a write reads nothing. After a write of unknown outcome this
 * state is read again. Relies on: nobody else writes below the prefix (LevelDB locks its folder).
 *
 * A loss of power cuts each file of LevelDB's own log at its last sync, and a later file may survive without the end of
 * the one before. So every write but a relaxed append is synced. A strict append, a commit and a keyring write unsynced
 * appends again. Opening durably ends the log before the first missing record. So the remaining state once existed. A
 * log seal stays under its sequence until the next one comes, so that state has its own log seal.
 *
 * Bytes are copied in and out: memory-level stores and returns the same arrays, classic-level returns Buffers.
 */
import type { CommitSequence, Generation, PageId } from '../../base/brand.ts'
import { PannierError } from '../../base/errors.ts'
import type { MaybePromise } from '../../base/async.ts'
import { ByteReader, ByteWriter } from '../../codec/bytes.ts'
import { checkClaim, checkFirst, checkGeneration, checkKeyring, checkNext, type SharedDatabase } from '../handle.ts'
import type { Commit, Durability, KnownState, LogRecord, MetaRecord, Page, StoreState } from '../page-store.ts'
import { levelError, type Level, type LevelEncodings, type LevelOperation, type LevelRange } from './abstract-level.ts'

interface LevelSource {
  readonly level: Level
  /** Whether it is opened and closed here. Else it belongs to somebody else, who may keep other things in it. */
  readonly owned: boolean
  /** The prefix of all keys. */
  readonly prefix: string
  /** Name of the database, for messages. */
  readonly name: string
}

/** The version of the keys and of the layout of values; their content has versions of its own. */
const FORMAT_VERSION = 1

const ENCODINGS: LevelEncodings = { keyEncoding: 'utf8', valueEncoding: 'view' }

/** The state that fences are checked against. */
interface Fences {
  readonly generation: Generation
  /** Sequence of the meta record. */
  readonly sequence: CommitSequence
  /** The ends of the log: dense from `oldest` to `newest`, empty when `newest` is 0. */
  readonly oldest: number
  readonly newest: number
  /** Log records after this one may not be synced. */
  readonly synced: number
  /** The sequence that the log seal came with; 0: there is none, or one of an earlier version. */
  readonly logSeal: number
  readonly claim: string | undefined
}

interface Change {
  readonly operations: LevelOperation[]
  readonly fences: Fences
}

export class LevelDatabase implements SharedDatabase {
  /** Handles that have it open. */
  users = 0
  /** Set when no handle can use it any more; resolves when it is closed. */
  ended: Promise<void> | undefined
  private readonly source: LevelSource
  /** Undefined: to be read. */
  private fences: Fences | undefined
  /**
   * A write has failed. Until it is opened again, LevelDB's memory may differ from its log. The log may have a torn
   * record that would hide later ones.
   */
  private damaged = false
  /** The last call: settles when the call before the next one is over. */
  private last: Promise<unknown> = Promise.resolve()

  constructor(source: LevelSource) {
    this.source = source
  }

  get closed(): boolean {
    return this.ended !== undefined
  }

  open(): Promise<void> {
    return this.exclusively(async () => {})
  }

  read(known?: KnownState): Promise<StoreState> {
    return this.exclusively(async ({ generation, sequence, newest, logSeal: logSealAt }) => {
      const after = known?.generation === generation ? Math.max(known.sequence, sequence) : sequence
      const [meta, keyring, logSeal] = await this.get([META, KEYRING, logSealKey(logSealAt)])
      return { meta: meta && decodeMeta(meta), log: await this.readLog(after, newest), keyring, logSeal }
    })
  }

  /**
   * Waits for no lease: a page never changes. Synchronous where possible: classic-level then takes some 0.03 ms for a
   * page of 20 KB, and three to ten times as long through its threads.
   */
  readPages(ids: readonly PageId[]): MaybePromise<(Uint8Array | undefined)[]> {
    const keys = ids.map(pageKey)
    if (!this.fences) return this.exclusively(() => this.get(keys))
    const { level, prefix, name } = this.source
    const { getSync = false } = (level.supports ?? {}) as { readonly getSync?: boolean }
    if (!getSync) return this.get(keys)
    try {
      return keys.map((key) => copied(level.getSync!(prefix + key, ENCODINGS)))
    } catch (error) {
      throw levelError(error, name, false)
    }
  }

  append(record: LogRecord, durability: Durability, logSeal?: Uint8Array): Promise<void> {
    const sync = durability === 'strict'
    return this.write(async (fences) => {
      const { sequence: newest } = record
      checkNext(fences.newest, newest)
      await this.checkFirst(record, logSeal)
      const operations = sync ? await this.putAgain(fences) : []
      operations.push(this.put(logKey(newest), record.bytes))
      if (logSeal) operations.push(...this.replaceLogSeal(fences, newest, logSeal))
      const logSealAt = logSeal ? newest : fences.logSeal
      return { operations, fences: { ...fences, newest, synced: sync ? newest : fences.synced, logSeal: logSealAt } }
    }, sync)
  }

  /** The relaxed appends since something was synced, again: the power may take the end of an earlier file of LevelDB's log. */
  private async putAgain({ synced, newest, logSeal }: Fences, after: number = synced): Promise<LevelOperation[]> {
    if (synced >= newest) return []
    const [logSealBytes] = await this.get([logSealKey(logSeal)])
    const records = await this.readLog(after, newest)
    const operations = records.map(({ sequence, bytes }) => this.put(logKey(sequence), bytes))
    return logSealBytes ? [...operations, this.put(logSealKey(logSeal), logSealBytes)] : operations
  }

  private replaceLogSeal(fences: Fences, sequence: number, logSeal: Uint8Array): LevelOperation[] {
    return [this.delete(logSealKey(fences.logSeal)), this.put(logSealKey(sequence), logSeal)]
  }

  claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): Promise<void> {
    return this.write(async (fences) => {
      checkGeneration(fences.generation, expectedGeneration)
      const operations = await this.deletePagesFrom(firstNewPageId)
      operations.push(this.put(CLAIM, new TextEncoder().encode(token)))
      return { operations, fences: { ...fences, claim: token } }
    })
  }

  stage(token: string, pages: readonly Page[]): Promise<void> {
    return this.write((fences) => {
      checkClaim(fences.claim, token)
      return { operations: pages.map(({ id, bytes }) => this.put(pageKey(id), bytes)), fences }
    })
  }

  commit({ claim, pages, free, meta, record, logSeal, ...commit }: Commit): Promise<void> {
    return this.write(async (fences) => {
      checkGeneration(fences.generation, commit.expectedGeneration)
      if (claim !== undefined) checkClaim(fences.claim, claim)
      if (record) {
        checkNext(fences.newest, record.sequence)
        await this.checkFirst(record, logSeal)
      }
      const abandoned = claim === undefined && fences.claim !== undefined
      const operations = abandoned ? await this.deletePagesFrom(commit.firstNewPageId) : []
      for (const { id, bytes } of pages) operations.push(this.put(pageKey(id), bytes))
      for (const id of free) operations.push(this.delete(pageKey(id)))
      if (record) operations.push(this.put(logKey(record.sequence), record.bytes))
      else operations.push(...(await this.putAgain(fences, Math.max(fences.synced, meta.sequence))))
      if (logSeal) operations.push(...this.replaceLogSeal(fences, record!.sequence, logSeal))
      for (const sequence of numbersBetween(fences.oldest, meta.sequence - 1)) {
        operations.push(this.delete(logKey(sequence)))
      }
      operations.push(this.put(META, encodeMeta(meta)))
      if (fences.claim !== undefined) operations.push(this.delete(CLAIM))
      const { generation, sequence } = meta
      const oldest = Math.max(fences.oldest, sequence)
      const newest = record?.sequence ?? fences.newest
      const log = { oldest, newest, synced: newest, logSeal: logSeal ? newest : fences.logSeal }
      return { operations, fences: { generation, sequence, ...log, claim: undefined } }
    })
  }

  putKeyring(expected: Uint8Array | undefined, keyring: Uint8Array): Promise<void> {
    return this.write(async (fences) => {
      const [stored] = await this.get([KEYRING])
      checkKeyring(stored, expected, fences.generation === 0 && fences.newest === 0)
      const { newest } = fences
      const operations = [this.put(KEYRING, keyring), ...(await this.putAgain(fences))]
      return { operations, fences: { ...fences, synced: newest } }
    })
  }

  replacePages(keyring: Uint8Array, pages: readonly Page[]): Promise<void> {
    return this.write(async (fences) => {
      const [storedKeyring, ...stored] = await this.get([KEYRING, ...pages.map(({ id }) => pageKey(id))])
      checkKeyring(storedKeyring, keyring)
      const present = pages.filter((_, index) => stored[index] !== undefined)
      return { operations: present.map(({ id, bytes }) => this.put(pageKey(id), bytes)), fences }
    })
  }

  listPages(): Promise<PageId[]> {
    return this.exclusively(async () =>
      (await this.keys(PAGES)).map((key) => parseInt(key.slice(PAGES.length), 16) as PageId),
    )
  }

  /** LevelDB's own estimate of its files. */
  async usedBytes(): Promise<number | undefined> {
    const { level } = this.source
    const { gte, lt } = this.range('')
    return this.call(async () => level.approximateSize?.(gte, lt, { keyEncoding: 'utf8' }))
  }

  /** Ends it. Nobody can use it afterwards. `work` comes before it is closed. */
  end(work?: () => Promise<void>): Promise<void> {
    const { level, owned } = this.source
    const result = this.last.then(async () => {
      try {
        await work?.()
      } finally {
        if (owned) await this.call(() => level.close())
      }
    })
    this.last = this.ended = result.catch(() => {})
    return result
  }

  /**
   * For `end`. Deletes what makes it a database first, at once. So after a crash half-way it is a new database with an
   * abandoned claim, whose first commit deletes the pages that are left.
   */
  async deleteAll(): Promise<void> {
    await this.call(() => this.openLevel(), true)
    const [format] = await this.get([FORMAT])
    if (format === undefined) await this.checkEmpty()
    const log = await this.keys(LOG)
    const logSeals = await this.keys(LOG_SEALS)
    const deletions = [META, KEYRING, LOG_SEAL, ...logSeals, ...log].map((key) => this.delete(key))
    await this.batch([...deletions, this.put(CLAIM, new Uint8Array(0))], true)
    await this.call(() => this.source.level.clear(this.range('')))
  }

  private async write(plan: (fences: Fences) => Change | Promise<Change>, sync = true): Promise<void> {
    return this.exclusively(async (current) => {
      const { operations, fences } = await plan(current)
      try {
        await this.batch(operations, sync)
      } catch (error) {
        this.fences = undefined
        this.damaged = true
        throw error
      }
      this.fences = fences
    })
  }

  private exclusively<T>(work: (fences: Fences) => Promise<T>): Promise<T> {
    const result = this.last.then(async () => work((this.fences ??= await this.readFences())))
    this.last = result.catch(() => {})
    return result
  }

  private async readFences(): Promise<Fences> {
    await this.call(() => this.openLevel(), true)
    const [format, metaBytes, claim] = await this.get([FORMAT, META, CLAIM])
    if (format === undefined) await this.create()
    else if (format[0] !== FORMAT_VERSION) {
      const message = `The database ${this.source.name} was written by a newer version of Pannier (format ${format[0]}).`
      throw new PannierError('PANNIER_FORMAT_NEWER', message)
    }
    const { generation, sequence } = metaBytes ? decodeMeta(metaBytes) : NO_META
    const log = (await this.keys(LOG)).map(toSequence)
    let newest: number = sequence
    for (const next of log) if (next === newest + 1) newest = next
    const logSeals = (await this.keys(LOG_SEALS)).map((key) => parseInt(key.slice(LOG_SEALS.length), 16))
    const logSeal = Math.max(0, ...logSeals.filter((one) => one <= newest))
    const lost = [
      ...log.filter((one) => one > newest).map(logKey),
      ...logSeals.filter((one) => one !== logSeal).map(logSealKey),
    ]
    if (lost.length > 0)
      await this.batch(
        lost.map((key) => this.delete(key)),
        true,
      )
    const [oldest = newest + 1] = log
    return {
      generation,
      sequence,
      oldest,
      newest,
      synced: sequence,
      logSeal,
      claim: claim && new TextDecoder().decode(claim),
    }
  }

  /** The log records after `after`, up to `newest`. */
  private async readLog(after: number, newest: number): Promise<LogRecord[]> {
    const sequences = numbersBetween(after + 1, newest)
    const records = sequences.length > 0 ? await this.get(sequences.map(logKey)) : []
    return sequences.map((sequence, index) => {
      const bytes = records[index]
      if (bytes === undefined) throw this.corrupt(`log record ${sequence} is missing`)
      return { sequence: sequence as CommitSequence, bytes }
    })
  }

  private async checkFirst(record: LogRecord, logSeal: Uint8Array | undefined): Promise<void> {
    if (record.sequence === 1) checkFirst(record, logSeal, (await this.get([KEYRING]))[0])
  }

  private async openLevel(): Promise<void> {
    const { level, owned } = this.source
    if (!owned) return level.open({ passive: true })
    if (this.damaged) await level.close()
    await level.open()
    this.damaged = false
  }

  private async create(): Promise<void> {
    await this.checkEmpty()
    await this.batch([this.put(FORMAT, Uint8Array.of(FORMAT_VERSION))], true)
  }

  private async checkEmpty(): Promise<void> {
    const keys = await this.keys('', { limit: 1 })
    if (keys.length === 0) return
    const message = `The database ${this.source.name} holds something else than a Pannier database; it was left as it is.`
    throw new PannierError('PANNIER_FORMAT_WRONG', message)
  }

  private async deletePagesFrom(first: PageId): Promise<LevelOperation[]> {
    const keys = await this.keys(PAGES, { from: pageKey(first) })
    return keys.map((key) => this.delete(key))
  }

  private async get(keys: string[]): Promise<(Uint8Array | undefined)[]> {
    const { level, prefix } = this.source
    const prefixed = keys.map((key) => prefix + key)
    const values = await this.call(() => level.getMany(prefixed, ENCODINGS))
    return values.map(copied)
  }

  /** The keys that start so, without the prefix of the database. */
  private async keys(
    start: string,
    { from = start, ...options }: { from?: string; limit?: number; reverse?: boolean } = {},
  ): Promise<string[]> {
    const { level, prefix } = this.source
    const range = { ...this.range(start), gte: prefix + from, ...options }
    const keys = await this.call(() => level.keys(range).all())
    return keys.map((key) => key.slice(prefix.length))
  }

  private batch(operations: LevelOperation[], sync: boolean): Promise<void> {
    return this.call(() => this.source.level.batch(operations, { ...ENCODINGS, sync }))
  }

  private put(key: string, bytes: Uint8Array): LevelOperation {
    return { type: 'put', key: this.source.prefix + key, value: new Uint8Array(bytes) }
  }

  private delete(key: string): LevelOperation {
    return { type: 'del', key: this.source.prefix + key }
  }

  private range(start: string): LevelRange {
    const gte = this.source.prefix + start
    return { gte, lt: `${gte}\uffff`, keyEncoding: 'utf8' }
  }

  private async call<T>(work: () => Promise<T>, opening = false): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw levelError(error, this.source.name, opening)
    }
  }

  private corrupt(what: string): PannierError {
    return new PannierError('PANNIER_CORRUPT', `The database ${this.source.name} is damaged: ${what}.`)
  }
}

const FORMAT = 'format'
const META = 'meta'
/** Keyring and log seal are stored under their former names. */
const KEYRING = 'header'
/** The key of an earlier version's log seal, until the next one comes. */
const LOG_SEAL = 'head'
const LOG_SEALS = 'head/'
const CLAIM = 'claim'
const LOG = 'log/'
const PAGES = 'page/'

const logKey = (sequence: number): string => LOG + ordered(sequence)
const logSealKey = (sequence: number): string => (sequence === 0 ? LOG_SEAL : LOG_SEALS + ordered(sequence))
const pageKey = (id: PageId): string => PAGES + ordered(id)
const toSequence = (key: string): number => parseInt(key.slice(LOG.length), 16)

/** The hexadecimal digits of 2^53 - 1, so that keys stand in the order of their numbers. */
function ordered(number: number): string {
  return number.toString(16).padStart(14, '0')
}

function numbersBetween(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)
}

function copied(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes && new Uint8Array(bytes)
}

const NO_META = { generation: 0 as Generation, sequence: 0 as CommitSequence }

function encodeMeta({ generation, sequence, bytes }: MetaRecord): Uint8Array {
  const writer = new ByteWriter(bytes.length + 16)
  writer.varint(generation)
  writer.varint(sequence)
  writer.raw(bytes)
  return writer.finish()
}

function decodeMeta(stored: Uint8Array): MetaRecord {
  const reader = new ByteReader(stored)
  const generation = reader.varint() as Generation
  const sequence = reader.varint() as CommitSequence
  return { generation, sequence, bytes: stored.subarray(reader.at) }
}
