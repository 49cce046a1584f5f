/** Errors of the indexes of a definition. */
import { fieldError } from '../fields/field-errors.ts'
import type { ErrorData, FieldError } from '../gateway/service-error.ts'
import type { Definition } from './definition.ts'
import { errorsOf } from './check-rule.ts'
import { definitionOf, isSameName, parseIndex, statementsOf, type IndexStatement } from './index-statement.ts'
import { isPlain } from './library-index.ts'
import { keyPath, programOf } from './unique-key.ts'
import type { ViewQueries } from './views/view-queries.ts'

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
    const body = definitionOf(statement)
    if (bodies.has(body)) return { [place]: SAME_DEFINITION }
    names.add(name)
    bodies.add(body)
  }
  return checkSystemIndexes(definition, old)
}

function namesOfOthers({ id }: Definition, all: readonly Definition[]): ReadonlyMap<string, string> {
  const others = all.filter((other) => other.id !== id)
  return new Map(others.flatMap((other) => statementsOf(other).map(({ name }) => [name.toLowerCase(), other.name])))
}

function usedError(usedTableName: string): FieldError {
  const message = 'The index name is already used in {usedTableName} collection.'
  return fieldError('validation_existing_index_name', message, { usedTableName })
}

/** Checks that indexes keep system fields unique: order, collation and condition may change. */
function checkSystemIndexes(definition: Definition, old: Definition | undefined): FieldError | undefined {
  const bodyOf = ({ unique, columns }: IndexStatement): string =>
    JSON.stringify([unique, columns.map(({ name }) => name.toLowerCase())])
  const bodies = new Set(statementsOf(definition).map(bodyOf))
  for (const index of old === undefined ? [] : statementsOf(old)) {
    if (!index.unique || bodies.has(bodyOf(index))) continue
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

/** Errors of SQLite about new indexes. The definition must be right otherwise. */
export async function checkIndexExpressions(
  definition: Definition,
  old: Definition | undefined,
  queries: Pick<ViewQueries, 'indexErrors'>,
): Promise<ErrorData | undefined> {
  const known = new Set(old && sqlIndexesOf(old).map(({ path }) => path))
  const asked = sqlIndexesOf(definition).filter(({ path }) => !known.has(path))
  const reasons = await queries.indexErrors(asked.map(({ path }) => programOf(path)))
  return errorsOf(
    Object.fromEntries(
      asked.map(({ place, name }, at) => {
        const reason = reasons[at]
        return [place, reason === undefined ? undefined : indexError(name, reason)]
      }),
    ),
  )
}

/** Indexes that the library does not make of fields. */
function sqlIndexesOf(
  definition: Definition,
): readonly { readonly place: number; readonly name: string; readonly path: string }[] {
  return statementsOf(definition).flatMap((index, place) =>
    isPlain(index, definition) ? [] : [{ place, name: index.name, path: keyPath(index, definition) }],
  )
}

/** As PocketBase words what SQLite says. */
export function indexError(name: string, reason: string, params?: FieldError['params']): FieldError {
  return fieldError('validation_invalid_index_expression', `Failed to create index ${name} - ${reason}.`, params)
}
