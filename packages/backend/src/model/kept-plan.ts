/** Finds views whose rows can be kept by their ids: one row for each id that the query groups by. */
import { plainQuery, readViewQuery } from '../definitions/views/view-query.ts'
import type { KeptView, ModelTable, ModelView } from './protocol.ts'

/** Words that begin a clause, outside of parentheses and quotes. */
const CLAUSE =
  /^(select|from|where|group\s+by|having|order\s+by|limit|union|except|intersect|window|with|values)(?![\w.])/i
const CLAUSES_TAKEN = new Set(['select', 'from', 'where', 'group by', 'having'])
/** Rows of another form, rows whose order counts, what changes by itself, and tables that are no sources: `a IN bans`. */
const NOT_KEPT =
  /--|\/\*|\bin\b\s*[^\s(]|\bover\s*\(|\(\s*(select|with|values)\b|\bdistinct\s|\bjson_(each|tree|group_\w+)\b|\b(group_concat|string_agg|random|randomblob|filter)\s*\(|\b(right|full|natural)\b|\busing\s*\(/i
const JOIN = /,|\bleft\s+(?:outer\s+)?join\b|\binner\s+join\b|\bcross\s+join\b|\bjoin\b/i
const TABLE = /^\s*`?(\w+)`?(?:\s+(?:as\s+)?`?(?!on\b)(\w+)`?)?\s*(?:on\b|$)/i
const AGGREGATE = /\b(?:count|sum|avg|total|min|max)\s*\(/i
/** Words of expressions that are no columns. */
const WORDS = new Set(['as', 'and', 'or', 'not', 'is', 'null', 'true', 'false', 'case', 'when', 'then', 'else', 'end'])
const TYPES = new Set(['int', 'integer', 'real', 'text', 'numeric', 'decimal', 'boolean', 'bool'])

/** Undefined: the view has another form, or reads a view. `tables`: those that it names. */
export function keptPlan({ name, query: viewQuery }: ModelView, tables: readonly ModelTable[]): KeptView | undefined {
  const query = plainQuery(viewQuery)
  const clauses = NOT_KEPT.test(query) ? undefined : clausesOf(query)
  const from = clauses?.get('from')
  const groupedBy = clauses?.get('group by')?.replaceAll('`', '')
  const { columns } = readViewQuery(query)
  const id = columns.find(({ alias }) => alias === 'id')?.original
  if (clauses === undefined || from === undefined || id === undefined || groupedBy !== id) return undefined
  const sources = from.split(JOIN).map((text) => TABLE.exec(text))
  const joined = sources.map((found) => ({ table: found?.[1] ?? '', alias: found?.[2] ?? found?.[1] ?? '' }))
  const [owner = '', column] = id.split('.')
  const tableOf = (table: string): ModelTable | undefined => tables.find((one) => isSame(one.name, table))
  if (column === undefined || joined.some(({ table }) => tableOf(table) === undefined)) return undefined
  const source = joined.find(({ alias }) => isSame(alias, owner))
  const declared = source && tableOf(source.table)!.columns.find((one) => one.name === column)?.declaration
  if (declared?.startsWith('TEXT') !== true) return undefined
  const isOfId = (text: string): boolean => isSame(text, id) || (column === 'id' && isSame(text.split('.')[0]!, owner))
  if (!columns.every(({ original }) => columnsBeside(original)?.every(isOfId))) return undefined
  // A condition may hold because there is no partner: without it there are more ids, and all that change are among them.
  const where = /\bleft\b/i.test(from) ? undefined : clauses.get('where')
  const also = where === undefined ? '' : ` AND (${where})`
  const named = from.match(/\w+\.\w+/g) ?? []
  const joins = [id, ...named].flatMap((text) => {
    const [alias = '', name = ''] = text.split('.')
    const table = tableOf(joined.find((one) => isSame(one.alias, alias))?.table ?? '')
    const found = table?.columns.find((one) => isSame(one.name, name))
    return found === undefined || found.name === 'id' ? [] : [{ table: table!.name, column: found.name }]
  })
  return {
    name,
    query: viewQuery,
    joins,
    sources: joined.map(({ table, alias }) => ({
      table: tableOf(table)!.name,
      ids: `SELECT DISTINCT ${id} FROM ${from} WHERE ${alias}.id = ?${also}`,
    })),
  }
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

/** Undefined: a clause that makes rows of another form, or comes twice. */
function clausesOf(query: string): ReadonlyMap<string, string> | undefined {
  const clauses = new Map<string, string>()
  let [word, begin, depth, quote] = ['', 0, 0, '']
  const end = (at: number): boolean => {
    const text = query.slice(begin, at).trim()
    if (word === '') return text === ''
    const isNew = CLAUSES_TAKEN.has(word) && !clauses.has(word)
    clauses.set(word, text)
    return isNew
  }
  for (let at = 0; at < query.length; at++) {
    const sign = query[at]!
    if (quote !== '') {
      if (sign === quote) quote = ''
      continue
    }
    if (`'"\`[`.includes(sign)) quote = sign === '[' ? ']' : sign
    else if (sign === '(') depth++
    else if (sign === ')') depth--
    if (depth > 0 || quote !== '' || /[\w.]/.test(query[at - 1] ?? ' ')) continue
    const found = CLAUSE.exec(query.slice(at, at + 40))
    if (found === null) continue
    if (!end(at)) return undefined
    word = found[1]!.toLowerCase().replace(/\s+/, ' ')
    at += found[0].length - 1
    begin = at + 1
  }
  return end(query.length) ? clauses : undefined
}

/** The columns that an expression reads outside of its aggregates. Undefined: it can't be said. */
function columnsBeside(expression: string): readonly string[] | undefined {
  let rest = expression.replaceAll(/'(?:[^']|'')*'/g, '')
  for (let found = AGGREGATE.exec(rest); found !== null; found = AGGREGATE.exec(rest)) {
    const from = found.index + found[0].length
    let [at, depth] = [from, 1]
    for (; at < rest.length && depth > 0; at++) {
      const sign = rest[at]
      if (sign === '(') depth++
      else if (sign === ')') depth--
      // Two arguments make `min` and `max` other functions.
      else if (sign === ',' && depth === 1) return undefined
    }
    if (AGGREGATE.test(rest.slice(from, at))) return undefined
    rest = rest.slice(0, found.index) + rest.slice(at)
  }
  if (/["[\]]/.test(rest)) return undefined
  const names = rest.replaceAll('`', '').match(/[A-Za-z_][\w.]*(?!\w*\s*\()/g) ?? []
  return names.filter((name) => !WORDS.has(name.toLowerCase()) && !TYPES.has(name.toLowerCase()))
}
