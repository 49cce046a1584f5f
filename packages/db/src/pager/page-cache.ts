/**
 * Parsed pages in memory, bounded in bytes.
 *
 * Guarantees: `get` is synchronous: it returns the page or throws a Miss. The next `load` reads all noted misses in one
 * batch. Pages that an attempt has loaded stay until it ends, even beyond the bound. A page from the
 * store is summed when it is read for the first time; later its checksum has to be the same. Relies on: pages are
 * immutable and ids are never reused, so nothing here is ever stale.
 *
 * Eviction is second chance (CLOCK). A hit only sets a flag. Eviction goes round in order of arrival, keeps pages that
 * were used since the last round, and drops the others.
 */
import type { PageId } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import { Miss } from '../base/miss.ts'
import { andThen, isPromise, type MaybePromise } from '../base/async.ts'
import type { PageStore } from '../storage/page-store.ts'
import { readU32 } from '../codec/bytes.ts'
import { verifyPage } from './page.ts'

/** A parsed page, with the memory it takes. */
export interface Parsed {
  readonly memoryBytes: number
}

const MISSING_MAX = 1000
const VERIFIED_MAX = 100_000

interface CachedPage<Node extends Parsed> {
  readonly node: Node
  used: boolean
  /** How many attempts need it to stay. */
  holds: number
}

export class PageCache<Node extends Parsed> {
  readonly #store: Pick<PageStore, 'readPages'>
  readonly #parse: (id: PageId, bytes: Uint8Array) => Node
  readonly #bytesMax: () => number
  readonly #pages = new Map<PageId, CachedPage<Node>>()
  readonly #noted = new Set<PageId>()
  /**
   * Pages that the store did not have. A missing page is an error only for a reader that needs it. A page may be noted
   * ahead and not needed; a later miss then loads it too, perhaps after it was freed.
   */
  readonly #missing = new Set<PageId>()
  /** The checksums of pages that were verified. Their bytes are not summed again when they are read again. */
  readonly #verified = new Map<PageId, number>()
  readonly #loading = new Map<PageId, Promise<void>>()
  /**
   * How many loads wait for a page. It stays from when it arrives until they hold it: otherwise two attempts that need two pages
   * each could evict one another's for ever.
   */
  readonly #awaited = new Map<PageId, number>()
  readonly #miss: Miss
  #bytes = 0

