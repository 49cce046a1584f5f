/** Map/reduce by walking everything: what views are compared with. Options are the native ones; rows are plain data. */
import { compareStrings, compareValues } from '../src/codec/collation.ts'
import type { Emit } from '../src/view/view-definition.ts'
import type { ViewOptions } from '../src/view/view-options.ts'
import { assertEqual } from './check.ts'

export interface NaiveRow {
  readonly id: string
  readonly key: unknown
  readonly value: unknown
}

type NaiveDocument = { readonly _id: string } & Record<string, unknown>

/** All rows in order. */
export function naiveRows(
  documents: Iterable<NaiveDocument>,
  map: (document: NaiveDocument, emit: Emit) => void,
): NaiveRow[] {
  const rows: NaiveRow[] = []
  for (const document of documents) {
    if (document._id.startsWith('_design/')) continue
    const own: NaiveRow[] = []
    try {
      map(document, (key, value) => own.push({ id: document._id, key: plain(key), value: plain(value) }))
      rows.push(...own)
    } catch {
      // A document that can't be mapped has no rows.
    }
  }
  return rows.sort(
    (a, b) => compareValues(a.key, b.key) || compareStrings(a.id, b.id) || compareValues(a.value, b.value),
  )
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null))
}

export interface NaiveAnswer {
  readonly total?: number
  readonly offset?: number
  readonly rows: { readonly id?: string; readonly key: unknown; readonly value: unknown }[]
}

/** `reduce` makes of the rows of a group, in order, its value. */
export function naiveQuery(
  rows: readonly NaiveRow[],
  options: ViewOptions,
  reduce?: (rows: readonly NaiveRow[]) => unknown,
): NaiveAnswer {
  const { keys, skip = 0, limit = Infinity, descending = false, group = false } = options
  const reduced = options.reduce !== false && reduce !== undefined
  const walked = descending ? rows.toReversed() : rows
  const parts: readonly ViewOptions[] = keys === undefined ? [options] : keys.map((key) => ({ key }))
  const selected = parts.map((part) => walked.filter((row) => inRange(row, part)))
  if (!reduced) {
    const first = walked.findIndex((row) => parts[0] !== undefined && inRange(row, parts[0]))
    const all = selected.flat()
    const offset = first < 0 ? undefined : Math.min(rows.length, first + skip)
    return { total: rows.length, ...(offset === undefined ? {} : { offset }), rows: all.slice(skip, skip + limit) }
  }
  const level = group === true ? Infinity : Number(group)
  const groups: { key: unknown; rows: NaiveRow[] }[] = []
  for (const part of selected) {
    let open: { key: unknown; rows: NaiveRow[] } | undefined
    for (const row of part) {
      const key = level === 0 ? null : Array.isArray(row.key) ? row.key.slice(0, level) : row.key
      if (open === undefined || compareValues(open.key, key) !== 0) groups.push((open = { key, rows: [] }))
      open.rows.push(row)
    }
  }
  const answer = groups.map((one) => ({
    key: one.key,
    value: reduce(descending ? one.rows.toReversed() : one.rows),
  }))
  return { rows: answer.slice(skip, skip + limit) }
}

function inRange({ key, id }: NaiveRow, options: ViewOptions): boolean {
  const { key: only, gte = only, gt, lte = only, lt, fromId, toId } = options
  const order = (bound: unknown, boundId: string | undefined): number =>
    compareValues(key, bound) || (boundId === undefined ? 0 : compareStrings(id, boundId))
  if (gt !== undefined ? order(gt, fromId) <= 0 : gte !== undefined && order(gte, fromId) < 0) return false
  return lt !== undefined ? order(lt, toId) < 0 : lte === undefined || order(lte, toId) <= 0
}

/** Compares an answer with the naive one. */
export function assertAnswer(actual: object, expected: NaiveAnswer, what: string): void {
  const { total, offset, rows } = actual as NaiveAnswer
  assertEqual(
    rows.map((row) => ({ ...row })),
    expected.rows.map((row) => ({ ...row })),
    what,
  )
  if (expected.total !== undefined) assertEqual(total, expected.total, `total of ${what}`)
  if (expected.offset !== undefined) assertEqual(offset, expected.offset, `offset of ${what}`)
}
