/** Errors of a definition, in PocketBase's codes and words. */
import type { Schema } from '@pannier/rules'
import { BLANK, fieldError, NO_MATCH, outsideLength } from '../fields/field-errors.ts'
import { checkField } from '../fields/check-field.ts'
import { FIELD_RULES } from '../fields/field-base.ts'
import type { FieldDefinition } from '../fields/field-definition.ts'
import { typeOfField } from '../fields/field-types.ts'
import type { Chance } from '../gateway/chance.ts'
import type { ErrorData, FieldError } from '../gateway/service-error.ts'
import { checkAuthOptions } from './check-auth-options.ts'
import { checkIndexes } from './check-indexes.ts'
import { checkRule, checkSystemRule, errorsOf } from './check-rule.ts'
import type { Definition } from './definition.ts'
import { isSameName } from './index-statement.ts'
import { ACCOUNT_FIELDS, ID_FIELD } from './scaffolds.ts'

/** The parts that the check of a definition needs. */
interface DefinitionContext {
  readonly old: Definition | undefined
  /** All definitions as they will be, with this one. */
  readonly all: readonly Definition[]
  readonly schema: Schema
  /** The error of a view's query. */
  readonly viewError: FieldError | undefined
  readonly chance: Chance
}

/** Undefined: it is right, except what SQLite says of its indexes. */
export function checkDefinition(definition: Definition, context: DefinitionContext): ErrorData | undefined {
  const { old, schema } = context
  const rule = (name: RuleName): FieldError | undefined =>
    checkRule(definition[name], schema, definition.id) ?? checkSystemRule(definition[name], old, old?.[name])
  const writeRule = (name: RuleName): FieldError | undefined =>
    definition.type === 'view' && definition[name] !== null ? NOT_FOR_VIEWS : rule(name)
  return errorsOf({
    id: checkId(definition, context),
    type: checkType(definition, old),
    system: old !== undefined && old.system !== definition.system ? SYSTEM_CHANGED : undefined,
    name: checkName(definition, context),
    fields: checkFields(definition, context),
    listRule: rule('listRule'),
    viewRule: rule('viewRule'),
    createRule: writeRule('createRule'),
    updateRule: writeRule('updateRule'),
    deleteRule: writeRule('deleteRule'),
    indexes: checkIndexes(definition, context.old, context.all),
    ...(definition.type === 'view' && { viewQuery: definition.viewQuery === '' ? BLANK : context.viewError }),
    ...(definition.type === 'auth' && checkAuthOptions(definition, old, schema)),
  })
}

type RuleName = 'listRule' | 'viewRule' | 'createRule' | 'updateRule' | 'deleteRule'

const TYPES: ReadonlySet<string> = new Set(['base', 'auth', 'view'])
const UNKNOWN_TYPE = fieldError('validation_in_invalid', 'Must be a valid value.')
const TYPE_CHANGED = fieldError('validation_collection_type_change', 'Collection type cannot be changed.')
const SYSTEM_CHANGED = fieldError(
  'validation_collection_system_flag_change',
  'System collection state cannot be changed.',
)
const NOT_FOR_VIEWS = fieldError('validation_nil', 'Must be blank.')

function checkType({ type }: Definition, old: Definition | undefined): FieldError | undefined {
  if (!TYPES.has(type)) return UNKNOWN_TYPE
  return old !== undefined && old.type !== type ? TYPE_CHANGED : undefined
}

/** A new definition has the id of another. */
export const ID_TAKEN: FieldError = fieldError(
  'validation_invalid_or_existing_id',
  'The model id is invalid or already exists.',
)
const ID_BYTES_MAX = 100
const NAME_BYTES_MAX = 255

function checkId({ id }: Definition, { old, all }: DefinitionContext): FieldError | undefined {
  if (id === '') return BLANK
  if (old !== undefined) return undefined
  const tooLong = outsideLength(id, 1, ID_BYTES_MAX)
  if (tooLong !== undefined) return tooLong
  if (!/^\w+$/.test(id)) return NO_MATCH
  return all.some((other) => other.id !== id && isSameName(other.id, id)) ? ID_TAKEN : undefined
}

function checkName({ id, name }: Definition, { old, all }: DefinitionContext): FieldError | undefined {
  if (name === '') return BLANK
  const tooLong = outsideLength(name, 1, NAME_BYTES_MAX)
  if (tooLong !== undefined) return tooLong
  if (/_via_/i.test(name)) return fieldError('validation_found_via', 'The value cannot contain "_via_".')
  if (!/^\w+$/.test(name)) return NO_MATCH
  if (old?.system === true && old.name !== name)
    return fieldError('validation_collection_system_name_change', 'System collection name cannot be changed.')
  const others = all.filter((other) => other.id !== id)
  if (others.some((other) => isSameName(other.name, name)))
    return fieldError('validation_collection_name_exists', 'Collection name must be unique (case insensitive).')
  if (all.some((other) => isSameName(other.id, name)))
    return fieldError('validation_collection_name_id_duplicate', 'The name must not match an existing collection id.')
  return undefined
}

