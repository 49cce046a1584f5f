/** Stored documents as rules read them. */
import type { FoundRecords, RuleRecord, RuleRecords, Schema } from '@pannier/rules'
import { recordsName, type Definition } from '../definitions/definition.ts'
import type { JsonObject } from '../gateway/documents.ts'

/** Where the records of a rule come from: a guard's reader, or that of a snapshot. The names are those of the library. */
interface DocumentReads {
  get(collection: string, id: string): JsonObject | undefined
  via(collection: string, field: string, id: string): readonly JsonObject[]
  all(collection: string): readonly JsonObject[]
}

/** What is read of `Definitions`. */
export interface KnownDefinitions {
  /** By its name, in any case, or by its id. */
  find(nameOrId: string): Definition | undefined
  all(): readonly Definition[]
  /** Made of all definitions. */
  readonly schema: Schema
}

/** A document as a rule reads it: with `id`. */
export function ruleRecord(document: JsonObject): RuleRecord {
  return { ...document, id: document['_id'] }
}

/**
 * What a rule leads to, in the documents of a reader. An unknown collection has no records. The rows of views are
 * given by the ids of their definitions.
 */
export function ruleRecords(
  definitions: KnownDefinitions,
  reader: DocumentReads,
  views: ReadonlyMap<string, readonly JsonObject[]> = new Map(),
): RuleRecords {
  const read = <T>(
    collection: string,
    none: T,
    stored: (name: string) => T,
    view: (rows: readonly JsonObject[]) => T,
  ) => {
    const definition = definitions.find(collection)
    if (definition === undefined) return none
    return definition.type === 'view' ? view(views.get(definition.id) ?? []) : stored(recordsName(definition))
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
        (rows) => rows.find((row) => row['_id'] === id),
      )
      return document === undefined ? null : ruleRecord(document)
    },
    via: (collection, field, id) =>
      found(
        read(
          collection,
          [],
          (name) => reader.via(name, field, id),
          (rows) => rows.filter((row) => [row[field]].flat().includes(id)),
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
  }
}
