/**
 * A page store over another one which gets nothing but sealed bytes. docs/encryption.md is normative.
 *
 * Guarantees: what is read was sealed by somebody with a key of this database, for this place, or the call fails with
 * PANNIER_CORRUPT: pages by their ids, the meta record by its generation and sequence, log records by their sequence and the record
 * before. The head holds a token of the newest record, which is sealed inside of it, so the log can't end earlier; each record tells
 * below which generation the meta record, and below which revision the header can't be. So a part of what is stored can't be put back
 * to what it was before; all of it together can.
 * Relies on: the chance of the platform. A nonce is never used twice but by a chance of 2^-33 at most (`KEY_USES_MAX`).
 *
 * It makes the same calls as are made to it, and one more when a database is made. Where the platform is synchronous, it is.
 */
import type { CommitSequence, Generation, PageId } from '../../base/brand.ts'
import { isPannierError, PannierError } from '../../base/errors.ts'
import { andThen, isPromise, type MaybePromise } from '../../base/maybe-promise.ts'
import { ByteWriter, readU32, writeU32 } from '../../codec/bytes.ts'
import { sameBytes } from '../../codec/same-bytes.ts'
import type {
  Commit,
  Durability,
  KnownState,
  LogRecord,
  MetaRecord,
  Page,
  PageArrived,
  PageStore,
  StoreState,
} from '../page-store.ts'
import { KIND_LOG, KIND_META, KIND_PAGE, nonceOf, tampered, type Place } from './envelope.ts'
import { NONCE_BYTES } from './platform.ts'
import { allOf, type Vault } from './vault.ts'

/**
 * Log records that one data key seals. Nonces of 96 random bits allow 2^32; the rest is for calls that fail. Pages have a key of
 * their own and are fewer: 2^31 of them are 32 TiB.
 */
export const KEY_USES_MAX: number = 2 ** 31

/** So often another handle may change the header before a change, or what needs it as it is, gives up. */
export const HEADER_ATTEMPTS_MAX = 20

/** What is remembered of a log record. */
interface Link {
  /** The record after it vouches for this. */
  readonly nonce: Uint8Array
  /** The head while it is the newest one: nobody else can tell it. */
  readonly token: Uint8Array
}

interface KnownLink extends KnownState {
  readonly link: Link
}

export class EncryptedPageStore implements PageStore {
  readonly vault: Vault
  readonly inner: PageStore
  /** The newest generation that this handle has seen. */
  #generation = 0
  /** Log records by sequence, from that of the meta record on. */
  readonly #links = new Map<number, Link>()

  constructor(inner: PageStore, vault: Vault) {
    this.inner = inner
    this.vault = vault
  }

  /** The newest sequence that this handle has seen. */
  get sequence(): number {
    return Math.max(0, ...this.#links.keys())
  }

  read(known?: KnownState): MaybePromise<StoreState> {
    // Taken now: another read may come first, and forget it.
    const link = known && this.#links.get(known.sequence)
    const verifiable = link && known
    return andThen(this.inner.read(verifiable), (state) =>
      andThen(this.#unseal(state, link && { ...known!, link }), (unsealed) => {
        if (known === verifiable || known?.generation !== (unsealed.meta?.generation ?? 0)) return unsealed
        return { ...unsealed, log: unsealed.log.filter(({ sequence }) => sequence > known.sequence) }
      }),
    )
  }

  readPages(ids: readonly PageId[], arrived?: PageArrived): MaybePromise<readonly (Uint8Array | undefined)[]> {
    return andThen(this.#ready(), () => {
      const opened: MaybePromise<Uint8Array>[] = []
      const openAt = (index: number, bytes: Uint8Array): MaybePromise<Uint8Array> =>
        (opened[index] ??= tell(this.#openPage(ids[index]!, bytes), (plain) => arrived?.(index, plain)))
      const sealedArrived = (index: number, bytes: Uint8Array): void => {
        try {
          const plain = openAt(index, bytes)
          if (isPromise(plain)) plain.catch(() => {})
        } catch {
          // It fails again when all are there, where the failure belongs.
        }
      }
      return andThen(this.inner.readPages(ids, arrived && sealedArrived), (pages) =>
        allOf(pages.map((bytes, index) => bytes && openAt(index, bytes))),
      )
    })
  }

  append({ sequence, bytes }: LogRecord, durability: Durability): MaybePromise<void> {
    return andThen(this.#linkAt(sequence - 1), (before) => {
      if (sequence - this.vault.active.firstSequence > KEY_USES_MAX) throw usedUp()
      const link = this.#newLink()
      return andThen(this.#sealLogRecord({ sequence, bytes }, before, link, this.#generation), (sealed) =>
        andThen(this.inner.append({ sequence, bytes: sealed }, durability, link.token), () => {
          this.#links.set(sequence, link)
        }),
      )
    })
  }

  claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): MaybePromise<void> {
    return this.inner.claim(token, expectedGeneration, firstNewPageId)
  }

  stage(token: string, pages: readonly Page[]): MaybePromise<void> {
    return andThen(this.#ready(), () =>
      andThen(allOf(pages.map((page) => this.sealPage(page))), (sealed) => this.inner.stage(token, sealed)),
    )
  }

  commit(commit: Commit): MaybePromise<void> {
    const { meta, record } = commit
    return andThen(this.#linkAt(record === undefined ? meta.sequence : record.sequence - 1), (found) => {
      const link = record === undefined ? found : this.#newLink()
      const sealed = [
        this.#sealMeta(meta, link),
        ...(record === undefined ? [] : [this.#sealLogRecord(record, found, link, meta.generation)]),
      ]
      return andThen(this.#sealPages(commit.pages), (pages) =>
        andThen(allOf(sealed), ([metaBytes, recordBytes]) => {
          const { record: _record, ...rest } = commit
          const sealedCommit: Commit = {
            ...rest,
            pages,
            meta: { ...meta, bytes: metaBytes! },
            ...(record && { record: { sequence: record.sequence, bytes: recordBytes! }, head: link.token }),
          }
          return andThen(this.inner.commit(sealedCommit), () => this.#learn(meta, link, []))
        }),
      )
    })
  }

  /** It keeps the header, the head and the form of pages for itself. */
  putHeader(): never {
    throw new TypeError('an encrypted database takes no other header')
  }

  replacePages(): never {
    throw new TypeError('pages of an encrypted database are replaced by itself')
  }

  listPages(): MaybePromise<readonly PageId[]> {
    return this.inner.listPages()
  }

  usedBytes(): MaybePromise<number | undefined> {
    return this.inner.usedBytes()
  }

  close(): MaybePromise<void> {
    return this.inner.close()
  }

  /** With the active key. */
  sealPage({ id, bytes }: Page): MaybePromise<Page> {
    return andThen(this.vault.seal({ kind: KIND_PAGE, number: id }, bytes), (sealed) => ({ id, bytes: sealed }))
  }

  /** Replaces the header by what `edit` makes of the one that is stored; undefined leaves it. */
  async changeHeader(edit: () => Promise<Uint8Array | undefined>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      await this.read()
      const before = this.vault.headerBytes
      const header = await edit()
      if (header === undefined) return
      try {
        await this.inner.putHeader(before, header, 'strict')
        return await this.vault.adopt(header)
      } catch (error) {
        if (attempt === HEADER_ATTEMPTS_MAX || !isPannierError(error, 'PANNIER_STALE')) throw error
      }
    }
  }

  /** Keys are there once something was read. */
  #ready(): MaybePromise<unknown> {
    return this.vault.isOpen ? undefined : this.read()
  }

  #unseal(state: StoreState, known: KnownLink | undefined): MaybePromise<StoreState> {
    const { header, meta, log } = state
    if (header !== undefined) return andThen(this.vault.adopt(header), () => this.#open(state, known))
    if (this.vault.isOpen) throw tampered('its header is gone')
    if (meta === undefined && log.length === 0) return this.#create()
    const message = 'The database is not encrypted, so it is not opened with a password or key.'
    throw new PannierError('PANNIER_NOT_ENCRYPTED', message)
  }

  async #create(): Promise<StoreState> {
    try {
      await this.inner.putHeader(undefined, await this.vault.create(), 'strict')
    } catch (error) {
      // Another handle was faster; what it has made is opened.
      if (!isPannierError(error, 'PANNIER_STALE')) throw error
    }
    return this.read()
  }

  #open({ meta, log, head }: StoreState, known: KnownLink | undefined): MaybePromise<StoreState> {
    return andThen(meta && this.vault.open(metaPlace(meta), meta.bytes), (metaPlain) => {
      const base = metaPlain && readMeta(metaPlain)
      const [generation, metaSequence] = [meta?.generation ?? 0, meta?.sequence ?? 0]
      const isKnown = known !== undefined && known.generation === generation && known.sequence > metaSequence
      const first = isKnown ? known.sequence : metaSequence
      const before = isKnown ? known.link : (base?.link ?? NO_LINK)
      if (log.some(({ sequence }, index) => sequence !== first + 1 + index)) throw tampered('log records are missing')
      const nonces = [before.nonce, ...log.map(({ bytes }) => nonceOf(bytes).slice())]
      const records = log.map(({ sequence, bytes }, index) =>
        this.vault.open(logPlace(sequence, nonces[index]!), bytes),
      )
      return andThen(allOf(records), (plain) => {
        const contents = plain.map((bytes) => readLogRecord(bytes))
        const links = contents.map(({ token }, index) => ({ nonce: nonces[index + 1]!, token }))
        vouchForEnd(head, before, links)
        for (const content of contents) {
          if (content.generation > generation) throw tampered('its meta record is an older one')
          this.#checkRevision(content.revision)
        }
        if (base) this.#checkRevision(base.revision)
        this.#learn(meta, base?.link ?? NO_LINK, links, first)
        return {
          meta: meta && { ...meta, bytes: base!.bytes },
          log: log.map(({ sequence }, index) => ({ sequence, bytes: contents[index]!.bytes })),
          header: undefined,
          head: undefined,
        }
      })
    })
  }

  #checkRevision(revision: number): void {
    if (revision > this.vault.header.revision) throw tampered('its header is an older one')
  }

  /** What is known from now on of the log from the meta record on; `links` follow those of `base`. */
  #learn(
    meta: Pick<MetaRecord, 'generation' | 'sequence'> | undefined,
    metaLink: Link,
    links: readonly Link[],
    base: number = 0,
  ): void {
    const { generation, sequence } = meta ?? { generation: 0, sequence: 0 }
    links.forEach((link, index) => this.#links.set(base + 1 + index, link))
    if (generation < this.#generation) return
    this.#generation = generation
    this.#links.set(sequence, metaLink)
    for (const known of this.#links.keys()) if (known < sequence) this.#links.delete(known)
  }

  #newLink(): Link {
    return { nonce: this.vault.newNonce(), token: this.vault.random(TOKEN_BYTES) }
  }

  /** What is remembered of the log record of that sequence. Fails with PANNIER_STALE if there is no such record any more. */
  #linkAt(sequence: number): MaybePromise<Link> {
    const link = this.#links.get(sequence)
    if (link !== undefined) return link
    return andThen(this.read(), () => {
      const found = this.#links.get(sequence)
      if (found !== undefined) return found
      throw new PannierError('PANNIER_STALE', `Another handle has written since: the log does not end at ${sequence}.`)
    })
  }

  #openPage(id: PageId, bytes: Uint8Array): MaybePromise<Uint8Array> {
    const place: Place = { kind: KIND_PAGE, number: id }
    if (this.vault.knowsKeyOf(bytes)) return this.vault.open(place, bytes)
    // Another handle has changed keys since this one has read the header.
    return andThen(this.read(), () => this.vault.open(place, bytes))
  }

  /** A platform that is not synchronous has to be done before the transaction of the store begins. */
  #sealPages(pages: Iterable<Page>): MaybePromise<Iterable<Page>> {
    if (!this.vault.platform.isSynchronous) return Promise.all(Array.from(pages, async (page) => this.sealPage(page)))
    const sealOne = (page: Page): Page => this.sealPage(page) as Page
    return (function* () {
      for (const page of pages) yield sealOne(page)
    })()
  }

  #sealMeta(meta: MetaRecord, { nonce, token }: Link): MaybePromise<Uint8Array> {
    const plain = withTrailer(meta.bytes, META_TRAILER_BYTES, (at, bytes) => {
      bytes.set(nonce, at)
      bytes.set(token, at + NONCE_BYTES)
      writeU32(bytes, at + NONCE_BYTES + TOKEN_BYTES, this.vault.header.revision)
    })
    return this.vault.seal(metaPlace(meta), plain)
  }

  #sealLogRecord(record: LogRecord, before: Link, link: Link, generation: number): MaybePromise<Uint8Array> {
    const plain = withTrailer(record.bytes, LOG_TRAILER_BYTES, (at, bytes) => {
      bytes.set(link.token, at)
      writeU32(bytes, at + TOKEN_BYTES, generation >>> 0)
      writeU32(bytes, at + TOKEN_BYTES + 4, Math.floor(generation / 2 ** 32))
      writeU32(bytes, at + TOKEN_BYTES + 8, this.vault.header.revision)
    })
    return this.vault.seal(logPlace(record.sequence, before.nonce), plain, link.nonce)
  }
}

