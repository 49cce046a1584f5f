/** Fields that every collection of a type has. */
import { completeField } from '../fields/complete-fields.ts'
import type { FieldDefinition } from '../fields/field-definition.ts'
import { typeOfField } from '../fields/field-types.ts'
import type { Definition } from './definition.ts'
import { ACCOUNT_FIELDS, ID_FIELD, type SystemField, withIdPattern } from './scaffolds.ts'

/** Fields of accounts that nobody reads, superusers neither. */
export const ACCOUNT_SECRETS: ReadonlySet<string> = new Set(['password', 'tokenKey'])

/** Whether the field has hashes of passwords, or what tokens are signed with. */
export function isSecret({ type }: Pick<Definition, 'type'>, field: FieldDefinition): boolean {
  return typeOfField(field).isHashed === true || (type === 'auth' && ACCOUNT_SECRETS.has(field.name))
}

/** The fields of a definition, with those that each of its type has, as they must be. */
export function withSystemFields({ type, fields }: Pick<Definition, 'type' | 'fields'>): readonly FieldDefinition[] {
  if (type === 'base') return withIdField(fields)
  return type === 'auth' ? ACCOUNT_FIELDS.reduce(withAccountField, withIdField(fields)) : fields
}

function withIdField(fields: readonly FieldDefinition[]): readonly FieldDefinition[] {
  const place = placeOf(fields, ID_FIELD)
  const field = withIdPattern(enforced(place < 0 ? completeField(ID_FIELD.defaults, []) : fields[place]!, ID_FIELD))
  return place < 0 ? [field, ...fields] : fields.with(place, field)
}

/** A field of the same name and another type makes room. */
function withAccountField(fields: readonly FieldDefinition[], system: SystemField): readonly FieldDefinition[] {
  const place = placeOf(fields, system)
  if (place >= 0) return fields.with(place, enforced(fields[place]!, system))
  const field = enforced(completeField(system.defaults, fields), system)
  const other = fields.findIndex(({ id }) => id === field.id)
  return other < 0 ? [...fields, field] : fields.with(other, field)
}

function placeOf(fields: readonly FieldDefinition[], { defaults }: SystemField): number {
  return fields.findIndex(({ name, type }) => name === defaults.name && type === defaults.type)
}

function enforced(field: FieldDefinition, { always }: SystemField): FieldDefinition {
  return { ...field, ...always } as FieldDefinition
}
