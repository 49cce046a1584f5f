/**
 * A page store over another one, which gets only sealed bytes. docs/internals/encryption.md is normative.
 *
 * Guarantees: everything read was sealed with a key of this database, for its place; otherwise the call fails with
 * PANNIER_CORRUPT. The place of a page is its id and the epoch of its run (sealed-content.ts). That of the meta record
 * is its generation and sequence; that of a log record its sequence and the record before. The log seal holds a token
 * that is sealed inside the newest record, so the log can't end earlier. Each record states a minimum generation of the
 * meta record and a minimum revision of the keyring. The keyring states a minimum generation and sequence. So no part
 * of the storage can be put back to an older state; only all of it together can. Relies on: the platform's random
 * numbers. The probability that a nonce is used twice is at most 2^-33 (`KEY_USES_MAX`).
 *
 * It makes the same calls as it gets. It makes one more when a database is created, when its keyring is mended or
 * brought to this format, and once in many runs. It is synchronous where the platform is.
 */
import type { CommitSequence, Generation, PageId } from '../../base/brand.ts'
import { isPannierError, PannierError } from '../../base/errors.ts'
import { retryWhenStale } from '../../base/long-work.ts'
import { andThen, isPromise, type MaybePromise } from '../../base/async.ts'
import { ByteWriter, sameBytes } from '../../codec/bytes.ts'
import type {
  Commit,
  Durability,
  GoneListener,
  KnownState,
  LogRecord,
  MetaRecord,
  Page,
  PageArrived,
  PageStore,
  StoreState,
} from '../page-store.ts'
import { formatOf, KIND_LOG, KIND_META, KIND_PAGE, nonceOf, tampered, type RecordPlace } from './envelope.ts'
import type { Keyring } from './keyring.ts'
import { NONCE_BYTES } from './platform.ts'
import {
  EPOCH_BYTES,
  epochOf,
  isPruningDue,
  NO_RUNS,
  pruned,
  withRun,
  type Run,
  type Runs,
  decodeLogContent,
  decodeMetaContent,
  encodeLogContent,
  encodeMetaContent,
  TOKEN_BYTES,
  type Link,
} from './sealed-content.ts'
import { allOf, type Vault } from './vault.ts'

/**
 * Log records that one data key seals. Nonces of 96 random bits allow 2^32; the rest is for calls that fail. Pages have a key of
 * their own and are fewer: 2^31 of them are 32 TiB.
 */
const KEY_USES_MAX: number = 2 ** 31

interface KnownLink extends KnownState {
  readonly link: Link
}

/** Pages that are being written: nothing refers to them yet. */
interface Writing {
  /** Undefined unless they are staged. */
  readonly token: string | undefined
  /** Generation of the previous meta record. */
  readonly generation: number
  readonly run: Run
}

export class EncryptedPageStore implements PageStore {
  readonly vault: Vault
  readonly inner: PageStore
  /** The newest generation that this handle has seen. */
  #generation = 0
  /** Log records by sequence, from that of the meta record on. */
  readonly #links = new Map<number, Link>()
  /** The runs in the meta record of the newest generation. */
  #runs: Runs = NO_RUNS
  #staging: Writing | undefined
  /** The last commit of this handle, as long as nothing that it began since has failed, or may yet. */
  #own: { readonly generation: number; readonly epoch: Uint8Array } | undefined
  #mending: Promise<void> | undefined
  readonly #problems: Set<string> | undefined

  /**
   * With `problems` it is for a repair, which writes nothing. Problems of the log are added there, and what
   * authenticates is read all the same. A record that does not authenticate has no bytes.
   */
  constructor(inner: PageStore, vault: Vault, problems?: Set<string>) {
    this.inner = inner
    this.vault = vault
    this.#problems = problems
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
    return andThen(this.#writable(sequence - 1), (before) => {
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
    return andThen(this.#ready(), () =>
      andThen(this.#mended(), () => {
        const writing = this.#begin(token, expectedGeneration, firstNewPageId)
        return andThen(this.inner.claim(token, expectedGeneration, firstNewPageId), () => {
          this.#staging = writing
        })
      }),
    )
  }

