/**
 * The used part of the interface of validation libraries, version 1 (https://standardschema.dev), and the document
 * types that it gives. Types match by structure, so nothing has to be installed.
 */
import type { DatesAreNotStored, HasDate } from '../collection/document-types.ts'

/** A schema by the Standard Schema specification, version 1: zod, valibot, arktype and others make them. */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The properties that the standard asks for. */
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    /** The types of input and output, not there at run time. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The input of a schema; any document without a schema. Nothing where it gives Dates, which are not stored. */
export type SchemaInput<Schema> =
  HasDate<TypeOf<Schema, 'output'>> extends true ? { readonly schema: DatesAreNotStored } : TypeOf<Schema, 'input'>

/** The output of a schema, which is stored; any document without a schema. */
export type SchemaOutput<Schema> = TypeOf<Schema, 'output'>

type TypeOf<Schema, Side extends 'input' | 'output'> = Schema extends {
  readonly '~standard': { readonly types?: infer Types }
}
  ? NonNullable<Types> extends { readonly [Name in Side]: infer Type extends object }
    ? Type
    : Record<string, unknown>
  : Record<string, unknown>

export function isStandardSchema(value: unknown): value is StandardSchema {
  // Some libraries' schemas are functions.
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return false
  const standard = (value as Partial<StandardSchema>)['~standard']
  return standard?.version === 1 && typeof standard.validate === 'function'
}

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

/** The input of a collection: documents as they are written. */
export type InputOf<Schemas extends object, Name extends string> = SchemaInput<SchemaOf<Schemas, Name>>

type SchemaOf<Schemas extends object, Name extends string> = Name extends keyof Schemas ? Schemas[Name] : unknown
