/**
 * Reads what commits have changed, once for all live queries of a database, and passes it to them by collection. Loaded
 * with the first live query; listens to commits while there is one.
 *
 * It reads the changes of all commits so far together, in a state with exactly these commits. So no query ever shows a
 * part of a commit.
 */
import type { Key } from '../../base/brand.ts'
import { andThen, isPromise, type MaybePromise } from '../../base/async.ts'
import { decodeIdKey } from '../../codec/key-encoding.ts'
import { BodyView } from '../../document/body.ts'
import { indexTreeName, type CollectionState } from '../../document/catalog.ts'
import { DocumentReader } from '../../document/document-reader.ts'
import type { CommitNotice, HeldSnapshot, KeyValueStore, Snapshot } from '../../kv/key-value-store.ts'
import { CollectionWatch } from '../../query/live/collection-watch.ts'
import { NEWS_MAX } from '../../query/live/followed-rows.ts'
import type { LiveRun } from '../../query/live/live-run.ts'
import type { ChangedEntries } from '../../query/live/held-count.ts'
import type { ChangedDocument } from '../../query/query-run.ts'
import type { DatabaseContext } from '../database-context.ts'
import type { CollectionSchema } from '../schema/collection-schema.ts'

/** Documents of several commits that are read one by one; with more, queries read their rows again. */
const CHANGES_MAX = 10_000

/** The effect of a commit on a collection: nothing, anything, or changes of these documents. */
type Happened = 'nothing' | 'anything' | Changes

interface Changes {
  readonly documents: readonly ChangedDocument[]
  readonly entries: ChangedEntries
}

interface Watched {
  readonly name: string
  readonly schema: CollectionSchema
  readonly watch: CollectionWatch
  /** The number of that collection at the last look; 0: it does not exist. */
  number: number
}

const watchers = new WeakMap<KeyValueStore, LiveWatcher>()

/** The only watch of this collection. */
export function watchCollection(context: DatabaseContext, name: string, schema: CollectionSchema): CollectionWatch {
  let watcher = watchers.get(context.store)
  if (watcher === undefined) {
    watcher = new LiveWatcher(context)
    watchers.set(context.store, watcher)
  }
  return watcher.watch(name, schema)
}

/** The live queries of a database at work, with the names of their collections. */
export function liveRunsOf({ store }: DatabaseContext): readonly (readonly [collection: string, run: LiveRun])[] {
  const active = watchers.get(store)?.active ?? []
  return [...active].flatMap(({ name, watch }) => Array.from(watch.runs, (run) => [name, run] as const))
}

class LiveWatcher {
  readonly #context: DatabaseContext
  readonly #watched = new Map<string, Watched>()
  /** Watched collections that have queries. */
  readonly active: Set<Watched> = new Set()
  #notices: CommitNotice[] = []
  #working = false
  /** The state at the last commit that was announced: what documents were before the next one. Only while a watch is followed. */
  #before: HeldSnapshot | undefined
  #unlisten: (() => void) | undefined

  constructor(context: DatabaseContext) {
    this.#context = context
    context.closing.addEventListener('abort', () => {
      for (const { watch } of this.active) watch.close(context.closing.reason)
      this.#keep(undefined)
    })
  }

  watch(name: string, schema: CollectionSchema): CollectionWatch {
    let watched = this.#watched.get(name)
    if (watched === undefined) {
      const { closing, accessOf } = this.#context
      const watch = new CollectionWatch({
        name,
        closing,
        onActive: () => this.#activate(watched!),
        onFollow: () => this.#follow(),
        onIdle: () => this.#retire(watched!),
        other: (related) => this.watch(related, accessOf(related).writing.schema),
      })
      watched = { name, schema, number: 0, watch }
      this.#watched.set(name, watched)
    }
    return watched.watch
  }