  stage(token: string, pages: readonly Page[]): MaybePromise<void> {
    const staging = this.#staging
    if (staging?.token !== token) return andThen(this.inner.stage(token, []), notOurs)
    const sealing = pages.map((page) => this.#sealPage(page, staging.run.epoch))
    return andThen(allOf(sealing), (sealed) => this.inner.stage(token, sealed))
  }

  commit(commit: Commit): MaybePromise<void> {
    const { meta, record, claim, expectedGeneration, firstNewPageId } = commit
    return andThen(this.#writable(record === undefined ? meta.sequence : record.sequence - 1), (found) => {
      const writing = claim === undefined ? this.#begin(claim, expectedGeneration, firstNewPageId) : this.#staging
      if (writing?.token !== claim) return notOurs()
      this.#staging = undefined
      const { run } = writing!
      return andThen(this.#runsWith(run), (runs) => {
        const link = record === undefined ? found : this.#newLink()
        const sealed = [
          this.#sealMeta(meta, runs, link),
          ...(record === undefined ? [] : [this.#sealLogRecord(record, found, link, meta.generation)]),
        ]
        return andThen(this.#sealPages(commit.pages, run.epoch), (pages) =>
          andThen(allOf(sealed), ([metaBytes, recordBytes]) => {
            const { record: _record, ...rest } = commit
            const sealedCommit: Commit = {
              ...rest,
              pages,
              meta: { ...meta, bytes: metaBytes! },
              ...(record && { record: { sequence: record.sequence, bytes: recordBytes! }, logSeal: link.token }),
            }
            return andThen(this.inner.commit(sealedCommit), () => {
              this.#own = { generation: meta.generation, epoch: run.epoch }
              this.#learn(meta, runs, link, [])
            })
          }),
        )
      })
    })
  }

  /** Refuses: the store keeps the keyring, the log seal and the form of pages for itself. */
  putKeyring(): never {
    throw new Error('putKeyring() must not be called on an encrypted page store')
  }

  replacePages(): never {
    throw new Error('replacePages() must not be called on an encrypted page store')
  }

  listPages(): MaybePromise<readonly PageId[]> {
    return this.inner.listPages()
  }

  usedBytes(): MaybePromise<number | undefined> {
    return this.inner.usedBytes()
  }

  onGone(listener: GoneListener): void {
    this.inner.onGone?.(listener)
  }

  close(): MaybePromise<void> {
    return this.inner.close()
  }

  /** Where a page has to have been sealed. */
  placeOf(id: PageId): RecordPlace {
    const { run } = this.#staging ?? {}
    return pagePlace(id, run !== undefined && id >= run.first ? run.epoch : epochOf(this.#runs, id))
  }

  /** A page that is committed, sealed again in its place with the active key. */
  sealPage(page: Page): MaybePromise<Page> {
    return this.#sealPage(page, epochOf(this.#runs, page.id))
  }

  /** Replaces the keyring by what `edit` makes of the one that is stored; undefined leaves it. It is bound to what is stored by then. */
  async changeKeyring(edit: () => Promise<Partial<Pick<Keyring, 'slots' | 'keys'>> | undefined>): Promise<void> {
    const change = async (): Promise<void> => {
      const before = this.vault.keyringBytes
      const changed = await edit()
      if (changed === undefined) return
      const state = { generation: this.#generation, sequence: this.sequence }
      const keyring = await this.vault.changed({ ...changed, ...state })
      await this.inner.putKeyring(before, keyring, 'strict')
      await this.vault.adopt(keyring)
    }
    await this.read()
    await retryWhenStale(change, async () => this.read())
  }

  /** Keys are there once something was read. */
  #ready(): MaybePromise<unknown> {
    return this.vault.isOpen ? undefined : this.read()
  }

  #unseal(state: StoreState, known: KnownLink | undefined): MaybePromise<StoreState> {
    const { keyring, meta, log } = state
    if (keyring !== undefined) return andThen(this.vault.adopt(keyring), (came) => this.#open(state, came, known))
    if (this.vault.isOpen) throw tampered('its keyring is gone')
    if (meta === undefined && log.length === 0) return this.#create()
    const message = 'The database is not encrypted, so it is not opened with a password or key.'
    throw new PannierError('PANNIER_NOT_ENCRYPTED', message)
  }

  async #create(): Promise<StoreState> {
    try {
      await this.inner.putKeyring(undefined, await this.vault.create(), 'strict')
    } catch (error) {
      // Another handle was faster; what it has made is opened.
      if (!isPannierError(error, 'PANNIER_STALE')) throw error
    }
    return this.read()
  }

  #open({ meta, log, logSeal }: StoreState, keyring: Keyring, known: KnownLink | undefined): MaybePromise<StoreState> {
    return andThen(meta && this.vault.open(metaPlace(meta, formatOf(meta.bytes)), meta.bytes), (metaPlain) => {
      const base = metaPlain && decodeMetaContent(metaPlain, formatOf(meta!.bytes))
      const [generation, metaSequence] = [meta?.generation ?? 0, meta?.sequence ?? 0]
      const isKnown = known !== undefined && known.generation === generation && known.sequence > metaSequence
      const first = isKnown ? known.sequence : metaSequence
      const before = isKnown ? known.link : (base?.link ?? NO_LINK)
      if (log.some(({ sequence }, index) => sequence !== first + 1 + index)) this.#refuse('log records are missing')
      if (generation < keyring.generation || first + log.length < keyring.sequence)
        this.#refuse('it is older than its keyring')
      const nonces = [before.nonce, ...log.map(({ bytes }) => nonceOf(bytes).slice())]
      const records = log.map(({ sequence, bytes }, index) =>
        this.#openLogRecord(logPlace(sequence, nonces[index]!), bytes),
      )
      return andThen(allOf(records), (plain) => {
        const contents = plain.map((bytes) => (bytes === undefined ? LOST : decodeLogContent(bytes)))
        const links = contents.map(({ token }, index) => ({ nonce: nonces[index + 1]!, token }))
        if (!vouchForEnd(logSeal, before, links)) this.#refuse('its log does not end where it should')
        for (const content of contents) {
          if (content.generation > generation) this.#refuse('its meta record is an older one')
          this.#checkRevision(content.revision)
        }
        if (base) this.#checkRevision(base.revision)
        this.#learn(meta, base?.runs ?? NO_RUNS, base?.link ?? NO_LINK, links, first)
        return {
          meta: meta && { ...meta, bytes: base!.bytes },
          log: log.map(({ sequence }, index) => ({ sequence, bytes: contents[index]!.bytes })),
          keyring: undefined,
          logSeal: undefined,
        }
      })
    })
  }

  #checkRevision(revision: number): void {
    if (revision > this.vault.keyring.revision) this.#refuse('its keyring is an older one')
  }

