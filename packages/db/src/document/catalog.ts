/**
 * The catalog: which collections there are, with their shapes and indexes.
 *
 * It is one 'inline' tree, so reading it never misses:
 *
 *   collection/<name as WTF-8>   JSON: number, epoch, nextIndexNumber, indexes, settings (those that differ from UNSTORED_SETTINGS), schema
 *   shape/<collection>/<shape>   encoded names (codec/shape.ts)
 *   next                         number of the next collection, as decimal text
 *   version                      random text, replaced by every change of the catalog
 *
 * What was parsed is kept by version, so that an operation only has to compare the version. It is random because a
 * transaction that is rolled back must not leave behind a version that another one can arrive at as well.
 */
import type { Key } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import { corruptBytes, readByteString } from '../codec/bytes.ts'
import { isKnownCollation } from '../codec/registered-collation.ts'
import { decodeIdKey, encodeIdKey, prefixUpperBound } from '../codec/key-encoding.ts'
import { ShapeDictionary, type Shape } from '../codec/shape.ts'
import type { Cursor, Snapshot, TreeReader, TreeWriter, WriteTransaction } from '../kv/key-value-store.ts'
import { REVISIONS_LIMIT_DEFAULT } from './revision.ts'

/** Names of a collection's trees; docs/internals/architecture.md says what they hold. */
interface CollectionTrees {
  readonly bodies: string
  readonly ids: string
  readonly deleted: string
  /** By document number: the sequence number of its body, where that is another number. Stored as `moved`. */
  readonly sequences: string
  /** Trees that, like all that follow, exist only once there is something in them. */
  readonly revisions: string
  /** Bodies of revisions that did not win. Stored as `extra`. */
  readonly otherBodies: string
  readonly conflicts: string
}

/** The settings that can be chosen for a collection. */
export interface CollectionSettings {
  /** The content of revisions that were replaced is kept until it is compacted away. */
  readonly history: boolean
  /** The number of revisions that are remembered, from each leaf up. */
  readonly revisionsLimit: number
}

/** The settings of a new collection. */
export const DEFAULT_SETTINGS: CollectionSettings = { history: false, revisionsLimit: REVISIONS_LIMIT_DEFAULT }

/** The settings of a stored definition that does not name them; part of the file format. */
const UNSTORED_SETTINGS: CollectionSettings = { history: false, revisionsLimit: 1000 }

/** Never changed: a change of the catalog makes a new one. */
export interface CollectionState {
  /** Names the collection's trees; never used again. */
  readonly number: number
  readonly name: string
  /** Random: a collection that was dropped and made again under its name has another one, and so has one in a wiped storage. */
  readonly epoch: string
  readonly shapes: ShapeDictionary
  readonly indexes: readonly IndexDefinition[]
  /** Indexes whose collation this process does not know. It neither reads them nor can keep them up to date. */
  readonly unknownIndexes?: readonly IndexDefinition[] | undefined
  /** The number of the index that is defined next. */
  readonly nextIndexNumber: number
  readonly settings: CollectionSettings
  /** Undefined: version 1, and nothing is being migrated. */
  readonly schema?: SchemaState | undefined
  readonly trees: CollectionTrees
}

export function collectionTrees(number: number): CollectionTrees {
  const tree = (name: string): string => `${number}/${name}`
  return {
    bodies: tree('bodies'),
    ids: tree('ids'),
    deleted: tree('deleted'),
    sequences: tree('moved'),
    revisions: tree('revisions'),
    otherBodies: tree('extra'),
    conflicts: tree('conflicts'),
  }
}

/**
 * The catalog's entry about the version of a collection's schema. It lives here because a collection's state has it; the database layer
 * knows what versions mean.
 */
export interface SchemaState {
  /** The version, 1 or more. The version of every document, except those in `pending` and failures. */
  readonly version: number
  /** Ranges that are not migrated yet, ascending and disjoint; empty when the migration is done. */
  readonly pending: readonly PendingMigration[]
}

/** Bodies whose sequence number is higher than `after`, and at most `upTo`, have the version `from`. */
export interface PendingMigration {
  readonly after: number
  readonly upTo: number
  readonly from: number
}

export const SCHEMA_VERSION_FIRST = 1

/** Documents that could not be migrated: the tree `<collection>/failures`, made with the first of them. */
export function migrationFailuresTree(collectionNumber: number): string {
  return `${collectionNumber}/failures`
}

/** A selector as JSON. */
export type IndexSelector = Readonly<Record<string, unknown>>

export interface TextSettings {
  /** A BCP 47 tag, for finding words and for lower case. */
  readonly language?: string
}

/** One field of an index. */
export interface IndexField {
  /** Dotted path of the field: 'age', 'address.city'; '_id' is the document's id. */
  readonly path: string
  /** Whether it is descending: from the highest value down. */
  readonly descending: boolean
}

