/**
 * A page store over another one which gets nothing but sealed bytes. docs/encryption.md is normative.
 *
 * Guarantees: what is read was sealed by somebody with a key of this database, for this place, or the call fails with
 * PANNIER_CORRUPT: pages by their ids, the meta record by its generation and sequence, log records by their sequence and the record
 * before. The head tells where the log ends, and below which generation the meta record can't be. So a part of what is stored can't be
 * put back to what it was before; all of it together can.
 * Relies on: the chance of the platform. A nonce is never used twice but by a chance of 2^-33 at most (`KEY_USES_MAX`).
 *
 * It makes the same calls as are made to it, and one more when a database is made. Where the platform is synchronous, it is.
 */
import type { CommitSequence, Generation, PageId } from '../../base/brand.ts'
import { isPannierError, PannierError } from '../../base/errors.ts'
import { andThen, isPromise, type MaybePromise } from '../../base/maybe-promise.ts'
import { ByteReader, ByteWriter } from '../../codec/bytes.ts'
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
import { KIND_HEAD, KIND_LOG, KIND_META, KIND_PAGE, NO_LINK, nonceOf, tampered, type Place } from './envelope.ts'
import { allOf, type Vault } from './vault.ts'

/**
 * Log records that one data key seals. Nonces of 96 random bits allow 2^32; the rest is for calls that fail. Pages have a key of
 * their own and are fewer: 2^31 of them are 32 TiB.
 */
export const KEY_USES_MAX: number = 2 ** 31

const HEADER_ATTEMPTS_MAX = 20

/** What the head says of the rest. */
interface Head {
  readonly generation: number
  readonly sequence: number
  readonly revision: number
  readonly link: Uint8Array
}

export class EncryptedPageStore implements PageStore {
  readonly vault: Vault
  readonly inner: PageStore
  /** The newest generation that this handle has seen. */
  #generation = 0
  /** Nonces of log records by sequence: each record vouches for the one before. From that of the meta record on. */
  readonly #links = new Map<number, Uint8Array>()

  constructor(inner: PageStore, vault: Vault) {
    this.inner = inner
    this.vault = vault
  }

