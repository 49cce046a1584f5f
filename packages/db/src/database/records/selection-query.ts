/** Queries by selections, for the backend. docs/internals/backend-contract.md is the contract. */
import type { StoredDocument } from '../../document/document-reader.ts'
import type { Snapshot } from '../../kv/key-value-store.ts'
import type { EmptyValues } from '../../query/aggregate/specification.ts'
import type { SearchedText } from '../../query/ast/normalise.ts'
import { Query } from '../../query/query.ts'
import { CollectionRelations } from '../../relations/collection-relations.ts'
import { RelationGraph } from '../../relations/relation-graph.ts'
import { conditionOf } from '../../relations/selection/selection-condition.ts'
import { SelectionRelations } from '../../relations/selection/selection-relations.ts'
import type { Selection } from '../../relations/selection/selection.ts'
import type { TransactionCollection } from '../collection/collection-operations.ts'
import { GuardReader } from './guard-reader.ts'

/** Options of `selectionQuery`. */
export interface SelectionOptions {
  /** The library's name of a collection that the selection names; the same by default. */
  readonly nameOf?: (collection: string) => string
  /** Where `search` looks in the library's collection. */
  readonly textOf?: (collection: string) => SearchedText
  /** For a selection that has too many documents: tells which are meant. It is synchronous, and may be asked again. */
  readonly residual?: (document: StoredDocument, reader: GuardReader) => boolean
  /** By paths of a sort, of groups and aggregates: what a missing or null value counts as. */
  readonly empty?: EmptyValues
}

/** The query for all documents that a selection has. Its paths name documents' fields, so `id` is `_id` in a sort. */
export function selectionQuery<T extends object>(
  collection: Pick<TransactionCollection<T>, 'name'>,
  selection: Selection,
  { nameOf = (collection) => collection, textOf, residual, empty = new Map() }: SelectionOptions = {},
): Query<StoredDocument> {
  // Published declarations do not have it.
  const { name, access } = collection as TransactionCollection<T>
  const { relations } = access
  const graph = relations instanceof CollectionRelations ? relations.graph : new RelationGraph([])
  const isMany = (from: string, field: string): boolean =>
    graph.relationsOf(from).find((relation) => relation.field === field)?.many ?? true
  const condition = conditionOf(selection, name, { nameOf, isMany, textOf })
  const { catalog } = access.writing
  const tested = (document: StoredDocument, snapshot: Snapshot): boolean =>
    residual!(document, new GuardReader(snapshot, catalog))
  const meaning = { residual: residual && tested, empty }
  return new Query<StoredDocument>(
    {
      open: (related) => access.openSource(related),
      loadHost: undefined,
      relations: new SelectionRelations(graph, name, meaning),
    },
    { condition, sort: [], skip: 0, limit: Infinity, fields: undefined },
    undefined,
  )
}
