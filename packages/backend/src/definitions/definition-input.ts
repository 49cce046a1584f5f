/** Definitions as a program writes them: typed, and without options that nobody reads. A client of PocketBase's API may send others. */
import { badArgument, checkOptions, isObject } from 'pannier/internal'
import { completableOptions } from '../fields/complete-fields.ts'
import type { FieldDefinition } from '../fields/field-definition.ts'
import { FIELD_TYPE_NAMES, isFieldType } from '../fields/field-types.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { PROVIDER } from './complete-definition.ts'
import type { AuthDefinition, Definition, ViewDefinition } from './definition.ts'
import { authScaffold, VIEW_SCAFFOLD } from './scaffolds.ts'

/** A type whose parts may be left out, at any depth. */
type Partially<T> = T extends readonly (infer One)[]
  ? readonly Partially<One>[]
  : T extends object
    ? { readonly [Name in keyof T]?: Partially<T[Name]> }
    : T

type InputOf<Field extends FieldDefinition> = Field extends FieldDefinition
  ? Partially<Omit<Field, 'type' | 'name'>> & Pick<Field, 'type' | 'name'>
  : never

/** A field, for `createCollection` and `updateCollection`: its type, its name, and the options that are not as they come. */
export type FieldInput = InputOf<FieldDefinition>

/** A collection, for `createCollection` and `updateCollection`: what is not as it comes, or what is to change. */
export interface CollectionInput extends Partially<
  Omit<AuthDefinition, 'type' | 'fields'> & Pick<ViewDefinition, 'viewQuery'>
> {
  /** The type; `base` when left out. */
  readonly type?: Definition['type']
  /** The fields in their order. */
  readonly fields?: readonly FieldInput[]
}

/** Names of options: nothing is read of it. */
const KNOWN: JsonObject = {
  ...VIEW_SCAFFOLD,
  ...authScaffold({ randomBytes: (length) => new Uint8Array(length) }),
  passkey: { enabled: false },
}
const KNOWN_PROVIDER: JsonObject = { ...PROVIDER, pkce: null, extra: null }

/** @throws TypeError: an unknown option, or a field of no type */
export function checkCollectionInput(call: string, values: unknown): void {
  checkNames(call, values, KNOWN)
  const { fields, oauth2 } = values as JsonObject
  if (Array.isArray(fields)) for (const [at, field] of fields.entries()) checkFieldInput(`${call} fields[${at}]`, field)
  const providers = isObject(oauth2) ? oauth2['providers'] : undefined
  if (Array.isArray(providers))
    for (const [at, one] of providers.entries()) checkOptions(`${call} oauth2.providers[${at}]`, one, KNOWN_PROVIDER)
}

/** @throws TypeError as `checkCollectionInput` */
export function checkFieldInput(call: string, field: unknown): void {
  const type = isObject(field) ? field['type'] : undefined
  if (!isFieldType(type)) throw badArgument(call, `type must be one of ${FIELD_TYPE_NAMES.join(', ')}`, type)
  checkOptions(call, field, completableOptions(type))
}

function checkNames(call: string, values: unknown, known: JsonObject): void {
  checkOptions(call, values, known)
  for (const [name, value] of Object.entries(values as JsonObject)) {
    const inner = known[name]
    if (isObject(inner) && isObject(value)) checkNames(`${call} ${name}`, value, inner)
  }
}
