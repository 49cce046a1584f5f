/**
 * One database in three files: pages, and two journals, one of them current. It is the page store contract over them,
 * synchronous. docs/internals/opfs.md is normative for the files.
 *
 * Guarantees: each call happens whole or not at all, whatever happens to unflushed bytes (access-files.ts). A commit
 * keeps this order: pages into unused blocks, flush of the pages, one frame in the journal, flush of the journal. Only
 * then are the blocks of freed pages free. When a journal has grown long, the other one starts with the whole state and
 * is flushed before the old one is cleared. Relies on: nobody else writes these files. The writers of pages seal them
 * with their ids (pager/page.ts), so no further checksum is needed.
 *
 * After a failed write the files are read again before anything else: their state counts. Opening and reading write
 * nothing.
 */
import type { CommitSequence, Generation, PageId } from '../../base/brand.ts'
import { PannierError } from '../../base/errors.ts'
import { ByteReader, corruptBytes, sameBytes } from '../../codec/bytes.ts'
import type { Commit, Durability, KnownState, LogRecord, MetaRecord, Page, StoreState } from '../page-store.ts'
import { BLOCK_BYTES, BlockMap, type Extent } from './block-map.ts'
import {
  decodeBase,
  encodeAppend,
  encodeBase,
  encodeCommit,
  encodeReplacement,
  FILE_VERSION,
  readBytes,
  readChange,
  readRecords,
  type Change,
  type LogEnd,
  type PlacedRecord,
  APPEND,
  COMMIT,
  FRAME_BYTES,
  KEYRING,
  Journal,
  REPLACE,
  type Frame,
} from './journal.ts'
import { readRange, type DatabaseFiles, type RawFile } from './access-files.ts'

/** A journal with more than this behind its base, and more than its base, is left for the other one. */
const TAIL_BYTES_MAX = 256 * 1024
/** The first block of the file of pages says who owns it. */
const FIRST_BLOCK = 1
/** The most bytes of an empty base: a database to which nothing was ever written is no larger. */
const EMPTY_BASE_BYTES_MAX = 128

/** Pages of a commit that have come before it. */
export interface Put {
  readonly name: string
  readonly count: number
}

export class FileDatabase {
  /** Tells this database from one that was created later in its place. */
  identity: Uint8Array
  readonly #files: DatabaseFiles
  #journal: Journal
  #epoch = 0
  #meta: MetaRecord | undefined
  #keyring: Uint8Array | undefined
  #logSeal: Uint8Array | undefined
  #log: PlacedRecord[] = []
  readonly #pages = new Map<PageId, Extent>()
  #blocks = new BlockMap(FIRST_BLOCK)
  /** Pages that no commit refers to yet, and the claim under which they were staged. */
  readonly #staged = new Map<PageId, Extent>()
  #claimToken: string | undefined
  /** Pages of commits that are to come. */
  readonly #puts = new Map<string, [PageId, Extent][]>()
  /** A write has failed: what is in memory may not be what is in the files. */
  #isUncertain = false
  /** True when the writes of an earlier process are flushed, and their left-overs are gone. */
  #isPrepared = false

  /** `identity`: of a database that is created. */
  constructor(files: DatabaseFiles, identity: Uint8Array) {
    this.#files = files
    this.identity = identity
    this.#journal = new Journal(files.journals[0])
    this.#load()
  }

