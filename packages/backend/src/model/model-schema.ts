/** The collections that a text of SQL may name, as tables and views, and whether it may read the clock. */
import type { Definition, ViewDefinition } from '../definitions/definition.ts'
import type { ModelSchema } from './protocol.ts'
import { plainQuery } from '../definitions/views/view-query.ts'
import { sourceOf, type TableSource } from './sources.ts'
import { isTimeOrNumber } from './tables.ts'

/** The collections that a text names, and those that its views read. */
export interface NamedCollections {
  readonly tables: readonly TableSource[]
  /** The views; a view stands behind the views that it reads. */
  readonly views: readonly ViewDefinition[]
}

/** By words: more than what is meant does no harm. `besides`: a view that is not meant. */
export function collectionsNamed(text: string, all: readonly Definition[], besides?: string): NamedCollections {
  const found = new Map(all.map((definition) => [definition.name.toLowerCase(), definition]))
  const seen = new Set([besides?.toLowerCase()])
  const tables: TableSource[] = []
  const views: ViewDefinition[] = []
  const visit = (words: string): void => {
    for (const [word] of words.toLowerCase().matchAll(/\w+/g)) {
      const definition = found.get(word)
      if (definition === undefined || seen.has(word)) continue
      seen.add(word)
      if (definition.type !== 'view') tables.push(sourceOf(definition))
      else {
        visit(definition.viewQuery)
        views.push(definition)
      }
    }
  }
  visit(text)
  return { tables, views }
}

export function schemaOf({ tables, views }: NamedCollections): ModelSchema {
  return {
    tables: tables.map(({ table }) => table),
    views: views.map(({ name, viewQuery: query }) => ({ name, query })),
  }
}

/** Functions whose values change by themselves, and those that read the clock where a time is the present. */
const VOLATILE = ['random', 'randomblob', 'current_date', 'current_time', 'current_timestamp', 'changes']
const OF_TIME = ['date', 'time', 'datetime', 'julianday', 'unixepoch', 'strftime', 'timediff']
const CALL = /\b(?:date|time|datetime|julianday|unixepoch|strftime|timediff)["`\]]*\s*\(/gi
/** A call whose time is a literal, a parameter or a column. */
const PLAIN_CALL =
  /\b(?:(?:date|time|datetime|julianday|unixepoch)\s*\(|strftime\s*\(\s*'[^']*'\s*,)\s*(?:'([^']*)'|:\w+|(?:\w+\.)?["`]?(\w+)["`]?)\s*(?=[,)])/gi
const QUOTES_AND_COMMENTS = /'(?:[^']|'')*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g
/** A column of such a query may be any expression, whatever its name is. */
const RENAMES = /\b(?:with|values|json_each|json_tree)\b|\bselect\b[\s\S]*\bselect\b/i

/** Whether SQLite takes a text for the present. It reads no further than U+0000. */
export function isPresent(text: string): boolean {
  return /^(?:now|subsec|subsecond)(?:\0|$)/i.test(text)
}

/** Whether a query calls a function of time. `functions`: as SQLite has found them, in lower case. */
export function hasTime(functions: readonly string[]): boolean {
  return functions.some((name) => OF_TIME.includes(name))
}

/**
 * Whether rows of queries may change by themselves. SQLite does not say so: `date(day)` reads the clock where `day` is 'now'. A parameter
 * counts as one that is not the present.
 */
export function readsClock(
  queries: readonly string[],
  { tables, views }: NamedCollections,
  functions: readonly string[],
): boolean {
  if (functions.some((name) => VOLATILE.includes(name))) return true
  const shown = views.flatMap(({ fields }) =>
    fields.map((field) => ({ name: field.name, isTimeOrNumber: isTimeOrNumber(field) })),
  )
  const columns = [...tables.flatMap(({ table }) => table.columns), ...shown]
  const isNeverPresent = (column: string): boolean => {
    const meant = columns.filter(({ name }) => name.toLowerCase() === column.toLowerCase())
    return meant.length > 0 && meant.every((one) => one.isTimeOrNumber)
  }
  let calls = 0
  let harmless = 0
  for (const query of queries) {
    const sql = plainQuery(query).replaceAll(QUOTES_AND_COMMENTS, (text) => (/^[-/]/.test(text) ? ' ' : text))
    calls += sql.match(CALL)?.length ?? 0
    for (const [, text, column] of sql.matchAll(PLAIN_CALL))
      if (column === undefined ? !isPresent(text ?? '') : !RENAMES.test(sql) && isNeverPresent(column)) harmless++
  }
  // SQLite may have found one that is not found here.
  return hasTime(functions) && (calls === 0 || harmless < calls)
}
