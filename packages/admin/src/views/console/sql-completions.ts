/** Completions of a statement of SQL: tables, columns of the tables that it names, words of SQL. */
import type { Collection } from '../../api/collections.ts'
import type { Completions } from '../../parts/code-editor/contract.ts'
import { findCollection } from '../../state/collections.ts'
import { CONSOLE } from '../../texts/console.ts'
import { kindOf } from '../kinds.ts'

const WORDS =
  'select from where group by order having limit offset join left on as and or not null is in like between case when then else end distinct count sum avg min max union all with insert into values update set delete desc asc exists'.split(
    ' ',
  )
/** A text in quotes or a comment that is still open. */
const OPEN = /^(?:[^'"\-/]|'[^']*'|"[^"]*"|--.*\n|-(?!-)|\/\*[\s\S]*?\*\/|\/(?!\*))*(?:'[^']*|--.*|\/\*[\s\S]*)$/
/** `from posts p`, `join users as u` */
const NAMED = /\b(?:from|join|update|into)\s+["`[]?(\w+)["`\]]?(?:\s+(?:as\s+)?(\w+))?/gi

/** `databases`: names of those that CouchDB's door serves. */
export function completeSql(
  text: string,
  position: number,
  list: readonly Collection[],
  databases: readonly string[],
): Completions | undefined {
  const before = text.slice(0, position)
  if (OPEN.test(before)) return undefined
  const [, table, word = ''] = /(?:(\w+)\.)?(\w*)$/.exec(before) ?? []
  const from = position - word.length
  const named = Array.from(text.matchAll(NAMED), ([, name = '', alias = name]) => ({ name, alias }))
  if (table !== undefined) {
    const meant = named.find(({ alias }) => alias.toLowerCase() === table.toLowerCase())?.name ?? table
    return { from, options: columnsOf(findCollection(list, meant)), isOffered: true }
  }
  const isTable = /\b(?:from|join|update|into)\s+\w*$/i.test(before)
  const tables = [
    ...list.map(({ name, type }) => ({ label: name, detail: type })),
    ...databases.map((name) => ({
      label: name,
      detail: CONSOLE.database,
      apply: /^\w+$/.test(name) ? name : `"${name}"`,
    })),
  ]
  if (isTable) return { from, options: tables, isOffered: true }
  const columns = new Map(
    named.flatMap(({ name }) => columnsOf(findCollection(list, name))).map((one) => [one.label, one]),
  )
  const words = WORDS.filter((one) => !columns.has(one)).map((label) => ({ label }))
  return { from, options: [...columns.values(), ...tables.filter(({ label }) => !columns.has(label)), ...words] }
}

function columnsOf(collection: Collection | undefined): Completions['options'] {
  return (collection?.fields ?? [])
    .filter((field) => !kindOf(field).isHashed)
    .map((field) => ({ label: field.name, detail: kindOf(field).label }))
}