function checkFields(definition: Definition, context: DefinitionContext): FieldError | ErrorData | undefined {
  const { type, fields } = definition
  return (
    checkDuplicates(fields) ??
    checkNeeded(definition) ??
    (type === 'view' ? undefined : checkStaying(fields, context.old)) ??
    errorsByPlace(fields, (field) =>
      type === 'auth' && RESERVED.has(field.name) ? { name: RESERVED_NAME } : undefined,
    ) ??
    errorsByPlace(fields, (field) =>
      checkField(field, {
        definition,
        old: context.old?.fields.find(({ id }) => id === field.id),
        typeOf: (id) => context.all.find((other) => other.id === id)?.type,
        chance: context.chance,
      }),
    ) ??
    errorsByPlace(fields, (field) => checkFieldRules(field, definition, context)) ??
    errorsByPlace(fields, (field) => checkSearchable(field, definition))
  )
}

const NO_RULE = fieldError('validation_field_rule', 'This field takes no rule of its own.')

/** Everybody who sees a record sees its id, and nobody sees a password. */
function checkFieldRules(
  field: FieldDefinition,
  { id: collection }: Definition,
  { old, schema }: DefinitionContext,
): ErrorData | undefined {
  const before = old?.fields.find(({ id }) => id === field.id)
  const { isHashed, isAutomatic } = typeOfField(field)
  return errorsOf(
    Object.fromEntries(
      FIELD_RULES.filter((name) => field[name] !== undefined).map((name) => {
        if (field.name === 'id' || isHashed || isAutomatic) return [name, NO_RULE]
        return [name, checkRule(field[name]!, schema, collection) ?? checkSystemRule(field[name]!, old, before?.[name])]
      }),
    ),
  )
}

const NO_WORDS = fieldError('validation_searchable', 'Only text, editor, email, url and select fields are searchable.')
const NOT_SHOWN_TO_ALL = fieldError(
  'validation_searchable',
  'A search would tell what is hidden: the field must be shown to all who see the record.',
)

/** Checks `searchable`. Results of a search reveal what is in the field. */
function checkSearchable(field: FieldDefinition, { type }: Definition): ErrorData | undefined {
  if (field.searchable !== true) return undefined
  if (!typeOfField(field).isSearchable || field.name === 'id') return { searchable: NO_WORDS }
  const isAddress = type === 'auth' && field.name === 'email'
  return field.hidden || field.viewRule !== undefined || isAddress ? { searchable: NOT_SHOWN_TO_ALL } : undefined
}

function errorsByPlace(
  fields: readonly FieldDefinition[],
  errorOf: (field: FieldDefinition) => FieldError | ErrorData | undefined,
): ErrorData | undefined {
  return errorsOf(Object.fromEntries(fields.map((field, place) => [String(place), errorOf(field)])))
}

/** Keys of bodies that are no fields. */
const RESERVED: ReadonlySet<string> = new Set(['passwordConfirm', 'oldPassword'])
const RESERVED_NAME = fieldError('validation_reserved_field_name', 'The field name is reserved and cannot be used.')

function checkDuplicates(fields: readonly FieldDefinition[]): ErrorData | undefined {
  for (const [place, { id, name }] of fields.entries()) {
    const before = fields.slice(0, place)
    if (before.some((other) => other.id === id)) {
      const error = fieldError('validation_duplicated_field_id', `Duplicated or invalid field id "${id}".`)
      return { [place]: { id: error } }
    }
    if (before.some((other) => isSameName(other.name, name))) {
      const message = 'Duplicated or invalid field name {fieldName}.'
      return { [place]: { name: fieldError('validation_duplicated_field_name', message, { fieldName: name }) } }
    }
  }
  return undefined
}

/** Checks that a collection has the fields of its type. */
function checkNeeded({ type, fields }: Definition): FieldError | undefined {
  if (fields.length === 0) return BLANK
  const has = (wanted: { readonly name: string; readonly type: string }): boolean =>
    fields.some((field) => field.name === wanted.name && field.type === wanted.type)
  if (!has(ID_FIELD.defaults)) return fieldError('validation_missing_primary_key', 'Missing or invalid "id" PK field.')
  const lacking = type === 'auth' ? ACCOUNT_FIELDS.find(({ defaults }) => !has(defaults)) : undefined
  if (lacking === undefined) return undefined
  const { name } = lacking.defaults
  return fieldError(`validation_missing_${name}_field`, `System "${name}" field is required.`)
}

/** System fields stay, and each field keeps its type. */
function checkStaying(
  fields: readonly FieldDefinition[],
  old: Definition | undefined,
): FieldError | ErrorData | undefined {
  if (old === undefined) return undefined
  const byId = new Map(fields.map((field) => [field.id, field]))
  if (old.fields.some(({ id, name, system }) => system && byId.get(id)?.name !== name))
    return fieldError('validation_system_field_change', 'System fields cannot be deleted or renamed.')
  const types = new Map(old.fields.map(({ id, type }) => [id, type]))
  return errorsByPlace(fields, ({ id, type }) =>
    (types.get(id) ?? type) === type
      ? undefined
      : fieldError('validation_field_type_change', 'Field type cannot be changed.'),
  )
}

/** All definitions as they will be once `changed` are stored, in their order. */
export function withChanged(all: readonly Definition[], changed: readonly Definition[]): readonly Definition[] {
  const byId = new Map(changed.map((definition) => [definition.id, definition]))
  const known = new Set(all.map(({ id }) => id))
  return [...all.map((old) => byId.get(old.id) ?? old), ...changed.filter(({ id }) => !known.has(id))]
}