const TOKEN_BYTES = 16
/** Nonce and token of the log record up to which the pages reach; revision of the header. */
const META_TRAILER_BYTES: number = NONCE_BYTES + TOKEN_BYTES + 4
/** Its token; generation of the meta record, and revision of the header, that its writer knew. */
const LOG_TRAILER_BYTES: number = TOKEN_BYTES + 8 + 4
/** Before the first log record. */
const NO_LINK: Link = { nonce: new Uint8Array(NONCE_BYTES), token: new Uint8Array(TOKEN_BYTES) }

/**
 * The head has to be the token of the newest record, or of the one before: of an append that failed for want of room there may be the record
 * without its head (storage/indexeddb/header-writer.ts). That head then vouches for it from now on.
 */
function vouchForEnd(head: Uint8Array = NO_LINK.token, before: Link, links: Link[]): void {
  if (sameBytes(head, (links.at(-1) ?? before).token)) return
  const newest = links.pop()
  if (newest === undefined || !sameBytes(head, (links.at(-1) ?? before).token))
    throw tampered('its log does not end where it should')
  links.push({ nonce: newest.nonce, token: head })
}

function withTrailer(content: Uint8Array, length: number, write: (at: number, bytes: Uint8Array) => void): Uint8Array {
  const bytes = new Uint8Array(content.length + length)
  bytes.set(content)
  write(content.length, bytes)
  return bytes
}