export interface IndexDefinition {
  /** Names the index's tree; never used again in the same collection. */
  readonly number: number
  readonly name: string
  readonly fields: readonly IndexField[]
  /** The only field may hold an array: one entry per distinct element. */
  readonly multi: boolean
  /** No two live documents have one key, except where a replication that no guard judges brought them; documents that lack a field have none. */
  readonly unique?: boolean
  /** A selector: only documents that it matches have entries. */
  readonly where?: IndexSelector
  /** How `where` is to be understood (query/ast/parse-selector.ts). */
  readonly dialect?: 'couchdb'
  /** The name of the order of strings in `where` and in the keys of entries (codec/registered-collation.ts); ids keep theirs. */
  readonly collation?: string
  /** The entries are the words of the fields (index/text/text-entries.ts). */
  readonly text?: TextSettings
  /**
   * Undefined: the index is ready. Else it is being built: exactly the bodies whose sequence is at most this have entries.
   */
  readonly builtTo: number | undefined
}

/** The tree that holds the entries of an index: `<collection>/i/<index>`. */
export function indexTreeName(collectionNumber: number, indexNumber: number): string {
  return `${collectionNumber}/i/${indexNumber}`
}

/** Collections of a database. What describes them is always in memory. */
export const COLLECTIONS_MAX = 1000

/** Versions whose parsed states are kept: those of the newest state, of transactions and of held snapshots. No `LruMap`: every page loads this module. */
const VERSIONS_KEPT = 8
/** Dictionaries that extend one another are as slow to search as they are many; then one is made again. */
const SHAPE_FORKS_MAX = 8

/** States by name; undefined: there is no such collection. */
type States = Map<string, CollectionState | undefined>

export class Catalog {
  readonly #randomId: () => string
  readonly #versions = new Map<string, States>()
  readonly #shapeForks = new WeakMap<ShapeDictionary, number>()
  #lastValue: Uint8Array | undefined
  #lastStates: States = new Map()

  /** `randomId` as in base/environment.ts. */
  constructor(randomId: () => string) {
    this.#randomId = randomId
  }

  /** The collection in this snapshot or transaction, or undefined. */
  collection(snapshot: Snapshot, name: string): CollectionState | undefined {
    const tree = snapshot.tree(CATALOG)
    if (tree === undefined) return undefined
    const states = this.#statesOf(tree)
    let state = states.get(name)
    if (state === undefined && !states.has(name)) {
      state = parseCollection(tree, name)
      states.set(name, state)
    }
    return state
  }

  names(snapshot: Snapshot): string[] {
    const names: string[] = []
    const cursor = prefixCursor(snapshot.tree(CATALOG), COLLECTION)
    while (cursor?.next() === true) names.push(decodeIdKey(cursor.key.slice(COLLECTION.length) as Key))
    return names
  }

  /**
   * As `collection`, for a write of documents. Indexes with an unknown collation can't be maintained, so they are
   * dropped. A later declaration builds them again.
   */
  collectionToWrite(transaction: WriteTransaction, name: string): CollectionState | undefined {
    const state = this.collection(transaction, name)
    if (state?.unknownIndexes === undefined) return state
    for (const { number } of state.unknownIndexes) transaction.dropTree(indexTreeName(state.number, number))
    return this.change(transaction, state, { unknownIndexes: undefined })
  }

  /** No collection has that name yet. */
  create(transaction: WriteTransaction, name: string, chosen: Partial<CollectionSettings> = {}): CollectionState {
    const tree = transaction.tree(CATALOG) ?? transaction.createTree(CATALOG, 'inline')
    if (tree.count(rangeOf(COLLECTION)) >= COLLECTIONS_MAX) {
      throw new PannierError('PANNIER_LIMIT_EXCEEDED', `A database has at most ${COLLECTIONS_MAX} collections.`)
    }
    const next = tree.get(NEXT)
    const number = next === undefined ? 1 : Number(readByteString(next, 0, next.length))
    tree.put(NEXT, new TextEncoder().encode(String(number + 1)))
    const trees = collectionTrees(number)
    transaction.createTree(trees.bodies, 'sequence')
    transaction.createTree(trees.ids, 'ordered')
    transaction.createTree(trees.deleted, 'ordered')
    transaction.createTree(trees.sequences, 'ordered')
    const settings = { ...DEFAULT_SETTINGS, ...chosen }
    const epoch = this.#randomId()
    const state = {
      number,
      name,
      epoch,
      shapes: new ShapeDictionary(),
      indexes: [],
      nextIndexNumber: 1,
      settings,
      trees,
    }
    this.#save(tree, state)
    return state
  }

  /** Forgets the collection; `dropCollection` drops everything in it before. */
  forget(tree: TreeWriter, name: string): void {
    tree.remove(collectionKey(name))
    this.#replaceVersion(tree, name, undefined)
  }

  /** The collection with another definition. */
  change(
    transaction: WriteTransaction,
    state: CollectionState,
    changes: Partial<Omit<CollectionState, 'number' | 'name' | 'epoch' | 'shapes' | 'trees'>>,
  ): CollectionState {
    const changed = { ...state, ...changes }
    this.#save(transaction.tree(CATALOG)!, changed)
    return changed
  }

