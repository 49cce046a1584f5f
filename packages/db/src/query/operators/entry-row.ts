/** What a scan of keys gives: the document's number and, where asked for, the values of fields that the key holds. */

export interface EntryRow {
  readonly number: number
  /** By the position of the field; undefined if the document has to be asked. */
  readonly values: readonly unknown[] | undefined
}
