/** The joined rows of a view that its WHERE lets pass. */
import type { JsonObject } from '../../gateway/documents.ts'
import type { SqlExpression } from '../sql/expression.ts'
import { SqlError } from '../sql/tokens.ts'
import { findColumn, sqlValue, storedValue, truthOf, type JoinedRow, type RowScope } from './evaluate.ts'
import type { SelectJoin } from './select.ts'
import { mapped, STEP_ROWS, type Steps } from './steps.ts'
import type { ViewPlan, ViewTable } from './view-plan.ts'

/** Rows that a view joins. */
const ROWS_MAX = 1_000_000
/** Pairs of rows that its joins try, whether they fit or not. */
const TRIED_MAX = 2_000_000

/** @throws SqlError: there are too many */
export function* joinedRows(
  { select, tables }: ViewPlan,
  [first, ...others]: readonly (readonly JsonObject[])[],
  scopeOf: (row: JoinedRow) => RowScope,
): Steps<readonly JoinedRow[]> {
  const count = { tried: 0 }
  let rows: readonly JoinedRow[] = first?.map((document) => [document]) ?? [[]]
  for (const [place, join] of select.joins.entries()) {
    const conditions = [join.on, join.isLeft ? undefined : select.where].flatMap(conjunctsOf)
    const partners = partnersOf(others[place]!, conditions, tables, place + 1)
    rows = yield* joined(rows, { partners, join, scopeOf, count })
  }
  const { where } = select
  if (where === undefined) return rows
  const isMeant = yield* mapped(rows, (row) => truthOf(where, scopeOf(row)) === true)
  return rows.filter((_, place) => isMeant[place])
}

interface Joining {
  readonly partners: (row: JoinedRow) => readonly JsonObject[]
  readonly join: SelectJoin
  readonly scopeOf: (row: JoinedRow) => RowScope
  /** All joins of the view share it. */
  readonly count: { tried: number }
}

function* joined(
  rows: readonly JoinedRow[],
  { partners, join: { on, isLeft }, scopeOf, count }: Joining,
): Steps<readonly JoinedRow[]> {
  const result: JoinedRow[] = []
  for (const row of rows) {
    const before = result.length
    for (const partner of partners(row)) {
      if (++count.tried % STEP_ROWS === 0) yield
      if (count.tried > TRIED_MAX) throw new SqlError(`the view tries more than ${TRIED_MAX} pairs of rows`)
      const both = [...row, partner]
      if (on === undefined || truthOf(on, scopeOf(both)) === true) result.push(both)
      if (result.length > ROWS_MAX) throw new SqlError(`the view joins more than ${ROWS_MAX} rows`)
    }
    if (isLeft && result.length === before) result.push([...row, null])
  }
  return result
}

/** The conditions that must all hold. */
function conjunctsOf(expression: SqlExpression | undefined): readonly SqlExpression[] {
  if (expression?.kind !== 'binary' || expression.operator !== 'and')
    return expression === undefined ? [] : [expression]
  return [...conjunctsOf(expression.left), ...conjunctsOf(expression.right)]
}

/** The documents that may go with a row: by an equality with an earlier table if there is one. */
function partnersOf(
  documents: readonly JsonObject[],
  conditions: readonly SqlExpression[],
  tables: readonly ViewTable[],
  place: number,
): (row: JoinedRow) => readonly JsonObject[] {
  for (const condition of conditions) {
    if (condition.kind !== 'binary' || condition.operator !== '=') continue
    const sides = [condition.left, condition.right].map((side) =>
      side.kind === 'column' ? findColumn(side, tables) : undefined,
    )
    const own = sides.find((side) => side?.place === place)
    const other = sides.find((side) => side !== undefined && side.place < place)
    if (own === undefined || other === undefined) continue
    const byKey = Map.groupBy(documents, (document) => keyOf(sqlValue(own.field, storedValue(document, own.field))))
    return (row) => {
      const value = sqlValue(other.field, storedValue(row[other.place] ?? null, other.field))
      return value === null ? [] : (byKey.get(keyOf(value)) ?? [])
    }
  }
  return () => documents
}

/** A text that is a number is equal to it. */
function keyOf(value: string | number | null): string {
  return typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))
    ? String(Number(value))
    : String(value)
}
