/** Fields that every collection of a type has. */
import { completeField } from '../fields/complete-fields.ts'
import type { FieldDefinition } from '../fields/field-definition.ts'
import type { Definition } from './definition.ts'
import { ACCOUNT_FIELDS, ID_FIELD, type SystemField, withIdPattern } from './scaffolds.ts'

/** The fields of a definition, with those that each of its type has, as they must be. */
export function withSystemFields({ type, fields }: Pick<Definition, 'type' | 'fields'>): readonly FieldDefinition[] {
  const system = type === 'auth' ? [ID_FIELD, ...ACCOUNT_FIELDS] : [ID_FIELD]
  return system.reduce(withSystemField, fields)
}

function withSystemField(
  fields: readonly FieldDefinition[],
  system: SystemField,
): readonly FieldDefinition[] {
  const { name, type } = system.defaults
  const place = fields.findIndex((field) => field.name === name && field.type === type)
  const found = place < 0 ? completeField(system.defaults, fields) : fields[place]!
  const field = withIdPattern({ ...found, ...system.always } as FieldDefinition)
  if (place >= 0) return fields.with(place, field)
  return system === ID_FIELD ? [field, ...fields] : [...fields, field]
}
