/** `CREATE INDEX` statements of definitions. They are kept as they were sent if they name the right table. What they mean, SQLite says. */
import { quoted } from '../fields/sqlite.ts'
import type { Definition } from './definition.ts'

interface IndexColumn {
  /** A column without quotes, or an expression. */
  readonly name: string
  /** Whether it is no expression. */
  readonly isNamed: boolean
  /** The expression that SQLite compares: with the collation, without the order. */
  readonly sql: string
  readonly collate: string
  readonly sort: '' | 'ASC' | 'DESC'
}

export interface IndexStatement {
  readonly schema: string
  readonly name: string
  readonly table: string
  readonly unique: boolean
  /** Whether the index is optional: `IF NOT EXISTS` */
  readonly optional: boolean
  readonly columns: readonly IndexColumn[]
  readonly where: string
}

/** The body of an index. */
export interface IndexBody {
  readonly columns: readonly Pick<IndexColumn, 'sql' | 'sort'>[]
  readonly where: string
}

const HEAD = /create\s+(unique\s+)?\s*index\s*(if\s+not\s+exists\s+)?(\S+)\s+on\s+([^\s(]*)\s*\(/i
const WHERE = /^\s*where\s+([\s\S]*)/i
const COLUMN = /^([\s\S]+?)(?:\s+collate\s+(\w+))?(?:\s+(asc|desc))?$/i

/** Undefined if it is no such statement, or has no column. */
export function parseIndex(statement: string): IndexStatement | undefined {
  const head = HEAD.exec(statement)
  if (head === null) return undefined
  const [whole, unique = '', optional = '', fullName = '', table = ''] = head
  const list = cut(statement.slice(head.index + whole.length), ',')
  if (list.rest === '') return undefined
  const [, where = ''] = WHERE.exec(list.rest.slice(1)) ?? []
  const columns = list.parts.map(columnOf).filter(({ name }) => name !== '')
  const names = cut(fullName, '.').parts.map(unquoted)
  const [schema, name] = names.length === 2 ? (names as [string, string]) : ['', names[0] ?? '']
  if (name === '' || columns.length === 0) return undefined
  return {
    schema,
    name,
    table: unquoted(table),
    unique: unique !== '',
    optional: optional !== '',
    columns,
    where: where.trim().replace(/;$/, '').trimEnd(),
  }
}

function columnOf(text: string): IndexColumn {
  const [, column = '', collate = '', sort = ''] = COLUMN.exec(text) ?? []
  const name = unquoted(column)
  const isNamed = /^[a-z_]\w*$/i.test(name)
  const sql = `${isNamed ? `\`${name}\`` : column}${collate && ` COLLATE ${collate}`}`
  return { name, isNamed, sql, collate, sort: sort.toUpperCase() as IndexColumn['sort'] }
}

/** Prints an index in PocketBase's normal form. */
function printIndex(index: IndexStatement): string {
  const { schema, name, table, unique, optional } = index
  const head = `CREATE ${unique ? 'UNIQUE ' : ''}INDEX ${optional ? 'IF NOT EXISTS ' : ''}`
  return `${head}${schema && `\`${schema}\`.`}\`${name}\` ON \`${table}\` ${bodyOf(index)}`
}

/** The text behind the name of the table. */
export function bodyOf({ columns, where }: IndexBody): string {
  const printed = columns.map(({ sql, sort }) => (sort === '' ? sql : `${sql} ${sort}`))
  const list = printed.length > 1 ? `\n  ${printed.join(',\n  ')}\n` : printed.join('')
  return `(${list})${where && ` WHERE ${where}`}`
}

/** The statement of an index that refuses nothing. `name`: in quotes. */
export function plainIndex(name: string, table: string, body: IndexBody): string {
  return `CREATE INDEX ${name} ON ${quoted(table)} ${bodyOf(body)}`
}

/** Equal for statements that make the same index, whatever it is called. */
export function definitionOf(index: IndexStatement): string {
  return printIndex({ ...index, schema: '', name: '', table: '' })
}

/** The index statements of a definition that can be read: all, if it was checked. */
export function statementsOf({ indexes }: Pick<Definition, 'indexes'>): readonly IndexStatement[] {
  const known = parsedIndexes.get(indexes)
  if (known !== undefined) return known
  const statements = indexes.flatMap((text) => parseIndex(text) ?? [])
  parsedIndexes.set(indexes, statements)
  return statements
}

/** Each login asks for the statements. Another definition has another list. */
const parsedIndexes = new WeakMap<readonly string[], readonly IndexStatement[]>()

/** The unique index of one column, in any case. */
export function uniqueIndexOf(definition: Pick<Definition, 'indexes'>, column: string): IndexStatement | undefined {
  return statementsOf(definition).find(
    ({ unique, columns: [first, ...others] }) => unique && others.length === 0 && isSameName(first!.name, column),
  )
}

/** As SQLite compares names. */
export function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

/** The statements of a definition, each on its collection, with those that accounts need. */
export function indexesOf({ id, name, type, indexes: given }: Definition): readonly string[] {
  const indexes = given.map((statement) => {
    const index = parseIndex(statement)
    return index === undefined || index.table === name ? statement : printIndex({ ...index, table: name })
  })
  const needed = type === 'auth' ? ACCOUNT_INDEXES.filter(([column]) => !uniqueIndexOf({ indexes }, column)) : []
  return [
    ...indexes,
    ...needed.map(([column, where]) => {
      const indexName = `idx_${column}_${id}`.slice(0, INDEX_NAME_MAX)
      return `CREATE UNIQUE INDEX \`${indexName}\` ON \`${name}\` (\`${column}\`)${where}`
    }),
  ]
}

const INDEX_NAME_MAX = 64
const ACCOUNT_INDEXES: readonly (readonly [column: string, where: string])[] = [
  ['tokenKey', ''],
  ['email', " WHERE `email` != ''"],
]

const QUOTES = /^[`"'[\]\s]+|[`"'[\]\s]+$/g

function unquoted(text: string): string {
  return text.replaceAll(QUOTES, '')
}

/** A token: a text, a name in quotes, a comment, or one sign. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--.*|\/\*[\s\S]*?(?:\*\/|$)|[\s\S]/g

/** Cuts a text at separators that are in no quotes and no parentheses, up to the end of those around it. Parts have no comments. */
function cut(text: string, separator: string): { readonly parts: readonly string[]; readonly rest: string } {
  const parts = ['']
  let [depth, at] = [0, 0]
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === ')' && depth === 0) break
    at += token.length
    if (token === '(') depth++
    else if (token === ')') depth--
    if (token === separator && depth === 0) parts.push('')
    else parts.push(parts.pop()! + (/^(?:--|\/\*)/.test(token) ? ' ' : token))
  }
  return { parts: parts.map((part) => part.trim()).filter((part) => part !== ''), rest: text.slice(at) }
}