  /** Takes up shapes that the collection does not have. */
  addShapes(transaction: WriteTransaction, state: CollectionState, added: readonly Shape[]): CollectionState {
    const tree = transaction.tree(CATALOG)!
    const forks = this.#shapeForks.get(state.shapes) ?? 0
    const shapes = forks < SHAPE_FORKS_MAX ? state.shapes.fork() : parseShapes(tree, state.number)
    if (forks < SHAPE_FORKS_MAX) this.#shapeForks.set(shapes, forks + 1)
    for (const { id, encoded } of added) {
      shapes.add(id, encoded)
      tree.insert((shapePrefix(state.number) + id) as Key, encoded)
    }
    const changed = { ...state, shapes }
    this.#replaceVersion(tree, state.name, changed)
    return changed
  }

  #save(tree: TreeWriter, state: CollectionState): void {
    const { number, epoch, nextIndexNumber, settings, schema, unknownIndexes = [] } = state
    const indexes = [...state.indexes, ...unknownIndexes]
    const stored = { number, epoch, nextIndexNumber, indexes, ...chosenSettings(settings), schema }
    tree.put(collectionKey(state.name), new TextEncoder().encode(JSON.stringify(stored)))
    this.#replaceVersion(tree, state.name, state)
  }

  #replaceVersion(tree: TreeWriter, name: string, state: CollectionState | undefined): void {
    const states = new Map(tree.get(VERSION) === undefined ? [] : this.#statesOf(tree))
    states.set(name, state)
    const version = this.#randomId()
    tree.put(VERSION, new TextEncoder().encode(version))
    this.#keep(version, states)
  }

  #statesOf(tree: TreeReader): States {
    const value = tree.get(VERSION)
    if (value === undefined) throw corruptBytes('the catalog has no version')
    if (value === this.#lastValue) return this.#lastStates
    const version = readByteString(value, 0, value.length)
    const states = this.#versions.get(version) ?? this.#keep(version, new Map())
    this.#lastValue = value
    this.#lastStates = states
    return states
  }

  #keep(version: string, states: States): States {
    this.#versions.set(version, states)
    if (this.#versions.size > VERSIONS_KEPT) this.#versions.delete(this.#versions.keys().next().value!)
    return states
  }
}

export const CATALOG = 'catalog'
const COLLECTION = 'collection/'
const NEXT = 'next' as Key
const VERSION = 'version' as Key

function collectionKey(name: string): Key {
  return (COLLECTION + encodeIdKey(name)) as Key
}

/** The name of the collection that an entry of the catalog defines; undefined for other entries. */
export function definedName(key: Key): string | undefined {
  return key.startsWith(COLLECTION) ? decodeIdKey(key.slice(COLLECTION.length) as Key) : undefined
}

export function shapePrefix(collectionNumber: number): string {
  return `shape/${collectionNumber}/`
}

function rangeOf(prefix: string): { gte: Key; lt: Key | undefined } {
  return { gte: prefix as Key, lt: prefixUpperBound(prefix) }
}

export function prefixCursor(tree: TreeReader | undefined, prefix: string): Cursor | undefined {
  return tree?.cursor(rangeOf(prefix))
}

function parseCollection(tree: TreeReader, name: string): CollectionState | undefined {
  const value = tree.get(collectionKey(name))
  if (value === undefined) return undefined
  const stored = JSON.parse(new TextDecoder().decode(value)) as Pick<
    CollectionState,
    'number' | 'nextIndexNumber' | 'indexes' | 'schema'
  > & { readonly epoch?: string; readonly settings?: Partial<CollectionSettings> }
  // JSON leaves out a builtTo that is undefined.
  const all = stored.indexes.map((index) => ({ ...index, builtTo: index.builtTo }))
  const indexes = all.filter(({ collation }) => isKnownCollation(collation))
  const unknownIndexes = indexes.length === all.length ? undefined : all.filter((index) => !indexes.includes(index))
  const settings = { ...UNSTORED_SETTINGS, ...stored.settings }
  // One that was made before there were epochs keeps its number for one.
  const { number, epoch = String(number) } = stored
  const shapes = parseShapes(tree, number)
  return { ...stored, epoch, indexes, unknownIndexes, settings, name, shapes, trees: collectionTrees(number) }
}

/** The settings as a definition holds them. */
function chosenSettings(settings: CollectionSettings): { readonly settings?: Partial<CollectionSettings> } {
  const chosen = Object.entries(settings).filter(
    ([name, value]) => value !== UNSTORED_SETTINGS[name as keyof CollectionSettings],
  )
  return chosen.length === 0 ? {} : { settings: Object.fromEntries(chosen) }
}

function parseShapes(tree: TreeReader, collectionNumber: number): ShapeDictionary {
  const shapes = new ShapeDictionary()
  const prefix = shapePrefix(collectionNumber)
  const cursor = prefixCursor(tree, prefix)!
  while (cursor.next()) shapes.add(Number(cursor.key.slice(prefix.length)), cursor.value)
  return shapes
}
