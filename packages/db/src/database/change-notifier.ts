/** Tells listeners in words of the public API what each commit changed. */
import { BodyView } from '../document/body.ts'
import type { Catalog } from '../document/catalog.ts'
import { collectionTrees } from '../document/collection-state.ts'
import type { CommitNotice, KeyValueStore, Snapshot } from '../kv/key-value-store.ts'

/** What a commit changed. */
export interface DatabaseChange {
  /** By name of the collection. */
  readonly collections: ReadonlyMap<string, CollectionChange>
  /** False when another handle (a tab, a worker) made the commit. */
  readonly local: boolean
}

export interface CollectionChange {
  /** Of the documents that were written or deleted; undefined if they are too many to list, or not known. */
  readonly ids: readonly string[] | undefined
  /** The collection was dropped. */
  readonly dropped: boolean
}

export class ChangeNotifier {
  readonly #store: KeyValueStore
  readonly #catalog: Catalog
  readonly #listeners = new Set<(change: DatabaseChange) => void>()
  /** Names of the collections by number, so that one that was dropped still has one. */
  readonly #names = new Map<number, string>()
  /** Ends when the commits before were told; keeps their order. */
  #told: Promise<void> = Promise.resolve()
  #stop: (() => void) | undefined

  constructor(store: KeyValueStore, catalog: Catalog) {
    this.#store = store
    this.#catalog = catalog
  }

  add(listener: (change: DatabaseChange) => void): () => void {
    // A function of its own, so that one listener that is added twice is called twice.
    const own = (change: DatabaseChange): void => listener(change)
    this.#listeners.add(own)
    if (this.#stop === undefined) {
      this.#told = this.#told.then(() => this.#learnNames())
      this.#stop = this.#store.onCommit((notice) => {
        this.#told = this.#told.then(() => this.#tell(notice))
      })
    }
    return () => {
      this.#listeners.delete(own)
      if (this.#listeners.size === 0) this.close()
    }
  }

  close(): void {
    this.#stop?.()
    this.#stop = undefined
    this.#listeners.clear()
  }

  async #tell(notice: CommitNotice): Promise<void> {
    try {
      const collections = await this.#store.read((snapshot) => this.#changesOf(snapshot, notice))
      if (collections.size === 0) return
      for (const listener of this.#listeners) callListener(listener, { collections, local: notice.local })
    } catch {
      // Closed in between: nobody listens any more.
    }
  }

  async #learnNames(): Promise<void> {
    try {
      await this.#store.read((snapshot) => this.#readNames(snapshot))
    } catch {
      // Closed in between.
    }
  }

  #readNames(snapshot: Snapshot): void {
    for (const name of this.#catalog.names(snapshot))
      this.#names.set(this.#catalog.collection(snapshot, name)!.number, name)
  }

  #changesOf(snapshot: Snapshot, { trees }: CommitNotice): Map<string, CollectionChange> {
    this.#readNames(snapshot)
    const changes = new Map<string, CollectionChange>()
    for (const [treeName, { keys }] of trees) {
      const number = Number.parseInt(treeName, 10)
      const name = this.#names.get(number)
      if (name === undefined || treeName !== collectionTrees(number).bodies) continue
      const bodies = snapshot.tree(treeName)
      if (bodies === undefined) {
        // A collection of that name that was made in its place is another one.
        changes.set(name, { ids: undefined, dropped: this.#catalog.collection(snapshot, name) === undefined })
        continue
      }
      // Bodies that were replaced are among the keys; they are gone.
      const values = keys && bodies.getMany([...keys].sort())
      const ids = values?.flatMap((value) => (value === undefined ? [] : [view.load(value, 0).id]))
      // A purge leaves no body behind that could tell the id.
      const known = ids === undefined || ids.length > 0 ? ids : undefined
      if (keys === undefined || keys.length > 0) changes.set(name, { ids: known, dropped: false })
    }
    return changes
  }
}

const view = new BodyView()

/** A listener that throws must not keep others from hearing. */
function callListener(listener: (change: DatabaseChange) => void, change: DatabaseChange): void {
  try {
    listener(change)
  } catch (error) {
    // As for event listeners, the error goes to whoever watches for uncaught ones.
    queueMicrotask(() => {
      throw error
    })
  }
}
