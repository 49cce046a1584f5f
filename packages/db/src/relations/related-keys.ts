/** Reads the ids and the numbers that relations need, in slices: one attempt for each batch. */
import type { Key } from '../base/brand.ts'
import { isPromise } from '../base/async.ts'
import { decodeKey, prefixUpperBound } from '../codec/key-encoding.ts'
import type { Cursor, TreeReader } from '../kv/key-value-store.ts'
import { isAlways, type Condition } from '../query/ast/normalise.ts'
import { intervalsOf, pointAt, points, STRINGS, type Interval } from '../query/ast/value-set.ts'
import { idKey } from '../query/columns/collection-rows.ts'
import { compileCondition } from '../query/match.ts'
import { buildOperators, scanEntries } from '../query/operators/build.ts'
import { BATCH_ROWS_MAX, STEP_ROWS_MAX, type EntryRow, type Operator } from '../query/operators/operator.ts'
import { bodyFields, entryFields } from '../query/operators/project.ts'
import { fetchRows, fullScan } from '../query/operators/scans.ts'
import { entryRange } from '../query/planner/key-ranges.ts'
import type { RelatedStep } from '../query/query-run.ts'
import { planQuery, type Plan, type QuerySpecification } from '../query/planner/plan.ts'
import type { QuerySource } from '../query/query-source.ts'
import { collectSet } from '../query/sets/collect-set.ts'
import { NumberSetBuilder, type NumberSet } from '../query/sets/number-set.ts'

/** One query under way: the source of its own collection, by which it waits, and whether it is still wanted. */
export interface Run {
  readonly source: QuerySource
  /** Checks it. Throws when it is not. */
  check(): void
  /** The steps that were answered, for explain. */
  readonly related: RelatedStep[]
}

/** A query for these fields of all documents that meet the condition. */
export function allOf(condition: Condition, fields: readonly string[]): QuerySpecification {
  return { condition, sort: [], skip: 0, limit: Infinity, fields }
}

/** `self`: an array that has one of them is not one of them. */
export function isOneOf(field: string, ids: readonly string[], self: boolean): Condition {
  const values = ids.length === 1 ? pointAt(ids[0]) : points([...ids].sort())
  return { kind: 'within', path: field, values, every: false, whole: self, self }
}

/** The values of the one field that the query is for, as its plan finds them. */
export async function fieldValues(
  run: Run,
  target: QuerySource,
  plan: Plan,
  query: QuerySpecification,
): Promise<unknown[]> {
  const field = query.fields![0]!
  const values: unknown[] = []
  await eachBatch(run, await run.source.attempt(() => buildOperators(target, plan, query)), (rows) => {
    for (const row of rows) values.push((row as Record<string, unknown>)[field])
  })
  return values
}

/** The numbers of the documents that meet the condition. */
export async function numbersOf(run: Run, target: QuerySource, condition: Condition): Promise<NumberSet> {
  const plan = await run.source.attempt(() => planQuery(target, allOf(condition, [])))
  const { access, residual } = plan
  if (isAlways(residual) && access.kind !== 'scan') return collectSet(target, access, () => run.check())
  const numbers = new NumberSetBuilder()
  await eachBatch(run, await run.source.attempt(() => numberedRows(target, plan)), (rows) => {
    for (const { number } of rows) numbers.add(number)
  })
  return numbers.build()
}

/** The numbers of the documents with these ids; ids that lead nowhere add nothing. */
export async function numbersOfIds(run: Run, target: QuerySource, ids: readonly string[]): Promise<NumberSet> {
  const numbers = new NumberSetBuilder()
  const keys = ids.flatMap((id) => idKey(id) ?? []).sort()
  for (let at = 0; at < keys.length; at += BATCH_ROWS_MAX) {
    run.check()
    const found = await run.source.attempt(() => target.documents.numbersOf(keys.slice(at, at + BATCH_ROWS_MAX)))
    for (const number of found) if (number !== undefined) numbers.add(number)
    await run.source.pause()
  }
  return numbers.build()
}

/**
 * The different strings of an index's first field, of documents in the set. It jumps from value to value. Undefined if a
 * string was cut off in its key: then documents have to tell.
 */
export async function distinctStrings(
  run: Run,
  tree: TreeReader,
  descending: boolean,
  numbers: NumberSet | undefined,
): Promise<string[] | undefined> {
  const values = new DistinctStrings(tree, descending, numbers)
  for (;;) {
    run.check()
    const ended = await run.source.attempt(() => values.step())
    if (values.isCutOff) return undefined
    if (ended) return values.found
    await run.source.pause()
  }
}

const [ALL_STRINGS] = intervalsOf(STRINGS) as [Interval]

class DistinctStrings {
  readonly found: string[] = []
  isCutOff = false
  readonly #tree: TreeReader
  readonly #descending: boolean
  readonly #numbers: NumberSet | undefined
  readonly #end: Key | undefined
  #next: Key | undefined
  #cursor: Cursor | undefined

  constructor(tree: TreeReader, descending: boolean, numbers: NumberSet | undefined) {
    const { gte, lt } = entryRange('', ALL_STRINGS, descending)
    this.#tree = tree
    this.#descending = descending
    this.#numbers = numbers
    this.#next = gte
    this.#end = lt
  }

  /** True at the end. A Miss keeps what was found by then. */
  step(): boolean {
    for (let looked = 0; looked < STEP_ROWS_MAX; looked++) {
      if (this.#next !== undefined && this.#end !== undefined && this.#next >= this.#end) return true
      const cursor = (this.#cursor ??= this.#tree.cursor({ gte: this.#next, lt: this.#end }))
      if (!cursor.next()) return true
      if (this.#numbers !== undefined && !this.#numbers.has(cursor.keyNumber)) continue
      const { key } = cursor
      const { value, next, exact } = decodeKey(key, 0, this.#descending)
      this.isCutOff = !exact
      if (!exact) return true
      this.found.push(value as string)
      this.#next = prefixUpperBound(key.slice(0, next))
      this.#cursor = undefined
      if (this.#next === undefined) return true
    }
    return false
  }
}

/** Calls `take` with every batch of rows. */
export async function eachBatch<Row>(
  run: Run,
  rows: Operator<Row>,
  take: (rows: readonly Row[]) => void,
): Promise<void> {
  for (;;) {
    run.check()
    const attempted = run.source.attempt(() => rows.next(BATCH_ROWS_MAX))
    const batch = isPromise(attempted) ? await attempted : attempted
    if (batch === undefined) return
    take(batch)
    const paused = run.source.pause()
    if (isPromise(paused)) await paused
  }
}

/** The rows of a plan that tests documents or entries, as numbers. */
function numberedRows(source: QuerySource, { access, residual, filter }: Plan): Operator<EntryRow> {
  const ofBody = testedBy(compileCondition(residual, bodyFields(source.documents), ({ number }) => number))
  if (access.kind === 'scan') return fullScan(source, undefined, ofBody)
  const readsEntries = filter === 'entries'
  const fieldCount = readsEntries ? Infinity : undefined
  const entries = scanEntries(source, access, { reverse: false, skip: 0, fieldCount })
  const ofEntry = readsEntries
    ? testedBy(compileCondition(residual, entryFields(access), ({ number }: EntryRow) => number))
    : (): undefined => undefined
  return fetchRows(entries, source, { ofBody, ofEntry }, true)
}

function testedBy<Row extends { readonly number: number }>(
  test: (row: Row) => boolean,
): (row: Row) => EntryRow | undefined {
  return (row) => (test(row) ? { number: row.number, values: undefined } : undefined)
}
