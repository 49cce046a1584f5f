/** Rows of SQLite in the form of documents: `_id`, and the fields of the view. */
import { castValue } from '../../fields/field-types.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import type { ViewDefinition } from '../definition.ts'
import type { TextRows } from './view-queries.ts'

/** PocketBase reads all values of rows as texts. */
export function documentMaker(
  { fields }: Pick<ViewDefinition, 'fields'>,
  columns: TextRows['columns'],
): (row: TextRows['rows'][number]) => JsonObject {
  const places = fields.map((field) => [field, columns.indexOf(field.name)] as const)
  return (row) => {
    const values = places.map(([field, at]): readonly [string, unknown] => {
      const text = row[at] ?? null
      return field.name === 'id' ? ['_id', text ?? ''] : [field.name, castValue(field, text)]
    })
    return Object.fromEntries(values)
  }
}
