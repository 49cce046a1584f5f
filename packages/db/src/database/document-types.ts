/** How documents look in the types of the public API. */

/** What any document may hold. */
export type JsonObject = Record<string, unknown>

/** A document as it is handed out: with its id and its revision, `N-hash`. */
export type Stored<T extends object> = T & { readonly _id: string; readonly _rev: string }

/** A document as it is handed in: without an `_id` it gets one. */
export type DocumentInput<T extends object> = ContentOf<T> & {
  readonly _id?: string
  readonly _rev?: string
}

/** Unlike `Omit` it keeps the members of a union apart, and known fields beside an index signature. */
type ContentOf<T> = T extends unknown ? { [Name in keyof T as Exclude<Name, '_id' | '_rev'>]: T[Name] } : never

/** A document, or what names it: with `_rev` it is meant in that revision only. */
export type DocumentReference = string | { readonly _id: string; readonly _rev?: string }
