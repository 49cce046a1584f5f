/** Errors of the options of a field. */
import type { ErrorData, FieldError } from '../gateway/service-error.ts'
import type { FieldDefinition } from './field-definition.ts'
import { BLANK, fieldError, LISTED, NO_MATCH, outsideLength } from './field-errors.ts'
import type { FieldContext } from './field-type.ts'
import { typeOfField } from './field-types.ts'

const RESERVED = ['null', 'true', 'false', '_rowid_', 'collectionId', 'collectionName', 'expand']
const FOUND_VIA = fieldError('validation_found_via', 'The value cannot contain "_via_".')
/** CouchDB keeps such names for itself, and an app collection is a CouchDB database too. */
const FOUND_UNDERSCORE = fieldError('validation_match_invalid', 'The name of a field must not begin with "_".')

/** By option, in the order of the alphabet. Undefined if nothing is wrong. */
export function checkField(field: FieldDefinition, context: FieldContext<FieldDefinition>): ErrorData | undefined {
  const old = context.old?.type === field.type ? context.old : undefined
  const own = typeOfField(field).checkOptions?.(field, { ...context, old })
  const help = field.help === undefined ? undefined : outsideLength(field.help, 1, 300)
  const errors = { ...own, id: checkId(field.id), name: checkName(field.name) ?? own?.['name'], help }
  const found = Object.entries(errors)
    .filter(([, error]) => error !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return found.length === 0 ? undefined : (Object.fromEntries(found) as ErrorData)
}

function checkId(id: string): FieldError | undefined {
  return id === '' ? BLANK : outsideLength(id, 1, 100)
}

function checkName(name: string): FieldError | undefined {
  if (name === '') return BLANK
  const length = outsideLength(name, 1, 100)
  if (length !== undefined) return length
  if (!/^\w+$/.test(name)) return NO_MATCH
  if (RESERVED.includes(name)) return LISTED
  if (name.toLowerCase().includes('_via_')) return FOUND_VIA
  return name.startsWith('_') ? FOUND_UNDERSCORE : undefined
}