  /** The newest sequence that this handle has seen. */
  get sequence(): number {
    return Math.max(0, ...this.#links.keys())
  }

  read(known?: KnownState): MaybePromise<StoreState> {
    const verifiable = known && this.#links.has(known.sequence) ? known : undefined
    return andThen(this.inner.read(verifiable), (state) =>
      andThen(this.#unseal(state, verifiable), (unsealed) => {
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
      const nonce = this.vault.newNonce()
      const sealed = [
        this.vault.seal(logPlace(sequence, before), bytes, nonce),
        this.#sealHead(this.#generation, sequence, nonce),
      ]
      return andThen(allOf(sealed), ([record, head]) =>
        andThen(this.inner.append({ sequence, bytes: record! }, durability, head!), () => {
          this.#links.set(sequence, nonce)
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
    return andThen(this.#linkAt(record === undefined ? meta.sequence : record.sequence - 1), (link) => {
      const nonce = record && this.vault.newNonce()
      const sealed = [
        this.#sealMeta(meta, nonce ?? link),
        ...(record === undefined
          ? []
          : [
              this.vault.seal(logPlace(record.sequence, link), record.bytes, nonce),
              this.#sealHead(meta.generation, record.sequence, nonce!),
            ]),
      ]
      return andThen(this.#sealPages(commit.pages), (pages) =>
        andThen(allOf(sealed), ([metaBytes, recordBytes, head]) => {
          const { record: _record, ...rest } = commit
          const sealedCommit: Commit = {
            ...rest,
            pages,
            meta: { ...meta, bytes: metaBytes! },
            ...(record && { record: { sequence: record.sequence, bytes: recordBytes! }, head: head! }),
          }
          return andThen(this.inner.commit(sealedCommit), () => this.#learn(meta, nonce ?? link, []))
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

  #unseal(state: StoreState, known: KnownState | undefined): MaybePromise<StoreState> {
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

  #open({ meta, log, head }: StoreState, known: KnownState | undefined): MaybePromise<StoreState> {
    const sealed = [meta && this.vault.open(metaPlace(meta), meta.bytes), head && this.vault.open(HEAD_PLACE, head)]
    return andThen(allOf(sealed), ([metaPlain, headPlain]) => {
      const metaLink = metaPlain ? metaPlain.subarray(metaPlain.length - NO_LINK.length).slice() : NO_LINK
      const metaSequence = meta?.sequence ?? 0
      const isKnown =
        known !== undefined && known.generation === (meta?.generation ?? 0) && known.sequence > metaSequence
      const base = isKnown ? known.sequence : metaSequence
      const links = [isKnown ? this.#links.get(base)! : metaLink, ...log.map(({ bytes }) => nonceOf(bytes).slice())]
      if (log.some(({ sequence }, index) => sequence !== base + 1 + index)) throw tampered('log records are missing')
      this.#checkHead(headPlain && readHead(headPlain), meta?.generation ?? 0, base + log.length, links.at(-1)!)
      const records = log.map(({ sequence, bytes }, index) => this.vault.open(logPlace(sequence, links[index]!), bytes))
      return andThen(allOf(records), (plain) => {
        this.#learn(meta, metaLink, links.slice(1), base)
        return {
          meta: meta && { ...meta, bytes: metaPlain!.slice(0, -NO_LINK.length) },
          log: log.map(({ sequence }, index) => ({ sequence, bytes: plain[index]! })),
          header: undefined,
          head: undefined,
        }
      })
    })
  }

  #checkHead(head: Head | undefined, generation: number, sequence: number, link: Uint8Array): void {
    // Nothing was ever appended.
    if (head === undefined && sequence === 0) return
    if (head?.sequence !== sequence || !sameBytes(head.link, link))
      throw tampered('its log does not end where it should')
    if (head.generation > generation) throw tampered('its meta record is an older one')
    if (head.revision > this.vault.header.revision) throw tampered('its header is an older one')
  }

  /** What is known from now on of the log from the meta record on; `links` follow those of `base`. */
  #learn(
    meta: Pick<MetaRecord, 'generation' | 'sequence'> | undefined,
    metaLink: Uint8Array,
    links: readonly Uint8Array[],
    base: number = 0,
  ): void {
    const { generation, sequence } = meta ?? { generation: 0, sequence: 0 }
    links.forEach((link, index) => this.#links.set(base + 1 + index, link))
    if (generation < this.#generation) return
    this.#generation = generation
    this.#links.set(sequence, metaLink)
    for (const known of this.#links.keys()) if (known < sequence) this.#links.delete(known)
  }

  /** The nonce of the log record of that sequence. Fails with PANNIER_STALE if there is no such record any more. */
  #linkAt(sequence: number): MaybePromise<Uint8Array> {
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
    if (!this.vault.platform.isSynchronous) return Promise.all(Array.from(pages, (page) => this.sealPage(page)))
    const sealOne = (page: Page): Page => this.sealPage(page) as Page
    return (function* () {
      for (const page of pages) yield sealOne(page)
    })()
  }

  #sealMeta(meta: MetaRecord, link: Uint8Array): MaybePromise<Uint8Array> {
    const plain = new Uint8Array(meta.bytes.length + link.length)
    plain.set(meta.bytes)
    plain.set(link, meta.bytes.length)
    return this.vault.seal(metaPlace(meta), plain)
  }

  #sealHead(generation: number, sequence: number, link: Uint8Array): MaybePromise<Uint8Array> {
    const writer = new ByteWriter(40)
    writer.varint(generation)
    writer.varint(sequence)
    writer.varint(this.vault.header.revision)
    writer.raw(link)
    return this.vault.seal(HEAD_PLACE, writer.finish())
  }
}

const HEAD_PLACE: Place = { kind: KIND_HEAD, number: 0 }

function logPlace(sequence: CommitSequence, before: Uint8Array): Place {
  return { kind: KIND_LOG, number: sequence, more: before }
}

function metaPlace({ generation, sequence }: MetaRecord): Place {
  const writer = new ByteWriter(8)
  writer.varint(sequence)
  return { kind: KIND_META, number: generation, more: writer.finish() }
}

function readHead(plain: Uint8Array): Head {
  const reader = new ByteReader(plain)
  const [generation, sequence, revision] = [reader.varint(), reader.varint(), reader.varint()]
  return { generation, sequence, revision, link: reader.raw(NO_LINK.length) }
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
