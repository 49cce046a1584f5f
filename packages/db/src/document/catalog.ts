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
import { ShapeDictionary } from '../codec/shape.ts'
import type { Shape } from '../codec/shape.ts'
import type { Cursor, Snapshot, TreeReader, TreeWriter, WriteTransaction } from '../kv/key-value-store.ts'
import {
  indexTreeName,
  type IndexDefinition,
  type SchemaState,
  collectionTrees,
  DEFAULT_SETTINGS,
  UNSTORED_SETTINGS,
  type CollectionSettings,
  type CollectionState,
} from './collection-state.ts'

/** Collections of a database. What describes them is always in memory. */
export const COLLECTIONS_MAX = 1000

/** Versions whose parsed states are kept: those of the newest state, of transactions and of held snapshots. */
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
    return this.setIndexes(transaction, { ...state, unknownIndexes: undefined }, state.indexes)
  }

  /** No collection has that name yet. */
  create(transaction: WriteTransaction, name: string, chosen: Partial<CollectionSettings> = {}): CollectionState {
    const tree = transaction.tree(CATALOG) ?? transaction.createTree(CATALOG, 'inline')
    if (tree.count(rangeOf(COLLECTION)) >= COLLECTIONS_MAX) {
      throw new PannierError('PANNIER_LIMIT', `A database has at most ${COLLECTIONS_MAX} collections.`)
    }
    const next = tree.get(NEXT)
    const number = next === undefined ? 1 : Number(readByteString(next, 0, next.length))
    tree.put(NEXT, toBytes(String(number + 1)))
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

  /** Forgets the collection with everything in it. */
  drop(transaction: WriteTransaction, state: CollectionState): void {
    for (const name of transaction.treeNames(`${state.number}/`)) transaction.dropTree(name)
    const tree = transaction.tree(CATALOG)!
    const cursor = prefixCursor(tree, shapePrefix(state.number))!
    const keys: Key[] = []
    while (cursor.next()) keys.push(cursor.key)
    for (const key of keys) tree.remove(key)
    tree.remove(collectionKey(state.name))
    this.#replaceVersion(tree, state.name, undefined)
  }

  setIndexes(
    transaction: WriteTransaction,
    state: CollectionState,
    indexes: readonly IndexDefinition[],
    nextIndexNumber: number = state.nextIndexNumber,
  ): CollectionState {
    const changed = { ...state, indexes, nextIndexNumber }
    this.#save(transaction.tree(CATALOG)!, changed)
    return changed
  }

  setSchema(transaction: WriteTransaction, state: CollectionState, schema: SchemaState): CollectionState {
    const changed = { ...state, schema }
    this.#save(transaction.tree(CATALOG)!, changed)
    return changed
  }

  setSettings(
    transaction: WriteTransaction,
    state: CollectionState,
    chosen: Partial<CollectionSettings>,
  ): CollectionState {
    const changed = { ...state, settings: { ...state.settings, ...chosen } }
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
    tree.put(VERSION, toBytes(version))
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

function shapePrefix(collectionNumber: number): string {
  return `shape/${collectionNumber}/`
}

function rangeOf(prefix: string): { gte: Key; lt: Key | undefined } {
  return { gte: prefix as Key, lt: prefixUpperBound(prefix) }
}

function prefixCursor(tree: TreeReader | undefined, prefix: string): Cursor | undefined {
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

/** What a definition holds of the settings. */
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

/** ASCII. */
function toBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
