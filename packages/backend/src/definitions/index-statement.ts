/** `CREATE INDEX` statements of definitions. They are kept as they were sent if they name the right table. */
import type { Definition } from './definition.ts'

interface IndexColumn {
  /** A field, or an expression. */
  readonly name: string
  readonly collate: string
  readonly sort: '' | 'ASC' | 'DESC'
}

export interface IndexStatement {
  readonly schema: string
  readonly name: string
  readonly table: string
  readonly unique: boolean
  /** `IF NOT EXISTS` */
  readonly optional: boolean
  readonly columns: readonly IndexColumn[]
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
  const open = head.index + whole.length
  const close = placeOf(')', statement, open)
  if (close === statement.length) return undefined
  const list = statement.slice(open, close)
  const [, where = ''] = WHERE.exec(statement.slice(close + 1)) ?? []
  const columns = splitTopLevel(list, ',').flatMap((text): readonly IndexColumn[] => {
    const [, column = '', collate = '', sort = ''] = COLUMN.exec(text) ?? []
    const name = unquoted(column)
    return name === '' ? [] : [{ name, collate, sort: sort.toUpperCase() as IndexColumn['sort'] }]
  })
  const names = splitTopLevel(fullName, '.').map(unquoted)
  const [schema, name] = names.length === 2 ? (names as [string, string]) : ['', names[0] ?? '']
  if (name === '' || columns.length === 0) return undefined
  return {
    schema,
    name,
    table: unquoted(table),
    unique: unique !== '',
    optional: optional !== '',
    columns,
    where: where.trim(),
  }
}

/** In PocketBase's normal form. */
export function printIndex({ schema, name, table, unique, optional, columns, where }: IndexStatement): string {
  const printed = columns.map((column) => {
    const isExpression = /[( ]/.test(column.name)
    const sorted = column.sort === '' ? '' : ` ${column.sort}`
    return `${isExpression ? column.name : `\`${column.name}\``}${column.collate && ` COLLATE ${column.collate}`}${sorted}`
  })
  const list = printed.length > 1 ? `\n  ${printed.join(',\n  ')}\n` : printed.join('')
  const head = `CREATE ${unique ? 'UNIQUE ' : ''}INDEX ${optional ? 'IF NOT EXISTS ' : ''}`
  return `${head}${schema && `\`${schema}\`.`}\`${name}\` ON \`${table}\` (${list})${where && ` WHERE ${where}`}`
}

/** The unique index of one column, in any case. */
export function uniqueIndexOf(indexes: readonly string[], column: string): IndexStatement | undefined {
  for (const statement of indexes) {
    const index = parseIndex(statement)
    const [first, ...others] = index?.columns ?? []
    if (index?.unique === true && others.length === 0 && isSameName(first!.name, column)) return index
  }
  return undefined
}

/** As SQLite compares names. */
export function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

/** The statements of a definition, each on its collection, with those that accounts need. */
export function indexesOf({ id, name, type, indexes }: Definition): readonly string[] {
  const own = indexes.map((statement) => {
    const index = parseIndex(statement)
    return index === undefined || index.table === name ? statement : printIndex({ ...index, table: name })
  })
  const needed = type === 'auth' ? ACCOUNT_INDEXES.filter(([column]) => uniqueIndexOf(own, column) === undefined) : []
  return [
    ...own,
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

/** Parts between separators that are in no quotes and no parentheses, trimmed; without empty ones. */
function splitTopLevel(text: string, separator: string): string[] {
  const parts: string[] = []
  for (let start = 0; start <= text.length;) {
    const end = placeOf(separator, text, start)
    parts.push(text.slice(start, end).trim())
    start = end + 1
  }
  return parts.filter((part) => part !== '')
}

/** The next place of a sign that is in no quotes and no parentheses; else the end. */
function placeOf(sign: string, text: string, from: number): number {
  let [depth, quote] = [0, '']
  for (let at = from; at < text.length; at++) {
    const letter = text[at]!
    if (letter === sign && depth === 0 && quote === '') return at
    if (quote !== '') quote = letter === quote ? '' : quote
    else if (letter === '`' || letter === '"' || letter === "'") quote = letter
    else if (letter === '(') depth++
    else if (letter === ')') depth--
  }
  return text.length
}
