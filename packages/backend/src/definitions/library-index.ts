/** `CREATE INDEX` statements as indexes of the library. docs/internals/backend-definitions.md says which can be. */
import { crc32 } from 'node:zlib'
import type { IndexInput, PannierError } from 'pannier'
import { NOCASE, type SearchedText } from 'pannier/internal'
import { isMany, type FieldDefinition } from '../fields/field-definition.ts'
import { toNumber, toText } from '../fields/cast.ts'
import { NOT_UNIQUE } from '../fields/field-errors.ts'
import type { ErrorData } from '../gateway/service-error.ts'
import type { Definition } from './definition.ts'
import { isSameName, parseIndex, type IndexStatement } from './index-statement.ts'
import { ruleIndexesOf } from './rule-indexes.ts'
import { columnsOf, SqlReader, type SqlExpression } from './sql/expression.ts'
import { SqlError } from './sql/tokens.ts'

export interface LibraryIndex {
  /** In the library. It changes with everything that the index is made of. */
  readonly name: string
  /** The columns. */
  readonly fields: readonly string[]
  /** The columns, and what the condition reads. */
  readonly reads: readonly string[]
  readonly unique: boolean
  readonly input: Exclude<IndexInput, string | readonly string[]>
}

/** The library's. */
const COLUMNS_MAX = 4
const NAME_CHARS_MAX = 100

/**
 * Undefined for an index that the library can't have: it would make nothing faster here.
 *
 * @throws SqlError for what SQLite would refuse, and for a UNIQUE that can't be enforced
 */
export function libraryIndexOf(statement: IndexStatement, definition: Definition): LibraryIndex | undefined {
  const columns = statement.columns.map((column) => columnOf(column.name, definition.fields))
  const where = statement.where === '' ? undefined : parseCondition(statement.where)
  const tested = where === undefined ? [] : columnsOf(where).map(({ name }) => fieldNamed(name, definition.fields).name)
  const fields = columns.flatMap((field) => (field === undefined ? [] : [field]))
  const selector = where === undefined ? undefined : selectorOf(where, definition.fields)
  const isWhole = fields.length === columns.length && fields.length <= COLUMNS_MAX
  const collation = collationOf(statement, columns)
  const isExact = isWhole && collation !== undefined && (where === undefined || selector !== undefined)
  if (statement.unique && !isExact) throw new SqlError('this UNIQUE constraint is not supported')
  if (!isExact || (!statement.unique && isNeedless(statement, fields))) return undefined
  const on = fields.map(({ name }, place) => {
    const path = name === 'id' ? '_id' : name
    return statement.columns[place]!.sort === 'DESC' ? `-${path}` : path
  })
  const input = {
    on,
    ...(statement.unique && { unique: true }),
    ...(selector !== undefined && { where: selector }),
    ...(collation === 'nocase' && { dialect: 'couchdb' as const, collation: NOCASE.name }),
  }
  const name = `${statement.name.slice(0, NAME_CHARS_MAX)} ${crc32(JSON.stringify(input))}`
  const names = fields.map((field) => field.name)
  return { name, fields: names, reads: [...names, ...tested], unique: statement.unique, input: { ...input, name } }
}

/** Those of the library for a definition that was checked: what it declares, and what its list rule needs besides. */
export function libraryIndexesOf(definition: Definition): readonly LibraryIndex[] {
  const declared = declaredIndexesOf(definition)
  const needed = ruleIndexesOf(definition).filter(
    ({ on, multi }) => multi || !declared.some(({ fields, input }) => fields[0] === on && input.where === undefined),
  )
  const made = needed.map(({ on, ...input }) => madeIndex([on], { ...input, on }))
  const { index, paths } = searchedText(definition)
  const text = paths.length === 0 ? [] : [madeIndex(paths, { on: paths, text: true, name: index })]
  return [...declared, ...made, ...text]
}

function madeIndex(fields: readonly string[], input: LibraryIndex['input'] & { readonly name: string }): LibraryIndex {
  return { name: input.name, fields, reads: fields, unique: false, input }
}

const searched = new WeakMap<Definition, SearchedText>()

/** Where `search()` looks for words: the searchable fields of a definition, and the text index on them. */
export function searchedText(definition: Definition): SearchedText {
  let text = searched.get(definition)
  if (text === undefined) {
    const fields = definition.fields.filter(({ searchable }) => searchable).map(({ name }) => name)
    text = { paths: fields, index: `search ${crc32(fields.join())}` }
    searched.set(definition, text)
  }
  return text
}

/** Those that a definition declares, and that the library can have. */
export function declaredIndexesOf(definition: Definition): readonly LibraryIndex[] {
  return definition.indexes.flatMap((text) => {
    const statement = parseIndex(text)
    const index = statement && libraryIndexOf(statement, definition)
    return index === undefined ? [] : [index]
  })
}

