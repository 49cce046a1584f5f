/** What the collections that a database was opened with say about the types of documents; nothing of it is there at run time. */
import type { SchemaInput, SchemaOutput } from './standard-schema.ts'

/** Names of collections: any, or where the database was opened with some, these. Another one takes the type of its documents. */
export type KnownName<Schemas extends object> = [keyof Schemas] extends [never] ? string : keyof Schemas & string

/**
 * Documents of a collection that is not among the `collections` of `open`, without a type: probably its name is
 * misspelt.
 */
export interface UnknownCollection {
  readonly 'open() was given no collection of this name: mend the name, or give the type of its documents': never
}

/** Documents of the collection `Name`; `Schemas` has the schema of each collection by its name. */
export type DocumentOf<Schemas extends object, Name extends string> = SchemaOutput<SchemaOf<Schemas, Name>>

/** As they are written. */
export type InputOf<Schemas extends object, Name extends string> = SchemaInput<SchemaOf<Schemas, Name>>

type SchemaOf<Schemas extends object, Name extends string> = Name extends keyof Schemas ? Schemas[Name] : unknown