  #activate(watched: Watched): void {
    const { store, catalog, closing } = this.#context
    if (closing.aborted) return
    this.active.add(watched)
    this.#unlisten ??= store.onCommit((notice) => {
      this.#notices.push(notice)
      if (!this.#working) void this.#work()
    })
    const snapshot = store.snapshot()
    watched.number = catalog.collection(snapshot, watched.name)?.number ?? 0
    watched.watch.sequence = this.#isUpToDate ? snapshot.sequence : -1
    snapshot.release()
  }

  #follow(): void {
    if (this.#before === undefined && this.#isUpToDate) this.#keep(this.#snapshot())
  }

  /** All commits that there are were announced. */
  get #isUpToDate(): boolean {
    return !this.#working && this.#notices.length === 0
  }

  #keep(snapshot: HeldSnapshot | undefined): void {
    this.#before?.release()
    this.#before = snapshot
  }

  #retire(watched: Watched): void {
    this.active.delete(watched)
    if (!this.#isFollowed) this.#keep(undefined)
    if (this.active.size > 0) return
    this.#unlisten?.()
    this.#unlisten = undefined
    this.#notices = []
  }

  async #work(): Promise<void> {
    this.#working = true
    // Commits that are announced together are all in the newest state from the first event on.
    await Promise.resolve()
    while (this.#notices.length > 0) {
      const notices = this.#notices
      this.#notices = []
      const snapshot = this.#snapshot()
      if (snapshot === undefined) break
      try {
        const reading = snapshot.attempt(() => this.#read(snapshot, notices))
        const happened = andThen(reading, (happenings) => this.#withBefore(happenings))
        this.#deliver(snapshot, isPromise(happened) ? await happened : happened)
      } catch {
        // Whatever kept it from being read, the queries will find out when they read their rows.
        for (const { watch } of this.active) {
          watch.sequence = snapshot.sequence
          watch.invalidate(snapshot.sequence)
          watch.notify()
        }
      } finally {
        if (this.#isFollowed) this.#keep(snapshot)
        else snapshot.release()
      }
    }
    this.#working = false
  }

  get #isFollowed(): boolean {
    return [...this.active].some(({ watch }) => watch.isFollowed)
  }

  /** Where a watch is followed, with what the documents were before. */
  #withBefore(happenings: Map<Watched, Happened>): MaybePromise<Map<Watched, Happened>> {
    const before = this.#before
    const isWanted = ([{ watch }, happened]: [Watched, Happened]): boolean =>
      watch.isFollowed && typeof happened === 'object' && happened.documents.length <= NEWS_MAX
    const wanted = [...happenings].filter(isWanted) as [Watched, Changes][]
    if (before === undefined)
      return new Map([...happenings, ...wanted.map(([watched]) => [watched, 'anything'] as const)])
    return before.attempt(() => {
      const changes = wanted.map(([watched, { documents, entries }]): [Watched, Changes] => {
        const state = this.#context.catalog.collection(before, watched.name)
        return [watched, { documents: withBefore(before, state, documents), entries }]
      })
      return new Map<Watched, Happened>([...happenings, ...changes])
    })
  }

  #snapshot(): HeldSnapshot | undefined {
    return this.#context.closing.aborted ? undefined : this.#context.store.snapshot()
  }

  #read(snapshot: Snapshot, notices: readonly CommitNotice[]): Map<Watched, Happened> {
    return new Map([...this.active].map((watched) => [watched, this.#happened(snapshot, watched, notices)]))
  }

  #happened(snapshot: Snapshot, { name, number, schema }: Watched, notices: readonly CommitNotice[]): Happened {
    const state = this.#context.catalog.collection(snapshot, name)
    // One that is new was empty before: its notice has all there is.
    if (number !== 0 && state?.number !== number) return 'anything'
    if (state === undefined) return 'nothing'
    const changed = changedKeys(state, notices)
    if (changed === undefined) return 'anything'
    if (changed.bodies.size === 0 && changed.ids.size === 0) return 'nothing'
    // Rows must not be shown before they are migrated, and reading them waits for that.
    if (schema.version !== undefined && schema.needsMigration(state, false)) return 'anything'
    return {
      documents: changedDocuments(new DocumentReader(snapshot, state), changed),
      entries: changedEntries(state, notices),
    }
  }

  #deliver(snapshot: Snapshot, happenings: ReadonlyMap<Watched, Happened>): void {
    const { sequence } = snapshot
    for (const [watched, happened] of happenings) {
      const { watch, name } = watched
      watched.number = this.#context.catalog.collection(snapshot, name)?.number ?? 0
      watch.collection = watched.number
      watch.sequence = sequence
      if (happened === 'anything') watch.invalidate(sequence)
      else if (happened !== 'nothing') watch.apply(sequence, happened.documents, happened.entries)
    }
    for (const { watch } of happenings.keys()) watch.notify()
  }
}

interface ChangedKeys {
  readonly bodies: ReadonlySet<Key>
  readonly ids: ReadonlySet<Key>
}

/** Undefined: it is not known which, or they are too many. */
function changedKeys({ trees }: CollectionState, notices: readonly CommitNotice[]): ChangedKeys | undefined {
  const changed = { bodies: new Set<Key>(), ids: new Set<Key>() }
  for (const notice of notices) {
    for (const tree of ['bodies', 'ids'] as const) {
      const change = notice.trees.get(trees[tree])
      if (change === undefined) continue
      if (change.keys === undefined) return undefined
      for (const key of change.keys) changed[tree].add(key)
    }
  }
  return changed.bodies.size > 2 * CHANGES_MAX ? undefined : changed
}

/** Nothing is known about a dropped index. */
function changedEntries({ number, trees, indexes }: CollectionState, notices: readonly CommitNotice[]): ChangedEntries {
  return (index) => {
    if (index !== undefined && !indexes.some((one) => one.number === index && one.builtTo === undefined))
      return undefined
    const tree = index === undefined ? trees.ids : indexTreeName(number, index)
    const keys: Key[] = []
    for (const notice of notices) {
      const change = notice.trees.get(tree)
      if (change === undefined) continue
      if (change.keys === undefined) return undefined
      for (const key of change.keys) keys.push(key)
    }
    return keys
  }
}

/** The state: of the collection, before. */
function withBefore(
  before: Snapshot,
  state: CollectionState | undefined,
  documents: readonly ChangedDocument[],
): ChangedDocument[] {
  if (state === undefined) return [...documents]
  const reader = new DocumentReader(before, state)
  const bodies = reader.getMany(documents.map(({ id }) => id))
  return documents.map((changed, at) => ({ ...changed, before: bodies[at] && reader.decode(bodies[at]) }))
}

/** Every document that was written has a body under a new key; one that was purged has only lost its id. */
function changedDocuments(reader: DocumentReader, { bodies, ids }: ChangedKeys): ChangedDocument[] {
  const view = new BodyView()
  const changed = new Map<string, ChangedDocument>()
  for (const bytes of reader.bodies.getMany([...bodies].sort())) {
    // What was replaced has no body any more.
    if (bytes === undefined) continue
    const { id, deleted } = view.load(bytes, 0)
    changed.set(id, { id, document: deleted ? undefined : reader.decode(view) })
  }
  for (const key of ids) {
    const id = decodeIdKey(key)
    if (!changed.has(id)) changed.set(id, { id, document: undefined })
  }
  return [...changed.values()]
}
