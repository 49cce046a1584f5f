/**
 * A write transaction that its caller drives while it holds the lease.
 *
 * Guarantees: steps take effect one after another, in the order of the calls, each of them whole or not at all. A step
 * that waits for pages has done nothing yet, so no step can undo another. Reads go to a view that never changes. After
 * a commit or rollback has begun, nothing new begins; running steps end first. Steps without end leave the thread to others.
 */
import type { ReducerId } from '../btree/reducer.ts'
import { pauseIn, type Pause } from '../base/long-work.ts'
import { attempt, Miss } from '../base/miss.ts'
import { isPromise, type MaybePromise } from '../base/async.ts'
import { parseNode, type Node, type NodeCache } from '../btree/node.ts'
import { PageCache } from '../pager/page-cache.ts'
import type { PageWriter } from '../pager/page-writer.ts'
import type { PageStore } from '../storage/page-store.ts'
import { pageWriter, writeTrees } from './checkpoint.ts'
import { STAGE_BYTES } from './limits.ts'
import type { Core } from './core.ts'
import type { HeldSnapshot, HeldTransaction, TreeKind, TreeWriter } from './key-value-store.ts'
import { HeldStateSnapshot } from './snapshot.ts'
import type { State } from './state.ts'
import { Transaction, transactionEnded } from './transaction.ts'

/** Changes in memory before they go to pages; less with a small cache. */
const HELD_BYTES_MAX: number = 4 * 1024 * 1024
/** The cache of a transaction that has pages of its own, for all pages. */
const OWN_CACHE_BYTES_MAX: number = 16 * 1024 * 1024

/** The number of steps whose misses are looked up while one before them waits. */
const STEPS_AHEAD_MAX = 200

interface QueuedStep {
  readonly run: () => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

export class HeldPagedTransaction implements HeldTransaction {
  readonly ended: Promise<void>
  readonly #core: Core
  readonly #transaction: Transaction
  readonly #commit: (transaction: Transaction) => Promise<void>
  readonly #queue: QueuedStep[] = []
  #draining: Promise<void> | undefined
  readonly #reading = new Set<Promise<unknown>>()
  #inStep = false
  #relieving = false
  #pages: { readonly cache: PageCache<Node>; readonly writer: PageWriter<Node> } | undefined
  /** Whether it is closed: nothing more is taken on. */
  #closed = false
  /** True while it commits: it ends when that is done. */
  #committing = false
  #end: () => void = () => {}
  readonly #release: () => void
  readonly #pause: Pause

  constructor(core: Core, commit: (transaction: Transaction) => Promise<void>) {
    this.#core = core
    this.#transaction = new Transaction(core.state, core.cache)
    this.#commit = commit
    this.#release = core.hold(core.state.generation)
    this.#pause = pauseIn(core.options.environment)
    this.ended = new Promise((resolve) => (this.#end = resolve))
  }

  get sequence(): Transaction['sequence'] {
    return this.#transaction.sequence
  }

  tree(name: string): TreeWriter | undefined {
    return this.#transaction.tree(name)
  }

  treeNames(prefix?: string): string[] {
    return this.#transaction.treeNames(prefix)
  }

  createTree(name: string, kind: TreeKind, reducer?: ReducerId): TreeWriter {
    return this.#transaction.createTree(name, kind, reducer)
  }

  dropTree(name: string): void {
    this.#transaction.dropTree(name)
  }

  attempt<T>(step: () => T): MaybePromise<T> {
    if (this.#closed) throw transactionEnded()
    const paused = !this.#inStep && !this.#relieving && this.#queue.length === 0 && this.#pause()
    if (paused === undefined) {
      try {
        return this.#step(step)
      } catch (thrown) {
        if (!(thrown instanceof Miss)) throw thrown
      }
    }
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ run: step, resolve: resolve as (value: unknown) => void, reject })
      // Later: a step that has asked for this one (a function given to `update`, say) comes to its end first.
      this.#draining ??= Promise.resolve(paused).then(() => this.#drain())
    })
  }