  #refuse(what: string): void {
    const error = tampered(what)
    if (this.#problems === undefined) throw error
    this.#problems.add(error.message)
  }

  /** Undefined only for a repair. */
  #openLogRecord(place: RecordPlace, bytes: Uint8Array): MaybePromise<Uint8Array | undefined> {
    if (this.#problems === undefined) return this.vault.open(place, bytes)
    const open = async (): Promise<Uint8Array> => this.vault.open(place, bytes)
    return open().catch((error: unknown) => {
      if (!isPannierError(error, 'PANNIER_CORRUPT')) throw error
      return undefined
    })
  }

  /** Remembers the log from the meta record on; `links` follow those of `base`. */
  #learn(
    meta: Pick<MetaRecord, 'generation' | 'sequence'> | undefined,
    runs: Runs,
    metaLink: Link,
    links: readonly Link[],
    base: number = 0,
  ): void {
    const { generation, sequence } = meta ?? { generation: 0, sequence: 0 }
    links.forEach((link, index) => this.#links.set(base + 1 + index, link))
    if (generation < this.#generation) return
    this.#generation = generation
    this.#runs = runs
    // It has lost its right; its page ids are those of others now.
    if (this.#staging !== undefined && this.#staging.generation < generation) this.#staging = undefined
    this.#links.set(sequence, metaLink)
    for (const known of this.#links.keys()) if (known < sequence) this.#links.delete(known)
  }

  #newLink(): Link {
    const chance = this.vault.random(NONCE_BYTES + TOKEN_BYTES)
    return { nonce: chance.slice(0, NONCE_BYTES), token: chance.slice(NONCE_BYTES) }
  }

  /** The remembered link of the log record of that sequence. Fails with PANNIER_STALE if there is no such record any more. */
  #linkAt(sequence: number): MaybePromise<Link> {
    const link = this.#links.get(sequence)
    if (link !== undefined) return link
    return andThen(this.read(), () => {
      const found = this.#links.get(sequence)
      if (found !== undefined) return found
      throw new PannierError('PANNIER_STALE', `Another handle has written since: the log does not end at ${sequence}.`)
    })
  }

  /** As `#linkAt`; from here on something may be written. */
  #writable(sequence: number): MaybePromise<Link> {
    return andThen(this.#linkAt(sequence), (link) => andThen(this.#mended(), () => link))
  }

  /** Later writes can't be read below a keyring of an earlier format. A damaged keyring has two copies again. */
  #mended(): MaybePromise<void> {
    if (this.vault.isWhole) return
    this.#mending ??= this.changeKeyring(async () => (this.vault.isWhole ? undefined : {})).finally(() => {
      this.#mending = undefined
    })
    return this.#mending
  }

  /** Whether all comes to a commit, nobody knows yet: until then what comes next has another epoch. */
  #begin(token: string | undefined, generation: Generation, first: PageId): Writing {
    const epoch = this.#own?.generation === generation ? this.#own.epoch : this.vault.random(EPOCH_BYTES)
    this.#own = undefined
    return { token, generation, run: { first, epoch } }
  }

  /** The runs of the next meta record. */
  #runsWith(run: Run): MaybePromise<Runs> {
    const runs = withRun(this.#runs, run)
    if (!isPruningDue(runs)) return runs
    return andThen(this.inner.listPages(), (ids) => withRun(pruned(this.#runs, ids), run))
  }

  #openPage(id: PageId, bytes: Uint8Array): MaybePromise<Uint8Array> {
    if (this.vault.knowsKeyOf(bytes)) return this.vault.open(this.placeOf(id), bytes)
    // Another handle has changed keys since this one has read the keyring.
    return andThen(this.read(), () => this.vault.open(this.placeOf(id), bytes))
  }

  #sealPage({ id, bytes }: Page, epoch: Uint8Array | undefined): MaybePromise<Page> {
    return andThen(this.vault.seal(pagePlace(id, epoch), bytes), (sealed) => ({ id, bytes: sealed }))
  }

  /** A platform that is not synchronous has to be done before the transaction of the store begins. */
  #sealPages(pages: Iterable<Page>, epoch: Uint8Array): MaybePromise<Iterable<Page>> {
    const isSynchronous = this.vault.platform.isSynchronous
    if (!isSynchronous) return Promise.all(Array.from(pages, async (page) => this.#sealPage(page, epoch)))
    const sealOne = (page: Page): Page => this.#sealPage(page, epoch) as Page
    return (function* () {
      for (const page of pages) yield sealOne(page)
    })()
  }

  #sealMeta(meta: MetaRecord, runs: Runs, link: Link): MaybePromise<Uint8Array> {
    const { revision } = this.vault.keyring
    return this.vault.seal(metaPlace(meta, 2), encodeMetaContent({ bytes: meta.bytes, runs, link, revision }))
  }

  #sealLogRecord(record: LogRecord, before: Link, link: Link, generation: number): MaybePromise<Uint8Array> {
    const { revision } = this.vault.keyring
    const content = encodeLogContent({ bytes: record.bytes, token: link.token, generation, revision })
    return this.vault.seal(logPlace(record.sequence, before.nonce), content, link.nonce)
  }
}