/** For each column of the index that has refused a value; `written`: whose records were written. */
export function uniqueErrors({ details }: PannierError, written: readonly Definition[]): ErrorData {
  const indexes = written.flatMap(libraryIndexesOf)
  const fields = indexes.find(({ name }) => name === details?.['index'])?.fields ?? []
  return Object.fromEntries(fields.map((name) => [name, NOT_UNIQUE]))
}

/** Equal for documents that the index takes for the same. */
export function uniqueKey({ fields, input }: LibraryIndex, document: Readonly<Record<string, unknown>>): string {
  const key = JSON.stringify(fields.map((name) => document[name === 'id' ? '_id' : name]))
  return input.collation === undefined ? key : NOCASE.key(key)
}

/** The library indexes ids, and relation fields, by itself. */
function isNeedless({ where }: IndexStatement, [first, ...others]: readonly FieldDefinition[]): boolean {
  return where === '' && others.length === 0 && (first!.name === 'id' || first!.type === 'relation')
}

function fieldNamed(name: string, fields: readonly FieldDefinition[]): FieldDefinition {
  const field = fields.find((other) => isSameName(other.name, name))
  if (field === undefined) throw new SqlError(`SQL logic error: no such column: ${name} (1)`)
  return field
}

/** Undefined: an expression. */
function columnOf(text: string, fields: readonly FieldDefinition[]): FieldDefinition | undefined {
  const expression = /^\w+$/.test(text) ? undefined : parseCondition(text)
  if (expression === undefined) return fieldNamed(text, fields)
  for (const { name } of columnsOf(expression)) fieldNamed(name, fields)
  return expression.kind === 'column' ? fieldNamed(expression.name, fields) : undefined
}

function parseCondition(text: string): SqlExpression {
  const reader = new SqlReader(text)
  const expression = reader.expression()
  reader.expectEnd()
  return expression
}

const PLAIN_TYPES: ReadonlySet<string> = new Set(['number', 'bool'])

/** The order of its texts: as they are, or SQLite's NOCASE. Undefined: the library has none of this kind. */
function collationOf(
  { columns }: IndexStatement,
  fields: readonly (FieldDefinition | undefined)[],
): 'binary' | 'nocase' | undefined {
  const names = columns.map(({ collate }) => collate.toLowerCase() || 'binary')
  const unknown = names.find((name) => !['binary', 'nocase', 'rtrim'].includes(name))
  if (unknown !== undefined) throw new SqlError(`SQL logic error: no such collation sequence: ${unknown} (1)`)
  // Numbers are the same in each.
  const used = new Set(names.filter((_, place) => !PLAIN_TYPES.has(fields[place]?.type ?? '')))
  if (used.size > 1 || used.has('rtrim')) return undefined
  return used.has('nocase') ? 'nocase' : 'binary'
}

type Selector = Readonly<Record<string, unknown>>

/** Undefined: it says more than a selector can. */
function selectorOf(where: SqlExpression, fields: readonly FieldDefinition[]): Selector | undefined {
  if (where.kind !== 'binary') return undefined
  const { operator, left, right } = where
  if (operator === 'and' || operator === 'or') {
    const parts = [selectorOf(left, fields), selectorOf(right, fields)]
    return parts.includes(undefined) ? undefined : { [`$${operator}`]: parts }
  }
  const comparison = OPERATORS.get(operator)
  if (left.kind !== 'column' || right.kind !== 'literal' || comparison === undefined) return undefined
  const field = fieldNamed(left.name, fields)
  const value = storedValue(field, right.value)
  if (value === undefined) return undefined
  // What a text is that is not empty, as the planner likes it best.
  const condition = value === '' && comparison === '$ne' ? { $gt: '' } : { [comparison]: value }
  return { [field.name === 'id' ? '_id' : field.name]: condition }
}

const OPERATORS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '=': '$eq',
    '!=': '$ne',
    '<': '$lt',
    '<=': '$lte',
    '>': '$gt',
    '>=': '$gte',
  }),
)

const TEXT_TYPES: ReadonlySet<string> = new Set(['text', 'editor', 'email', 'url', 'date', 'autodate', 'password'])

/** What SQLite compares the column with, as documents have it. Undefined: not comparable. */
function storedValue(field: FieldDefinition, value: string | number | boolean | null): unknown {
  if (value === null) return undefined
  if (isMany(field)) return value === '[]' ? [] : undefined
  const isText = TEXT_TYPES.has(field.type) || ['select', 'file', 'relation'].includes(field.type)
  if (isText) return typeof value === 'boolean' ? undefined : toText(value)
  if (field.type === 'number') return toNumber(value)
  if (field.type === 'bool') return [true, 1, false, 0].includes(value as number) ? Boolean(value) : undefined
  return undefined
}
