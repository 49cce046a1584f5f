/**
 * Writes the pages of one storage checkpoint. It allocates ids, gathers pages, stages them when they are many, and
 * commits them with the meta page that refers to them.
 *
 * Guarantees: until `commit` resolves, nothing that a reader can see has changed. New pages enter no cache before that,
 * so a failed storage checkpoint leaves nothing in memory. Between two pauses the thread is held for at most some
 * milliseconds (base/long-work.ts). Late pages are an exception: the store takes as many at a time as it likes.
 */
import type { CommitSequence, Generation, PageId } from '../base/brand.ts'
import type { Environment } from '../base/environment.ts'
import { pauseIn, type Pause } from '../base/long-work.ts'
import { isPromise, andThen, type MaybePromise } from '../base/async.ts'
import type { Durability, LogRecord, Page, PageStore } from '../storage/page-store.ts'
import type { PageCache, Parsed } from './page-cache.ts'

/** Share of the cache that staged pages may take while they wait for the commit: what comes next will read them. */
const KEPT_SHARE = 0.25

interface PageWriterOptions<Node extends Parsed> {
  readonly store: PageStore
  readonly cache: PageCache<Node>
  readonly parse: (id: PageId, bytes: Uint8Array) => Node
  readonly environment: Environment
  readonly generation: Generation
  readonly nextPageId: PageId
  /** Pages gathered before they are staged. */
  readonly stageBytes: number
  /** Pages may be built while the store takes them, so that it always has work. This may hold the thread for longer. */
  readonly late: boolean
}

interface PageCommit {
  readonly sequence: CommitSequence
  readonly meta: Uint8Array
  /** Ids that no snapshot can read any more. */
  readonly free: readonly PageId[]
  readonly record?: LogRecord
  readonly durability: Durability
}

export class PageWriter<Node extends Parsed> {
  readonly pause: Pause
  readonly #options: PageWriterOptions<Node>
  /** Pages of this writer that are in memory. */
  readonly #fresh = new Map<PageId, Node | LatePage>()
  #keptBytes = 0
  #buffer = new Map<PageId, BufferedPage>()
  #bufferedBytes = 0
  #nextPageId: PageId
  #claim: string | undefined
  readonly #unlinked: PageId[] = []
  /** Wasted pages: staged by this writer and given up again. */
  readonly #wasted: PageId[] = []

  constructor(options: PageWriterOptions<Node>) {
    this.#options = options
    this.#nextPageId = options.nextPageId
    this.pause = pauseIn(options.environment)
  }

  get nextPageId(): PageId {
    return this.#nextPageId
  }

  /** Pages of the trees before this storage checkpoint that the trees after it do not use. */
  get unlinked(): readonly PageId[] {
    return this.#unlinked
  }

  peek(id: PageId): Node | undefined {
    const fresh = this.#fresh.get(id)
    if (fresh === undefined) return this.#options.cache.peek(id)
    return this.#parsed(id, fresh)
  }

  load(ids: readonly PageId[]): MaybePromise<() => void> {
    const own = ids.filter((id) => id >= this.#options.nextPageId)
    if (own.length === 0) return this.#options.cache.load(ids)
    return andThen(this.#options.store.readPages(own), (pages) => {
      for (let i = 0; i < own.length; i++) this.#fresh.set(own[i]!, this.#options.parse(own[i]!, pages[i]!))
      const others = ids.filter((id) => id < this.#options.nextPageId)
      return others.length === 0 ? () => {} : this.#options.cache.load(others)
    })
  }

  allocate(count: number): PageId {
    const first = this.#nextPageId
    this.#nextPageId = (first + count) as PageId
    return first
  }

  write(id: PageId, bytes: Uint8Array): MaybePromise<void> {
    return this.#add({ id, bytes, size: bytes.length }, this.#options.parse(id, bytes))
  }

  /** See PageIo (btree/page-packer.ts). */
  writeLate(id: PageId, size: number, build: () => Uint8Array): MaybePromise<void> {
    if (!this.#options.late) return this.write(id, build())
    const page = new LatePage(id, size, build)
    return this.#add(page, page)
  }

  free(id: PageId): void {
    if (id < this.#options.nextPageId) {
      this.#unlinked.push(id)
      return
    }
    this.#fresh.delete(id)
    const buffered = this.#buffer.get(id)
    if (buffered === undefined) {
      this.#wasted.push(id)
    } else {
      this.#buffer.delete(id)
      this.#bufferedBytes -= buffered.size
    }
  }

  /** Stages all gathered pages: readers that know their ids can read them from now on. */
  async stageAll(): Promise<void> {
    if (this.#buffer.size > 0) await this.#stage()
  }

  /** Makes it all visible, and brings what was just written into the cache. */
  async commit(commit: PageCommit): Promise<void> {
    const { store, cache, generation, nextPageId } = this.#options
    const committed = store.commit({
      expectedGeneration: generation,
      ...(this.#claim === undefined ? {} : { claim: this.#claim }),
      pages: this.#buffer.values(),
      free: [...commit.free, ...this.#wasted],
      meta: { generation: (generation + 1) as Generation, sequence: commit.sequence, bytes: commit.meta },
      firstNewPageId: nextPageId,
      ...(commit.record === undefined ? {} : { record: commit.record }),
      durability: commit.durability,
    })
    if (isPromise(committed)) await committed
    for (const [id, fresh] of this.#fresh) cache.add(id, this.#parsed(id, fresh))
    for (const id of commit.free) cache.drop(id)
  }

  #add(page: BufferedPage, fresh: Node | LatePage): MaybePromise<void> {
    this.#buffer.set(page.id, page)
    this.#bufferedBytes += page.size
    this.#fresh.set(page.id, fresh)
    if (this.#bufferedBytes >= this.#options.stageBytes) return this.#stage()
  }

  #parsed(id: PageId, fresh: Node | LatePage): Node {
    return fresh instanceof LatePage ? this.#options.parse(id, fresh.bytes) : fresh
  }

  async #stage(): Promise<void> {
    const { store, environment, generation, nextPageId } = this.#options
    const pages = [...this.#buffer.values()]
    this.#buffer = new Map()
    this.#bufferedBytes = 0
    if (this.#claim === undefined) {
      this.#claim = environment.randomId()
      await store.claim(this.#claim, generation, nextPageId)
    }
    await store.stage(this.#claim, pages)
    // Branches and the newest pages may be asked for again; what a huge commit stages must not pile up in memory.
    for (const { id, size } of pages) if (this.#fresh.has(id)) this.#keptBytes += size
    if (this.#keptBytes > this.#options.cache.bytesMax * KEPT_SHARE)
      for (const { id } of pages.slice(0, -4)) if (this.#fresh.size > 8) this.#fresh.delete(id)
  }
}

interface BufferedPage extends Page {
  readonly size: number
}

/** A late page is built when it is first asked for. */
class LatePage implements BufferedPage {
  readonly id: PageId
  readonly size: number
  readonly #build: () => Uint8Array
  #bytes: Uint8Array | undefined

  constructor(id: PageId, size: number, build: () => Uint8Array) {
    this.id = id
    this.size = size
    this.#build = build
  }

  get bytes(): Uint8Array {
    return (this.#bytes ??= this.#build())
  }
}
