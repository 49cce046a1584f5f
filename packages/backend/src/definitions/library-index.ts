/** `CREATE INDEX` statements as indexes of the library. docs/internals/backend-definitions.md says which can be. */
import { crc32 } from 'node:zlib'
import type { IndexInput, PannierError } from 'pannier'
import { NOCASE, type SearchedText } from 'pannier/internal'
import { columnType } from '../fields/columns.ts'
import { isMany, type FieldDefinition } from '../fields/field-definition.ts'
import { NOT_UNIQUE } from '../fields/field-errors.ts'
import { holdsRecords } from '../fields/field-types.ts'
import type { ErrorData } from '../gateway/service-error.ts'
import type { Definition } from './definition.ts'
import { isSameName, statementsOf, type IndexStatement } from './index-statement.ts'
import { ruleIndexesOf } from './rule-indexes.ts'
import { fieldsNamedIn, keyPath, SQL_KEY } from './unique-key.ts'

export interface LibraryIndex {
  /** The name in the library. It changes with each part of the index. */
  readonly name: string
  /** The fields of the columns. SQLite names none if one of them is an expression. */
  readonly fields: readonly string[]
  /** The columns, and what expressions and the condition read. */
  readonly reads: readonly string[]
  readonly unique: boolean
  /** A unique one has what `documentKey` takes. */
  readonly key?: string
  readonly input: LongInput
}

type LongInput = Exclude<IndexInput, string | readonly string[]>

/** The most columns, by the library's limit. */
const COLUMNS_MAX = 4
const NAME_CHARS_MAX = 100

/** Undefined for an index that the library can't have: it would make nothing faster here. */
export function libraryIndexOf(statement: IndexStatement, definition: Definition): LibraryIndex | undefined {
  const { unique } = statement
  const columns = columnsOf(statement, definition)
  const own = columns && ownInput(statement, columns, definition)
  if (!unique && (own === undefined || isNeedless(statement, columns!))) return undefined
  const key = keyPath(statement, definition)
  const input = { ...(own ?? { on: key, dialect: 'couchdb' as const, collation: SQL_KEY }), ...(unique && { unique }) }
  const name = `${statement.name.slice(0, NAME_CHARS_MAX)} ${crc32(JSON.stringify(input))}`
  const reads = fieldsNamedIn(statement, definition).map((field) => field.name)
  const names = columns?.map((field) => field.name) ?? []
  return { name, fields: names, reads, unique, ...(unique && { key }), input: { ...input, name } }
}

/** Whether the library makes it of fields. Others are SQLite's: it says whether they are right. */
export function isPlain(statement: IndexStatement, definition: Definition): boolean {
  const columns = columnsOf(statement, definition)
  return columns !== undefined && ownInput(statement, columns, definition) !== undefined
}

const known = new WeakMap<Definition, readonly LibraryIndex[]>()

/** Indexes of the library for a definition that was checked: declared ones, and further ones for its list rule. */
export function libraryIndexesOf(definition: Definition): readonly LibraryIndex[] {
  let indexes = known.get(definition)
  if (indexes === undefined) known.set(definition, (indexes = makeIndexes(definition)))
  return indexes
}

function makeIndexes(definition: Definition): readonly LibraryIndex[] {
  const declared = declaredIndexesOf(definition)
  // What SQLite makes the keys of is found by its columns, too.
  const found = statementsOf(definition).flatMap((statement) => {
    const isKeyed = statement.unique && statement.where !== '' && !isPlain(statement, definition)
    return isKeyed ? (libraryIndexOf({ ...statement, unique: false, where: '' }, definition) ?? []) : []
  })
  const whole = [...declared, ...found].filter(({ input }) => input.where === undefined && input.collation !== SQL_KEY)
  const needed = ruleIndexesOf(definition).filter(
    ({ on, multi }) => multi || !whole.some(({ fields }) => fields[0] === on),
  )
  const made = needed.map(({ on, ...input }) => makeIndex([on], { ...input, on }))
  const { index, paths } = searchedText(definition)
  const text = paths.length === 0 ? [] : [makeIndex(paths, { on: paths, text: true, name: index })]
  return [...declared, ...found, ...made, ...text]
}

