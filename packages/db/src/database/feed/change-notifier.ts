/** Converts each commit's changes into events of the public API. */
import type { Key } from '../../base/brand.ts'
import { tellListener } from '../../base/callback.ts'
import { decodeIdKey } from '../../codec/key-encoding.ts'
import { BodyView } from '../../document/body.ts'
import { type Catalog, collectionTrees } from '../../document/catalog.ts'
import type { CommitNotice, KeyValueStore, Snapshot, TreeReader } from '../../kv/key-value-store.ts'

/** The changes of a commit. */
export interface DatabaseChange {
  /** By name of the collection. */
  readonly collections: ReadonlyMap<string, CollectionChange>
  /** False when another handle (a tab, a worker) made the commit. */
  readonly local: boolean
}

/** The changes of a commit in one collection. */
export interface CollectionChange {
  /** The ids of written, deleted and purged documents; undefined if they are too many to list, or not known. */
  readonly ids: readonly string[] | undefined
  /** The collection was dropped. */
  readonly dropped: boolean
}

type Listeners = ReadonlySet<(change: DatabaseChange) => void>

/** The notifier of changes, loaded with the first listener. */
export class ChangeNotifier {
  readonly #store: KeyValueStore
  readonly #catalog: Catalog
  readonly #listeners: Listeners
  readonly #names: ReadonlyMap<number, string>

  /** `names`: of the collections by number, also of those that were dropped since the first listener came. */
  constructor(store: KeyValueStore, catalog: Catalog, listeners: Listeners, names: ReadonlyMap<number, string>) {
    this.#store = store
    this.#catalog = catalog
    this.#listeners = listeners
    this.#names = names
  }

  async tell(notice: CommitNotice): Promise<void> {
    try {
      const collections = await this.#store.read((snapshot) => this.#changesOf(snapshot, notice))
      if (collections.size === 0) return
      for (const listener of this.#listeners) tellListener(() => listener({ collections, local: notice.local }))
    } catch {
      // Closed in between: nobody listens any more.
    }
  }

  #changesOf(snapshot: Snapshot, { trees }: CommitNotice): Map<string, CollectionChange> {
    const changes = new Map<string, CollectionChange>()
    for (const [treeName, { keys }] of trees) {
      const number = Number.parseInt(treeName, 10)
      const name = this.#names.get(number)
      const own = collectionTrees(number)
      if (name === undefined || treeName !== own.bodies) continue
      const bodies = snapshot.tree(treeName)
      if (bodies === undefined) {
        // A collection of that name that was made in its place is another one.
        changes.set(name, { ids: undefined, dropped: this.#catalog.collection(snapshot, name) === undefined })
        continue
      }
      if (keys?.length === 0) continue
      // A purge leaves no body behind that could tell the id, but like every document that comes or goes an id has changed.
      const listed = [own.ids, own.deleted].map((tree) => (trees.has(tree) ? trees.get(tree)!.keys : []))
      const known = keys !== undefined && listed.every((idKeys) => idKeys !== undefined)
      // A document whose id has not changed has another number than its new body, so it is among the rewritten ones.
      const rewritten = known && trees.has(own.sequences) ? idsOfBodies(bodies, keys) : []
      const ids = known ? [...rewritten, ...listed.flat().map((key) => decodeIdKey(key!))] : undefined
      changes.set(name, { ids: ids && [...new Set(ids)].sort(), dropped: false })
    }
    return changes
  }
}

/** Bodies that were replaced are among the keys; they are gone. */
function idsOfBodies(bodies: TreeReader, keys: readonly Key[]): string[] {
  const values = bodies.getMany([...keys].sort())
  return values.flatMap((value) => (value === undefined ? [] : [view.load(value, 0).id]))
}

const view = new BodyView()
