/** Stored documents as rules read them. */
import type { FoundRecords, RuleRecord, RuleRecords, Schema } from '@pannier/rules'
import { hasSearched, parseSearch, wordsOf } from 'pannier/internal'
import { recordsName, type Definition, type ViewDefinition } from '../definitions/definition.ts'
import { searchedText } from '../definitions/library-index.ts'
import type { JsonObject } from '../gateway/documents.ts'

/** Where the records of a rule come from: a guard's reader, or that of a snapshot. The names are those of the library. */
interface DocumentReads {
  get(collection: string, id: string): JsonObject | undefined
  via(collection: string, field: string, id: string): readonly JsonObject[]
  all(collection: string): readonly JsonObject[]
}

/** The methods of `Definitions` that rules need. */
export interface KnownDefinitions {
  /** By its name, in any case, or by its id. */
  find(nameOrId: string): Definition | undefined
  /** All definitions, in no order. */
  all(): readonly Definition[]
  /** The schema of all definitions. */
  readonly schema: Schema
}

/** A document as a rule reads it: with `id`. */
export function ruleRecord(document: JsonObject): RuleRecord {
  return { ...document, id: document['_id'] }
}

/** The rows of a view, in the form of documents. */
type RowsOfView = (view: ViewDefinition) => readonly JsonObject[]

/** Records for rules, in the documents of a reader and in the rows of views. An unknown collection has no records. */
export function ruleRecords(definitions: KnownDefinitions, reader: DocumentReads, rowsOfView: RowsOfView): RuleRecords {
  const read = <T>(
    collection: string,
    none: T,
    stored: (name: string) => T,
    view: (rows: readonly JsonObject[]) => T,
  ) => {
    const definition = definitions.find(collection)
    if (definition === undefined) return none
    return definition.type === 'view' ? view(rowsOfView(definition)) : stored(recordsName(definition))
  }
  const found = (documents: readonly JsonObject[]): FoundRecords => ({
    records: documents.map(ruleRecord),
    isComplete: true,
  })
  return {
    get: (collection, id) => {
      const document = read<JsonObject | undefined>(
        collection,
        undefined,
        (name) => reader.get(name, id),
        (rows) => rowsBy(rows, '_id').get(id)?.[0],
      )
      return document === undefined ? null : ruleRecord(document)
    },
    via: (collection, field, id) =>
      found(
        read<readonly JsonObject[]>(
          collection,
          [],
          (name) => reader.via(name, field, id),
          (rows) => rowsBy(rows, field).get(id) ?? [],
        ),
      ),
    all: (collection) =>
      found(
        read<readonly JsonObject[]>(
          collection,
          [],
          (name) => reader.all(name),
          (rows) => rows,
        ),
      ),
    finds: (collection, record, words) => {
      const definition = definitions.find(collection)
      return definition !== undefined && hasSearched(parseSearch(words, undefined), wordsIn(definition, record))
    },
  }
}

type Words = ReturnType<typeof wordsOf>

const knownWords = new WeakMap<RuleRecord, Readonly<{ definition: Definition; words: Words }>>()

/** Many rules may search one record, as when a change meets the filters of subscriptions. */
function wordsIn(definition: Definition, record: RuleRecord): Words {
  const known = knownWords.get(record)
  if (known?.definition === definition) return known.words
  const { paths } = searchedText(definition)
  const words = wordsOf(
    paths.map((name) => record[name]),
    undefined,
  )
  knownWords.set(record, { definition, words })
  return words
}

const rowIndexes = new WeakMap<readonly JsonObject[], Map<string, ReadonlyMap<unknown, readonly JsonObject[]>>>()

/** The rows of a view by the values of a field, or by the elements of its lists. Made once. */
export function rowsBy(rows: readonly JsonObject[], field: string): ReadonlyMap<unknown, readonly JsonObject[]> {
  const known = rowIndexes.get(rows) ?? new Map<string, ReadonlyMap<unknown, readonly JsonObject[]>>()
  rowIndexes.set(rows, known)
  const found = known.get(field)
  if (found !== undefined) return found
  const index = new Map<unknown, JsonObject[]>()
  for (const row of rows)
    for (const value of new Set([row[field]].flat())) {
      const others = index.get(value)
      if (others === undefined) index.set(value, [row])
      else others.push(row)
    }
  known.set(field, index)
  return index
}