  read(known: KnownState | undefined): StoreState {
    this.#settle()
    const { generation = 0, sequence = 0 } = this.#meta ?? {}
    const after = known?.generation === generation ? Math.max(known.sequence, sequence) : sequence
    const log = this.#recordsOf(this.#log.filter((record) => record.sequence > after))
    const meta = this.#meta && { ...this.#meta, bytes: this.#meta.bytes.slice() }
    return { meta, log, keyring: this.#keyring?.slice(), logSeal: this.#logSeal?.slice() }
  }

  readPages(ids: readonly PageId[]): (Uint8Array | undefined)[] {
    this.#settle()
    return ids.map((id) => {
      const extent = this.#pages.get(id) ?? this.#staged.get(id)
      return extent && readRange(this.#files.pages, extent.block * BLOCK_BYTES, extent.length)
    })
  }

  /** `again`: it is not known whether the same call has happened before; then it is not done twice. */
  append(record: LogRecord, durability: Durability, logSeal: Uint8Array | undefined, again: boolean): void {
    this.#prepare()
    const found = again ? this.#log.find(({ sequence }) => sequence === record.sequence) : undefined
    if (found === undefined || !sameBytes(this.#recordsOf([found])[0]!.bytes, record.bytes)) {
      this.#checkNewest(record, logSeal)
      this.#write(APPEND, encodeAppend(record, logSeal))
    }
    if (durability === 'strict') this.#uncertainUntilDone(() => this.#journal.flush())
  }

  putKeyring(expected: Uint8Array | undefined, keyring: Uint8Array, durability: Durability, again: boolean): void {
    this.#prepare()
    if (!(again && sameBytes(this.#keyring, keyring))) {
      const isEmpty = this.#meta === undefined && this.#log.length === 0
      if (!sameBytes(this.#keyring, expected) || (expected === undefined && !isEmpty)) throw stale()
      this.#write(KEYRING, keyring)
    }
    if (durability === 'strict') this.#uncertainUntilDone(() => this.#journal.flush())
  }

  claim(token: string, expectedGeneration: Generation): void {
    this.#prepare()
    this.#checkGeneration(expectedGeneration)
    this.#dropStaged()
    for (const name of this.#puts.keys()) this.drop(name)
    this.#claimToken = token
  }

  stage(token: string, pages: Iterable<Page>): void {
    this.#prepare()
    this.#checkClaim(token)
    for (const [id, extent] of this.#place(pages)) this.#staged.set(id, extent)
  }

  /** Takes pages of the commit that is to name them. They are dropped when another one gets ahead. */
  put(name: string, pages: Iterable<Page>): void {
    this.#prepare()
    const placed = this.#place(pages)
    const before = this.#puts.get(name)
    if (before === undefined) this.#puts.set(name, placed)
    else before.push(...placed)
  }

  drop(name: string): void {
    for (const [, extent] of this.#puts.get(name) ?? []) this.#blocks.release(extent)
    this.#puts.delete(name)
  }

  commit(commit: Commit & { readonly put?: Put | undefined }, again: boolean): void {
    this.#prepare()
    const { meta } = commit
    if (again && this.#meta?.generation === meta.generation && sameBytes(this.#meta.bytes, meta.bytes)) return
    this.#checkGeneration(commit.expectedGeneration)
    if (commit.claim !== undefined) this.#checkClaim(commit.claim)
    if (commit.record) this.#checkNewest(commit.record, commit.logSeal)
    const { put } = commit
    const before = put === undefined ? [] : (this.#puts.get(put.name) ?? [])
    // Some, or all, were put to an owner before this one, or were dropped.
    if (before.length !== (put?.count ?? 0)) throw stale()
    const placed = [...before, ...this.#place(commit.pages)]
    if (put !== undefined) this.#puts.delete(put.name)
    if (commit.claim === undefined) this.#dropStaged()
    this.#uncertainUntilDone(() => {
      this.#files.pages.flush()
      for (const [id, extent] of this.#staged) placed.push([id, extent])
      const change = { meta: { ...meta, bytes: meta.bytes.slice() }, placed, freed: commit.free }
      this.#record(change, { logSeal: commit.logSeal, records: commit.record === undefined ? [] : [commit.record] })
    })
  }

  /** Replaces pages, durable at once. */
  replacePages(keyring: Uint8Array, pages: readonly Page[]): void {
    this.#prepare()
    if (!sameBytes(this.#keyring, keyring)) throw stale()
    const existing = pages.filter(({ id }) => this.#pages.has(id) || this.#staged.has(id))
    const placed = this.#place(existing)
    for (const [id, extent] of placed) {
      const old = this.#staged.get(id)
      if (old === undefined) continue
      this.#blocks.release(old)
      this.#staged.set(id, extent)
    }
    this.#files.pages.flush()
    this.#write(
      REPLACE,
      encodeReplacement({ meta: undefined, placed: placed.filter(([id]) => this.#pages.has(id)), freed: [] }),
    )
    this.#uncertainUntilDone(() => this.#journal.flush())
  }

  /** Every page that is stored, staged ones too. */
  listPages(): PageId[] {
    this.#settle()
    return [...this.#pages.keys(), ...this.#staged.keys()].sort((a, b) => a - b)
  }

  usedBytes(): number {
    return [this.#files.pages, ...this.#files.journals].reduce((total, file) => total + file.size(), 0)
  }

  close(): void {
    for (const file of [this.#files.pages, ...this.#files.journals]) file.close()
  }

  #write(kind: number, body: Uint8Array): void {
    this.#uncertainUntilDone(() => this.#addFrame(kind, body))
  }

  /** A frame into the journal, then what it says into memory. */
  #addFrame(kind: number, body: Uint8Array): void {
    this.#journal.makeRoom(body.length)
    this.#applyFrame({ kind, body, at: this.#journal.append(kind, body) })
  }

  /** The state after a commit into the journal, durably, and into memory. */
  #record(change: Change, end: LogEnd): void {
    const journal = this.#journal
    if (journal.end - journal.baseEnd > Math.max(TAIL_BYTES_MAX, journal.baseEnd)) {
      const kept = this.#log.filter(({ sequence }) => sequence >= change.meta!.sequence)
      const records = [...this.#recordsOf(kept), ...end.records]
      this.#apply(change)
      this.#begin({ logSeal: end.logSeal ?? this.#logSeal, records })
    } else {
      this.#addFrame(COMMIT, encodeCommit(change, end))
      journal.flush()
    }
    this.#staged.clear()
    this.#claimToken = undefined
    for (const name of this.#puts.keys()) this.drop(name)
    this.#shrink()
  }

  /** Begins the other journal with the state in memory. */
  #begin(end: LogEnd): void {
    const old = this.#journal
    const next = new Journal(this.#otherJournal())
    const epoch = this.#epoch + 1
    const state = { identity: this.identity, meta: this.#meta, keyring: this.#keyring, placed: this.#pages }
    const body = encodeBase({ epoch, ...state, freed: [] }, end)
    next.begin(body)
    old.clear()
    this.#journal = next
    this.#epoch = epoch
    // The records stand in the base now.
    this.#loadBase({ kind: 0, body, at: FRAME_BYTES })
  }

  /** Room at the end is given back. */
  #shrink(): void {
    const end = this.#blocks.end() * BLOCK_BYTES
    if (this.#files.pages.size() > end) this.#files.pages.truncate(end)
  }

  /** Pages into free blocks. When it fails, the blocks are free again. */
  #place(pages: Iterable<Page>): [PageId, Extent][] {
    const placed: [PageId, Extent][] = []
    try {
      for (const { id, bytes } of pages) {
        const extent = this.#blocks.allocate(bytes.length)
        placed.push([id, extent])
        this.#files.pages.write(bytes, extent.block * BLOCK_BYTES)
      }
      return placed
    } catch (error) {
      for (const [, extent] of placed) this.#blocks.release(extent)
      throw error
    }
  }

  #dropStaged(): void {
    for (const extent of this.#staged.values()) this.#blocks.release(extent)
    this.#staged.clear()
    this.#claimToken = undefined
  }

  #uncertainUntilDone(write: () => void): void {
    this.#isUncertain = true
    write()
    this.#isUncertain = false
  }

  /** Before anything is read. */
  #settle(): void {
    if (this.#isUncertain) this.#load()
  }

  /** Before anything is written, or found to be written already. */
  #prepare(): void {
    this.#settle()
    if (this.#isPrepared) return
    this.#uncertainUntilDone(() => {
      this.#journal.resume()
      // The older one, or a newer one that was not finished.
      const other = this.#otherJournal()
      if (other.size() > 0) new Journal(other).clear()
    })
    this.#isPrepared = true
  }

  #otherJournal(): RawFile {
    const [first, second] = this.#files.journals
    return this.#journal.file === first ? second : first
  }

  /** Reads what the files say. */
  #load(): void {
    this.#isUncertain = true
    const [first, second] = this.#files.journals
    const [a, b] = [found(first), found(second)]
    const current = b.epoch > a.epoch ? b : a
    this.#dropStaged()
    this.#puts.clear()
    this.#isPrepared = current.epoch === 0
    if (current.epoch === 0) this.#create()
    else {
      current.journal.checkEnd()
      this.#journal = current.journal
      this.#loadBase(current.frames[0]!)
      for (const frame of current.frames.slice(1)) this.#applyFrame(frame)
    }
    this.#isUncertain = false
  }

  /** Creates it, only where nothing was ever acknowledged. */
  #create(): void {
    const { pages, journals } = this.#files
    // A deletion that was cut off has emptied the journals, which otherwise are never both empty again.
    const isNew =
      journals[0].size() === 0 ||
      (pages.size() <= FIRST_BLOCK * BLOCK_BYTES && journals[0].size() <= EMPTY_BASE_BYTES_MAX)
    if (!isNew || journals[1].size() > 0) throw corruptBytes('neither of its journals can be read')
    const empty = { epoch: 1, identity: this.identity, meta: undefined, keyring: undefined, placed: [], freed: [] }
    const body = encodeBase(empty, { logSeal: undefined, records: [] })
    this.#journal = new Journal(journals[0])
    this.#journal.begin(body)
    this.#loadBase({ kind: 0, body, at: FRAME_BYTES })
  }

  #loadBase({ body, at }: Frame): void {
    const reader = new ByteReader(body)
    reader.varint()
    const base = decodeBase(reader)
    this.#epoch = base.epoch
    this.identity = base.identity
    this.#keyring = base.keyring
    this.#pages.clear()
    this.#blocks = new BlockMap(FIRST_BLOCK)
    this.#meta = undefined
    this.#apply(base)
    this.#logSeal = readBytes(reader)
    this.#log = readRecords(reader, at)
  }

  #applyFrame(frame: Frame): void {
    if (frame.kind === APPEND) this.#applyAppend(frame)
    else if (frame.kind === COMMIT) this.#applyCommit(frame)
    else if (frame.kind === KEYRING) this.#keyring = frame.body.slice()
    else if (frame.kind === REPLACE) this.#apply(readChange(new ByteReader(frame.body)))
    else throw corruptBytes(`a frame of kind ${frame.kind}`)
  }

  #applyAppend({ body, at }: Frame): void {
    const reader = new ByteReader(body)
    this.#logSeal = readBytes(reader) ?? this.#logSeal
    const sequence = reader.varint() as CommitSequence
    if ((this.#log.at(-1)?.sequence ?? 0) !== sequence - 1) throw corruptBytes(`record ${sequence} follows another`)
    this.#log.push({ sequence, at: at + reader.at, length: body.length - reader.at })
  }

  #applyCommit({ body, at }: Frame): void {
    const reader = new ByteReader(body)
    const change = readChange(reader)
    this.#apply(change)
    this.#logSeal = readBytes(reader) ?? this.#logSeal
    this.#log.push(...readRecords(reader, at))
    this.#log = this.#log.filter(({ sequence }) => sequence >= change.meta!.sequence)
  }

  #apply({ meta, placed, freed }: Change): void {
    if (meta !== undefined) this.#meta = meta
    for (const [id, extent] of placed) {
      this.#release(id)
      this.#pages.set(id, extent)
      // Unless it was taken when the page was written.
      this.#blocks.take(extent)
    }
    for (const id of freed) {
      this.#release(id)
      this.#pages.delete(id)
    }
  }

  #release(id: PageId): void {
    const extent = this.#pages.get(id)
    if (extent !== undefined) this.#blocks.release(extent)
  }

  /** All read at once: they stand one behind the other, and each call of a file takes its time. */
  #recordsOf(placed: readonly PlacedRecord[]): LogRecord[] {
    const start = placed[0]?.at ?? 0
    const last = placed.at(-1)
    const bytes = readRange(this.#journal.file, start, last === undefined ? 0 : last.at + last.length - start)
    return placed.map(({ sequence, at, length }) => ({ sequence, bytes: bytes.slice(at - start, at - start + length) }))
  }

  #checkNewest({ sequence }: LogRecord, logSeal: Uint8Array | undefined): void {
    const newest = this.#log.at(-1)?.sequence ?? 0
    if (newest !== sequence - 1 || (newest === 0 && !logSeal && this.#keyring)) throw stale()
  }

  #checkGeneration(expected: Generation): void {
    if ((this.#meta?.generation ?? 0) !== expected) throw stale()
  }

  #checkClaim(token: string): void {
    if (this.#claimToken !== token) throw stale()
  }
}

interface RecoveredJournal {
  readonly journal: Journal
  readonly frames: readonly Frame[]
  /** The epoch. 0: there is no whole base. */
  readonly epoch: number
}

function found(file: RawFile): RecoveredJournal {
  const journal = new Journal(file)
  const frames = journal.recover()
  if (frames[0] === undefined) return { journal, frames, epoch: 0 }
  const reader = new ByteReader(frames[0].body)
  if (reader.varint() > FILE_VERSION)
    throw new PannierError('PANNIER_FORMAT_NEWER', 'A newer version of Pannier has written this database.')
  return { journal, frames, epoch: reader.varint() }
}

function stale(): PannierError {
  return new PannierError('PANNIER_STALE', 'Another handle has written since.')
}