  relieve(): MaybePromise<void> {
    if (this.#transaction.heldBytes < Math.min(HELD_BYTES_MAX, this.#core.cache.bytesMax / 4)) return
    if (this.#closed) throw transactionEnded()
    if (this.#draining !== undefined) return this.#draining.then(() => this.relieve())
    this.#relieving = true
    // Steps that are asked for meanwhile wait in the queue.
    const relieved = this.#writePages().finally(() => (this.#relieving = false))
    this.#draining = relieved.catch(() => {}).then(() => this.#drain())
    return relieved
  }

  view(): MaybePromise<HeldSnapshot> {
    return this.attempt(() => {
      const { cache } = this.#transaction
      const { store } = this.#core.options
      return new TransactionView(this.#transaction.view(), cache, store, (read) => this.#watch(read))
    })
  }

  async commit(): Promise<void> {
    if (this.#closed) throw transactionEnded()
    this.#closed = true
    this.#committing = true
    try {
      if (this.#draining !== undefined) await this.#draining
      await this.#commit(this.#transaction)
    } finally {
      this.#committing = false
      this.rollback()
    }
  }

  rollback(): void {
    this.#closed = true
    if (this.#committing) return
    const underWay = [...this.#reading]
    if (this.#draining !== undefined) underWay.push(this.#draining)
    if (underWay.length === 0) this.#finish()
    else void Promise.allSettled(underWay).then(() => this.#finish())
  }

  async #writePages(): Promise<void> {
    const core = this.#core
    if (this.#pages === undefined) {
      // A cache of its own: if it rolls back, others will use the ids of its pages.
      const cache = new PageCache<Node>(core.options.store, parseNode, () =>
        Math.min(core.cache.bytesMax, OWN_CACHE_BYTES_MAX),
      )
      this.#pages = { cache, writer: pageWriter(core, cache, core.state, STAGE_BYTES, false) }
    }
    const { cache, writer } = this.#pages
    const trees = await writeTrees(writer, this.#transaction.view().trees)
    await writer.stageAll()
    this.#transaction.relieve(trees, cache, writer)
  }

  #finish(): void {
    this.#transaction.end()
    this.#release()
    this.#end()
  }

  #step<T>(step: () => T): T {
    this.#inStep = true
    try {
      return this.#transaction.step(step)
    } finally {
      this.#inStep = false
    }
  }

  /** The lease is not released before the read ends. */
  #watch<T>(read: () => MaybePromise<T>): MaybePromise<T> {
    if (this.#closed) throw transactionEnded()
    const reading = read()
    if (isPromise(reading)) {
      this.#reading.add(reading)
      const done = (): void => void this.#reading.delete(reading)
      reading.then(done, done)
    }
    return reading
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#pause()
      try {
        await attempt(() => this.#runFirst())
      } catch (error) {
        // What the first one needs could not be had.
        this.#queue.shift()!.reject(error)
      }
    }
    this.#draining = undefined
  }

  #runFirst(): void {
    const { run, resolve, reject } = this.#queue[0]!
    let tell: () => void
    try {
      const value = this.#step(run)
      tell = () => resolve(value)
    } catch (error) {
      if (error instanceof Miss) {
        // What those behind it will miss is fetched with it.
        for (const ahead of this.#queue.slice(1, STEPS_AHEAD_MAX)) this.#transaction.tryOut(ahead.run)
        throw error
      }
      tell = () => reject(error)
    }
    this.#queue.shift()
    tell()
  }
}

/** A view of a transaction. Its pages stay as long as the transaction holds the lease, which it does while something is read. */
class TransactionView extends HeldStateSnapshot {
  readonly #watch: <T>(read: () => MaybePromise<T>) => MaybePromise<T>

  constructor(
    state: State,
    cache: NodeCache,
    store: PageStore,
    watch: <T>(read: () => MaybePromise<T>) => MaybePromise<T>,
  ) {
    super(state, cache, store, () => {})
    this.#watch = watch
  }

  override attempt<T>(read: () => T): MaybePromise<T> {
    return this.#watch(() => super.attempt(read))
  }
}
