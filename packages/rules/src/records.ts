/** Records for an evaluator: records and their relations, at once and without waiting. */

/** A record: its fields by name, as PocketBase's API returns them. A missing field is empty. */
export type RuleRecord = Readonly<Record<string, unknown>>

/** Records that a step leads to. */
export interface FoundRecords {
  /** The records that are known here. */
  readonly records: readonly RuleRecord[]
  /** Whether it is complete. False if there may be others: what depends on them has no answer. */
  readonly isComplete: boolean
}

/**
 * Gives an evaluator the records that a rule leads to. All answers must be of one state of the database.
 *
 * @example
 * import type { RuleRecords } from '@pannier/rules'
 *
 * const all = (collection: string) => [...(tables.get(collection)?.values() ?? [])]
 * const records: RuleRecords = {
 *   get: (collection, id) => tables.get(collection)?.get(id) ?? null,
 *   via: (collection, field, id) => ({
 *     records: all(collection).filter((record) => [record[field]].flat().includes(id)),
 *     isComplete: true,
 *   }),
 *   all: (collection) => ({ records: all(collection), isComplete: true }),
 * }
 */
export interface RuleRecords {
  /** The record with an id; `null` if no record has it, and undefined if that is not known here. */
  get(collection: string, id: string): RuleRecord | null | undefined
  /** All records of a collection whose relation has the id. */
  via(collection: string, field: string, id: string): FoundRecords
  /** All records of a collection, for `@collection`. */
  all(collection: string): FoundRecords
  /** Whether a record has the words of `search()`; undefined if that is not known here. Without it, that never is. */
  finds?(collection: string, record: RuleRecord, words: string): boolean | undefined
  /** Whether the values of a field are known here; all are, by default. An app does not have hidden fields. */
  knows?(collection: string, field: string): boolean
}