function notOurs(): never {
  throw new PannierError('PANNIER_STALE', 'Another handle has taken over the staging of pages.')
}

/** Before the first log record. */
const NO_LINK: Link = { nonce: new Uint8Array(NONCE_BYTES), token: new Uint8Array(TOKEN_BYTES) }

/** The log record in place of one that does not authenticate, for a repair: it can't be read. */
const LOST = { bytes: new Uint8Array(0), token: NO_LINK.token, generation: 0, revision: 0 }

/**
 * The log seal has to be the token of the newest record, or of the one before: of an append that failed for want of room there may be the record
 * without its log seal (storage/indexeddb/log-seal.ts). That log seal then vouches for it from now on.
 */
function vouchForEnd(logSeal: Uint8Array = NO_LINK.token, before: Link, links: Link[]): boolean {
  const newest = links.at(-1)
  if (sameBytes(logSeal, (newest ?? before).token)) return true
  if (newest === undefined || !sameBytes(logSeal, (links.at(-2) ?? before).token)) return false
  links[links.length - 1] = { nonce: newest.nonce, token: logSeal }
  return true
}

function logPlace(sequence: CommitSequence, before: Uint8Array): RecordPlace {
  return { kind: KIND_LOG, number: sequence, more: before }
}

function metaPlace({ generation, sequence }: MetaRecord, format: 1 | 2): RecordPlace {
  const writer = new ByteWriter(8)
  writer.varint(sequence)
  return { kind: KIND_META, number: generation, more: writer.finish(), format }
}

function pagePlace(id: PageId, epoch: Uint8Array | undefined): RecordPlace {
  return { kind: KIND_PAGE, number: id, more: epoch }
}

function usedUp(): PannierError {
  return new PannierError('PANNIER_LIMIT_EXCEEDED', 'The key of the database is used up. Call rotateKey().')
}

/** Reports a promised value as soon as it exists. */
function tell<T>(value: MaybePromise<T>, hear: (value: T) => void): MaybePromise<T> {
  if (!isPromise(value)) return value
  return value.then((there) => {
    hear(there)
    return there
  })
}