  /** `bytesMax`: gives the bound, which may change. */
  constructor(
    store: Pick<PageStore, 'readPages'>,
    parse: (id: PageId, bytes: Uint8Array) => Node,
    bytesMax: () => number,
  ) {
    this.#store = store
    this.#parse = parse
    this.#bytesMax = bytesMax
    this.#miss = new Miss(
      () => this.#loadNoted(),
      () => this.#noted.size,
    )
  }

  /** The most bytes at this time. */
  get bytesMax(): number {
    return this.#bytesMax()
  }

  /** Memory that the cached pages take. */
  get bytes(): number {
    return this.#bytes
  }

  /** The page, or a Miss thrown. */
  get(id: PageId): Node {
    const page = this.#pages.get(id)
    if (page === undefined) {
      if (this.#missing.delete(id)) throw new MissingPageError(id)
      this.#noted.add(id)
      throw this.#miss
    }
    page.used = true
    return page.node
  }

  /** The page if it is in memory. */
  peek(id: PageId): Node | undefined {
    return this.#pages.get(id)?.node
  }

  /**
   * Asks for a page together with the next miss, because it will probably be needed next. A page that the store did not
   * have is not asked for again before `get` has reported it. Otherwise a reader that notes all its pages and then gets
   * them would ask for ever.
   */
  note(id: PageId): void {
    if (!this.#pages.has(id) && !this.#missing.has(id)) this.#noted.add(id)
  }

  /** True if a miss was noted that has not been fetched yet; lets a batch collect its misses before it throws. */
  throwIfNoted(): void {
    if (this.#noted.size > 0) throw this.#miss
  }

  /** Puts a page that was just written, so that it need not be read again. */
  add(id: PageId, node: Node): void {
    this.#insert(id, node)
    this.evict()
  }

  /** Forgets a page that nothing refers to any more. */
  drop(id: PageId): void {
    const page = this.#pages.get(id)
    if (page === undefined) return
    this.#pages.delete(id)
    this.#bytes -= page.node.memoryBytes
  }

  /**
   * Makes sure that the pages are in memory; the returned function releases them. `isNeeded`: a missing one is an
   * error.
   */
  load(ids: readonly PageId[], isNeeded = true): MaybePromise<() => void> {
    this.evict()
    const wanted: PageId[] = []
    const waits: Promise<void>[] = []
    for (const id of ids) {
      const loading = this.#loading.get(id)
      if (loading !== undefined) waits.push(loading)
      else if (!this.#pages.has(id)) wanted.push(id)
    }
    if (wanted.length > 0) {
      const read = this.#read(wanted)
      if (isPromise(read)) waits.push(read)
    }
    const hold = (): (() => void) => {
      for (const id of ids) if (isNeeded && this.#missing.delete(id)) throw new MissingPageError(id)
      return this.#hold(ids)
    }
    if (waits.length === 0) return hold()
    this.#await(ids, 1)
    return Promise.all(waits)
      .then(hold)
      .finally(() => this.#await(ids, -1))
  }

  #await(ids: readonly PageId[], change: 1 | -1): void {
    for (const id of ids) {
      const count = (this.#awaited.get(id) ?? 0) + change
      if (count > 0) this.#awaited.set(id, count)
      else this.#awaited.delete(id)
    }
  }

  #loadNoted(): MaybePromise<() => void> {
    const ids = [...this.#noted]
    this.#noted.clear()
    if (this.#missing.size > MISSING_MAX) this.#missing.clear()
    return this.load(ids, false)
  }

  #read(ids: PageId[]): MaybePromise<void> {
    // Pages that come early are parsed while the rest is read. A failure to parse is reported at the end, by the reader
    // that needs the page.
    const early = new Map<Uint8Array, Node>()
    const parseEarly = (index: number, bytes: Uint8Array): void => {
      try {
        early.set(bytes, this.#parsed(ids[index]!, bytes))
      } catch {}
    }
    const arrived = andThen(this.#store.readPages(ids, parseEarly), (pages) => {
      for (let i = 0; i < ids.length; i++) {
        const bytes = pages[i]
        if (bytes === undefined) this.#missing.add(ids[i]!)
        else this.#insert(ids[i]!, early.get(bytes) ?? this.#parsed(ids[i]!, bytes))
      }
    })
    if (!isPromise(arrived)) return
    const settled = arrived.finally(() => {
      for (const id of ids) this.#loading.delete(id)
    })
    for (const id of ids) this.#loading.set(id, settled)
    return settled
  }

  #parsed(id: PageId, bytes: Uint8Array): Node {
    const sum = readU32(bytes, 0)
    if (this.#verified.get(id) !== sum) {
      verifyPage(id, bytes)
      if (this.#verified.size >= VERIFIED_MAX) this.#verified.clear()
      this.#verified.set(id, sum)
    }
    return this.#parse(id, bytes)
  }

  #insert(id: PageId, node: Node): void {
    if (this.#pages.has(id)) return
    this.#pages.set(id, { node, used: false, holds: 0 })
    this.#bytes += node.memoryBytes
  }

  #hold(ids: readonly PageId[]): () => void {
    const held: CachedPage<Node>[] = []
    for (const id of ids) {
      const page = this.#pages.get(id)
      if (page === undefined) continue
      page.holds++
      held.push(page)
    }
    return () => {
      for (const page of held.splice(0)) page.holds--
    }
  }

  /** Drops pages beyond the bound. */
  evict(): void {
    const { bytesMax } = this
    let spared = 0
    for (const [id, page] of this.#pages) {
      if (this.#bytes <= bytesMax || spared > this.#pages.size) return
      this.#pages.delete(id)
      if (page.used || page.holds > 0 || this.#awaited.has(id)) {
        page.used = false
        spared++
        this.#pages.set(id, page)
      } else {
        this.#bytes -= page.node.memoryBytes
      }
    }
  }
}

/** A page is gone: reclaimed under a snapshot that is too old, or lost. The layer that knows the snapshot decides which. */
export class MissingPageError extends PannierError {
  constructor(id: PageId) {
    super('PANNIER_CORRUPT', `The database is damaged: page ${id} is missing.`, { details: { page: id } })
  }
}