function makeIndex(fields: readonly string[], input: LibraryIndex['input'] & { readonly name: string }): LibraryIndex {
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

/** Indexes that a definition declares, and that the library can have. */
export function declaredIndexesOf(definition: Definition): readonly LibraryIndex[] {
  return statementsOf(definition).flatMap((statement) => libraryIndexOf(statement, definition) ?? [])
}

/** For each column of the index that has refused a value; `written`: whose records were written. */
export function uniqueErrors({ details }: PannierError, written: readonly Definition[]): ErrorData {
  const indexes = written.flatMap(libraryIndexesOf)
  const fields = indexes.find(({ name }) => name === details?.['index'])?.fields ?? []
  return Object.fromEntries(fields.map((name) => [name, NOT_UNIQUE]))
}

/** The library indexes ids, and relation fields, by itself. */
function isNeedless({ where }: IndexStatement, [first, ...others]: readonly FieldDefinition[]): boolean {
  return where === '' && others.length === 0 && (first!.name === 'id' || holdsRecords(first!))
}

/** Undefined: one of them is an expression, or no field. */
function columnsOf({ columns }: IndexStatement, { fields }: Definition): readonly FieldDefinition[] | undefined {
  const found = columns.map(({ isNamed, name }) => (isNamed ? fieldNamed(name, fields) : undefined))
  return found.includes(undefined) ? undefined : (found as FieldDefinition[])
}

function fieldNamed(name: string, fields: readonly FieldDefinition[]): FieldDefinition | undefined {
  return fields.find((field) => isSameName(field.name, name))
}

/** Undefined: the library has none of this kind, or would take other values for the same. */
function ownInput(
  { unique, columns: declared, where }: IndexStatement,
  columns: readonly FieldDefinition[],
  { fields }: Definition,
): LongInput | undefined {
  const on = columns.map(({ name }, at) => (declared[at]!.sort === 'DESC' ? `-${pathOf(name)}` : pathOf(name)))
  // A list or an object is a text for SQLite, and the NULLs of JSON differ.
  const isOther = unique && columns.some((field) => columnType(field) === 'JSON')
  // Numbers are in the same order in each collation.
  const texts = columns.flatMap((field, at) =>
    isNumber(field) ? [] : [declared[at]!.collate.toLowerCase() || 'binary'],
  )
  const [collation = 'binary', ...others] = new Set(texts)
  if (isOther || new Set(columns).size < on.length || on.length > COLUMNS_MAX || others.length > 0) return undefined
  const isNocase = collation === 'nocase'
  const selector = where === '' ? {} : selectorOf(where, fields, isNocase)
  if (selector === undefined || (collation !== 'binary' && !isNocase)) return undefined
  return {
    on,
    ...(where !== '' && { where: selector }),
    ...(isNocase && { dialect: 'couchdb' as const, collation: NOCASE.name }),
  }
}

function pathOf(name: string): string {
  return name === 'id' ? '_id' : name
}

function isNumber(field: FieldDefinition): boolean {
  const type = columnType(field)
  return type === 'NUMERIC' || type === 'BOOLEAN'
}

type Selector = Readonly<Record<string, unknown>>

const COMPARISON =
  /^[`"[]?(\w+)[`"\]]?\s*(==?|!=|<>|<=?|>=?)\s*('(?:[^']|'')*'|""|-?\d{1,15}(?:\.\d{1,9})?|true|false)$/i

const OPERATORS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '=': '$eq',
    '==': '$eq',
    '!=': '$ne',
    '<>': '$ne',
    '<': '$lt',
    '<=': '$lte',
    '>': '$gt',
    '>=': '$gte',
  }),
)

/** Comparisons of columns with literals, joined by AND. Undefined: it says more, or something that a selector means otherwise. */
function selectorOf(where: string, fields: readonly FieldDefinition[], isNocase: boolean): Selector | undefined {
  const parts = where.split(/\s+and\s+/i).map((text): Selector | undefined => {
    const [, name = '', operator = '', literal = ''] = COMPARISON.exec(text) ?? []
    const field = fieldNamed(name, fields)
    const comparison = OPERATORS.get(operator)!
    const value = field && valueOf(field, literal, comparison)
    if (value === undefined || (isNocase && typeof value === 'string' && value !== '')) return undefined
    // What a text is that is not empty, as the planner likes it best.
    return { [pathOf(field!.name)]: value === '' && comparison === '$ne' ? { $gt: '' } : { [comparison]: value } }
  })
  if (parts.includes(undefined)) return undefined
  return parts.length === 1 ? parts[0] : { $and: parts }
}

/** The value that SQLite compares the column with, as documents have it. Undefined: no such value. */
function valueOf(field: FieldDefinition, literal: string, comparison: string): unknown {
  const text = /^['"]/.test(literal) ? literal.slice(1, -1).replaceAll("''", "'") : undefined
  const isEquality = comparison === '$eq' || comparison === '$ne'
  const isFlag = /^(?:true|false)$/i.test(literal)
  switch (columnType(field)) {
    case 'NUMERIC':
      return text === undefined && !isFlag ? Number(literal) : undefined
    case 'BOOLEAN':
      return new Map([
        ['0', false],
        ['false', false],
        ['1', true],
        ['true', true],
      ]).get(literal.toLowerCase())
    case 'JSON':
      return isMany(field) && text === '[]' && isEquality ? [] : undefined
    default:
      // Others have another order by code units than by bytes.
      if (text !== undefined) return isEquality || /^[\0-\x7f]*$/.test(text) ? text : undefined
      return /^-?\d+$/.test(literal) ? String(Number(literal)) : undefined
  }
}
