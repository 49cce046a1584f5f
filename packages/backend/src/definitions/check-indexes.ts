/** What is wrong with the indexes of a definition. */
import { fieldError } from '../fields/field-errors.ts'
import type { ErrorData, FieldError } from '../gateway/service-error.ts'
import type { Definition } from './definition.ts'
import { isSameName, parseIndex, printIndex, type IndexStatement } from './index-statement.ts'
import { libraryIndexOf } from './library-index.ts'
import { SqlError } from './sql/tokens.ts'

const NOT_FOR_VIEWS = fieldError('validation_indexes_not_supported', "View collections don't support indexes.")
const INVALID = fieldError('validation_invalid_index_expression', 'Invalid CREATE INDEX expression.')
const SAME_NAME = fieldError('validation_duplicated_index_name', 'The index name already exists.')
const SAME_DEFINITION = fieldError('validation_duplicated_index_definition', 'The index definition already exists.')

export function checkIndexes(
  definition: Definition,
  old: Definition | undefined,
  all: readonly Definition[],
): FieldError | ErrorData | undefined {
  const { type, indexes } = definition
  if (type === 'view') return indexes.length > 0 ? NOT_FOR_VIEWS : undefined
  const others = namesOfOthers(definition, all)
  const [names, bodies] = [new Set<string>(), new Set<string>()]
  for (const [place, text] of indexes.entries()) {
    const statement = parseIndex(text)
    if (statement === undefined) return { [place]: INVALID }
    const name = statement.name.toLowerCase()
    const usedBy = others.get(name)
    if (names.has(name)) return { [place]: SAME_NAME }
    if (usedBy !== undefined) return { [place]: usedError(usedBy) }
    const body = printIndex({ ...statement, schema: '', name: '', table: '' })
    if (bodies.has(body)) return { [place]: SAME_DEFINITION }
    names.add(name)
    bodies.add(body)
  }
  return checkSystemIndexes(definition, old)
}

function namesOfOthers({ id }: Definition, all: readonly Definition[]): ReadonlyMap<string, string> {
  const others = all.filter((other) => other.id !== id)
  return new Map(
    others.flatMap(({ name, indexes }) =>
      indexes.flatMap((text) => {
        const index = parseIndex(text)
        return index === undefined ? [] : [[index.name.toLowerCase(), name] as const]
      }),
    ),
  )
}

function usedError(usedTableName: string): FieldError {
  const message = 'The index name is already used in {usedTableName} collection.'
  return fieldError('validation_existing_index_name', message, { usedTableName })
}

/** What makes system fields unique stays: order, collation and condition may change. */
function checkSystemIndexes({ indexes }: Definition, old: Definition | undefined): FieldError | undefined {
  const bodyOf = ({ unique, columns }: IndexStatement): string =>
    JSON.stringify([unique, columns.map(({ name }) => name.toLowerCase())])
  const bodies = new Set(indexes.flatMap((text) => bodiesOf(text, bodyOf)))
  for (const text of old?.indexes ?? []) {
    const index = parseIndex(text)
    if (index?.unique !== true || bodies.has(bodyOf(index))) continue
    const field = old!.fields.find(
      ({ name, system }) => system && index.columns.some((one) => isSameName(one.name, name)),
    )
    if (field === undefined) continue
    return fieldError(
      'validation_invalid_unique_system_field_index',
      'Unique index definition on system fields ({fieldName}) is invalid or missing.',
      { fieldName: field.name },
    )
  }
  return undefined
}

function bodiesOf(text: string, bodyOf: (index: IndexStatement) => string): readonly string[] {
  const index = parseIndex(text)
  return index === undefined ? [] : [bodyOf(index)]
}

/** What SQLite would not create. The definition must be right otherwise. */
export function checkIndexExpressions(definition: Definition): ErrorData | undefined {
  const errors = definition.indexes.flatMap((text, place) => {
    const index = parseIndex(text)!
    try {
      libraryIndexOf(index, definition)
      return []
    } catch (error) {
      if (!(error instanceof SqlError)) throw error
      return [[place, indexError(index.name, error.message)] as const]
    }
  })
  return errors.length === 0 ? undefined : Object.fromEntries(errors)
}

/** As PocketBase words what SQLite says. */
export function indexError(name: string, reason: string): FieldError {
  return fieldError('validation_invalid_index_expression', `Failed to create index ${name} - ${reason}.`)
}
