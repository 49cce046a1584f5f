/** Stored documents as rules read them. */
import type { FoundRecords, RuleRecord, RuleRecords } from '@pannier/rules'
import { recordsName, type Definition } from '../definitions/definition.ts'
import type { JsonObject } from '../gateway/documents.ts'

/** Where the records of a rule come from: a guard's reader, or that of a snapshot. The names are those of the library. */
export interface DocumentReads {
  get(collection: string, id: string): JsonObject | undefined
  via(collection: string, field: string, id: string): readonly JsonObject[]
  all(collection: string): readonly JsonObject[]
}

/** Finds a definition by its name, in any case, or by its id. */
export interface DefinitionNames {
  find(nameOrId: string): Definition | undefined
}

/** A document as a rule reads it: with `id`. */
export function ruleRecord(document: JsonObject): RuleRecord {
  return { ...document, id: document['_id'] }
}

/** What a rule leads to, in the documents of a reader. A collection that is not there has no records. */
export function ruleRecords(definitions: DefinitionNames, reader: DocumentReads): RuleRecords {
  const nameOf = (collection: string): string | undefined => {
    const definition = definitions.find(collection)
    return definition && recordsName(definition)
  }
  const all = (documents: readonly JsonObject[]): FoundRecords => ({
    records: documents.map(ruleRecord),
    isComplete: true,
  })
  return {
    get: (collection, id) => {
      const name = nameOf(collection)
      const document = name === undefined ? undefined : reader.get(name, id)
      return document === undefined ? null : ruleRecord(document)
    },
    via: (collection, field, id) => {
      const name = nameOf(collection)
      return all(name === undefined ? [] : reader.via(name, field, id))
    },
    all: (collection) => {
      const name = nameOf(collection)
      return all(name === undefined ? [] : reader.all(name))
    },
  }
}
