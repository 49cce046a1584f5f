/** Relations that are data: the backend declares, changes and removes them while the database is open. */
import { parseIndexInput, sameIndex, type IndexDeclaration } from '../../index/index-definition.ts'
import { RelationGraph, type OnDelete, type Relation } from '../../relations/relation-graph.ts'
import type { Collection } from '../collection/collection.ts'
import type { JsonObject } from '../collection/document-types.ts'
import { RelatedWrites } from '../collection/related-writes.ts'
import type { DatabaseContext } from '../database-context.ts'
import type { Database } from '../database.ts'

/** A relation of records. */
export interface RecordRelation {
  /** The related collection; several if an id is of one of them. No query follows such a relation. */
  readonly to: string | readonly string[]
  /** The field holds an array of ids. False: it holds one id, or the empty text. */
  readonly many: boolean
  /** A record whose last id goes is deleted. */
  readonly cascade: boolean
  /** A delete is refused that would take the last id of a record. */
  readonly required: boolean
  /** Is called with a record that loses an id. */
  readonly touch?: (record: JsonObject) => void
}

/** By collection, then by field. */
export type RecordRelations = Readonly<Record<string, Readonly<Record<string, RecordRelation>>>>

/** The names of the indexes that relations have. */
const INDEX_PREFIX = 'relation '

/** Changes of one database take turns. */
const underWay = new WeakMap<Database, Promise<void>>()

/**
 * Replaces all relations of the database. Queries, deletes and populated rows follow the new ones at once; what is under way keeps
 * those that it began with. Resolves when their indexes are built. Until then deletes wait that need one.
 */
export function relateRecords(database: Database, relations: RecordRelations): Promise<void> {
  const before = underWay.get(database) ?? Promise.resolve()
  const change = before.catch(() => {}).then(() => relate(database, relations))
  underWay.set(database, change)
  return change
}

async function relate(database: Database, inputs: RecordRelations): Promise<void> {
  const { context } = database
  const relations = Object.entries(inputs).flatMap(([from, fields]) =>
    Object.entries(fields).flatMap(([field, input]) =>
      [input.to].flat().map((to) => relationOf(from, field, to, input)),
    ),
  )
  const graph = new RelationGraph(relations)
  const collectionOf = (name: string): Collection<JsonObject> => database.collection<JsonObject>(name)
  const related = context.relations as RelatedWrites | undefined
  const names = new Set([...(await indexedNames(context)), ...relations.map(({ from }) => from)])
  for (const { from } of related?.graph.relations ?? []) names.add(from)
  if (related === undefined) context.relations = new RelatedWrites(context, graph, collectionOf)
  else related.graph = graph
  const collections = Array.from(names, collectionOf)
  for (const collection of collections) await index(collection, graph.relationsOf(collection.name))
  for (const collection of collections) await collection.ready()
}

/** The collections that have indexes of relations. */
async function indexedNames({ store, catalog }: DatabaseContext): Promise<readonly string[]> {
  return await store.read((snapshot) =>
    catalog
      .names(snapshot)
      .filter((name) => catalog.collection(snapshot, name)!.indexes.some((index) => isOfRelation(index))),
  )
}

function isOfRelation({ name }: Pick<IndexDeclaration, 'name'>): boolean {
  return name.startsWith(INDEX_PREFIX)
}

function relationOf(from: string, field: string, to: string, input: RecordRelation): Relation {
  const { many, cascade, required, touch } = input
  const onDelete: OnDelete = cascade ? 'cascade' : required ? 'restrict' : 'unset'
  return { from, field, to, many, check: false, onDelete, ofRecords: true, touch }
}

/** Drops indexes of relations that are gone or have changed, and declares those that are missing. */
async function index(collection: Collection<JsonObject>, relations: readonly Relation[]): Promise<void> {
  const fields = new Map(relations.map(({ field, many }) => [field, many]))
  const indexes = Array.from(fields, ([on, multi]) => ({ on, multi, name: INDEX_PREFIX + on }))
  const wanted = indexes.map(parseIndexInput)
  const isWanted = (known: IndexDeclaration): boolean =>
    wanted.some((one) => one.name === known.name && sameIndex(one, known))
  for (const known of [...(await collection.indexes()), ...collection.declarations.indexes.values()])
    if (isOfRelation(known) && !isWanted(known)) await collection.dropIndex(known.name)
  if (wanted.length > 0) collection.declarations.declare({ indexes })
}
