/** Collections as tables of PocketBase, and values of such tables as inputs of records. */
import { isObject } from 'pannier/internal'
import type { Definition } from '../definitions/definition.ts'
import { plainIndex, statementsOf } from '../definitions/index-statement.ts'
import { isSecret } from '../definitions/system-fields.ts'
import { isMany, type FieldDefinition } from '../fields/field-definition.ts'
import { cellOf, columnDeclaration, columnType } from '../fields/columns.ts'
import { castValue, ownValue, typeOfField } from '../fields/field-types.ts'
import { quoted, type Cell } from '../fields/sqlite.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { invalid } from '../gateway/service-error.ts'
import type { ModelTable, Row } from './protocol.ts'
import { MODEL } from './sqlite.ts'

/** The fields in the order of the columns. */
export function columnFields({ fields }: Definition): readonly FieldDefinition[] {
  return fields.toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

export function tableOf(definition: Definition): ModelTable {
  const columns = columnFields(definition).map((field) => ({
    name: field.name,
    declaration: columnDeclaration(field),
    isSecret: isSecret(definition, field),
    isTimeOrNumber: isTimeOrNumber(field),
  }))
  // Nothing is refused because of them: what is unique, the records keep so.
  const indexes = statementsOf(definition).map((index) =>
    plainIndex(`${MODEL}.${quoted(index.name)}`, definition.name, index),
  )
  return { name: definition.name, columns, indexes }
}

/** Other fields may have any text, also one that SQLite takes for the present. */
export function isTimeOrNumber(field: FieldDefinition): boolean {
  return typeOfField(field).isTime === true || columnType(field) === 'NUMERIC'
}

export function rowOf(definition: Definition, fields: readonly FieldDefinition[], document: JsonObject): Row {
  return fields.map((field) => {
    if (field.name === 'id') return document['_id'] as string
    return isSecret(definition, field) ? '' : cellOf(field, ownValue(document, field.name))
  })
}

/** The value that a record gets. @throws ServiceError INVALID if its field can't have it */
export function valueOf(definition: Definition, field: FieldDefinition, cell: Cell): unknown {
  const value = readCell(field, cell)
  const cast = value === undefined ? undefined : castValue(field, value)
  const isRead = typeOfField(field).isTime
    ? value === '' || cast !== ''
    : JSON.stringify(cast) === JSON.stringify(value)
  if (value !== undefined && isRead) return cast
  const shown = cell instanceof Uint8Array ? 'a BLOB' : String(cell)
  throw invalid(`${definition.name}.${field.name} is a field of type ${field.type}, and can't be ${shown}`)
}

/** As a record would have it. Undefined: there is no such value. */
function readCell(field: FieldDefinition, cell: Cell): unknown {
  const type = columnType(field)
  const { takesAll } = typeOfField(field)
  if (type === 'NUMERIC') return typeof cell === 'number' && Number.isFinite(cell) ? cell : undefined
  if (type === 'BOOLEAN') return cell === 0 || cell === 1 ? cell === 1 : undefined
  if (takesAll && cell === null) return null
  if (typeof cell !== 'string') return undefined
  if (type === 'TEXT') return cell
  const value = parsed(cell)
  return takesAll || (isMany(field) ? Array.isArray(value) : isObject(value)) ? value : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