function readMeta(plain: Uint8Array): { readonly bytes: Uint8Array; readonly link: Link; readonly revision: number } {
  const at = plain.length - META_TRAILER_BYTES
  const token = at + NONCE_BYTES
  const link = { nonce: plain.slice(at, token), token: plain.slice(token, token + TOKEN_BYTES) }
  return { bytes: plain.slice(0, at), link, revision: readU32(plain, token + TOKEN_BYTES) }
}

function readLogRecord(plain: Uint8Array): {
  readonly bytes: Uint8Array
  readonly token: Uint8Array
  readonly generation: number
  readonly revision: number
} {
  const at = plain.length - LOG_TRAILER_BYTES
  const end = at + TOKEN_BYTES
  return {
    bytes: plain.slice(0, at),
    token: plain.slice(at, end),
    generation: readU32(plain, end) + 2 ** 32 * readU32(plain, end + 4),
    revision: readU32(plain, end + 8),
  }
}

function logPlace(sequence: CommitSequence, before: Uint8Array): Place {
  return { kind: KIND_LOG, number: sequence, more: before }
}

function metaPlace({ generation, sequence }: MetaRecord): Place {
  const writer = new ByteWriter(8)
  writer.varint(sequence)
  return { kind: KIND_META, number: generation, more: writer.finish() }
}

function usedUp(): PannierError {
  return new PannierError('PANNIER_LIMIT', 'The key of the database was used as often as it may be: rotate it.')
}

/** Tells of a value that was promised as soon as it is there. */
function tell<T>(value: MaybePromise<T>, hear: (value: T) => void): MaybePromise<T> {
  if (!isPromise(value)) return value
  return value.then((there) => {
    hear(there)
    return there
  })
}
