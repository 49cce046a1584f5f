/** A value that a field takes, for examples. */
import type { Collection, Field, FieldType } from '../../api/collections.ts'

export function sampleValue(field: Field): unknown {
  const { values = [], maxSelect = 1 } = field
  switch (field.type) {
    case 'number':
      return typeof field.min === 'number' ? field.min : 1
    case 'bool':
      return true
    case 'email':
      return 'ann@example.com'
    case 'url':
      return 'https://example.com'
    case 'date':
      return '2026-01-31 12:00:00.000Z'
    case 'editor':
      return '<p>Text</p>'
    case 'json':
      return { any: 'value' }
    case 'geoPoint':
      return { lon: 10.75, lat: 59.91 }
    case 'select':
      return maxSelect > 1 ? values.slice(0, 2) : (values[0] ?? '')
    case 'relation':
      return maxSelect > 1 ? ['RELATED_ID'] : 'RELATED_ID'
    case 'password':
      return 'a long password'
    default:
      return field.name
  }
}

/** The first field of the first of the types that there is. */
export function findField({ fields }: Collection, types: readonly FieldType[]): Field | undefined {
  return types.flatMap((type) => fields.filter((field) => field.type === type && !field.system && !field.hidden))[0]
}
