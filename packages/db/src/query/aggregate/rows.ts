/** Turns groups into the wanted rows: tests, sorts and cuts them. With a limit it holds about twice `skip + limit` rows. */
import { compareValues } from '../../codec/collation.ts'
import { compileFieldPath, fieldNames, getField } from '../../codec/field-path.ts'
import { expressionsOf, isAlways, type Condition } from '../ast/normalise.ts'
import { compileCondition } from '../match.ts'
import { setField } from '../operators/project.ts'
import type { QuerySource } from '../query-source.ts'
import { sortInSlices } from '../sort-in-slices.ts'
import { prepareRegexes } from '../regex/check-regex.ts'
import { compareGroups, GROUP_BYTES_MAX } from './group-table.ts'
import type { GroupsSpecification } from './specification.ts'
import { aggregateGroups, type ResultGroup } from './run-aggregate.ts'

interface Candidate {
  readonly row: object
  readonly group: ResultGroup
}

/** Rows that are held beyond those that are wanted. */
const SPARE_ROWS = 1024

export async function groupRows(
  source: QuerySource,
  condition: Condition,
  specification: GroupsSpecification,
  check: () => void,
  groupBytesMax: number = GROUP_BYTES_MAX,
): Promise<object[]> {
  const { skip, limit } = specification
  const compare = rowOrder(specification)
  let rows: Candidate[] = []
  for await (const batch of candidates(source, condition, specification, check, groupBytesMax)) {
    for (const candidate of batch) rows.push(candidate)
    if (rows.length > 2 * (skip + limit) + SPARE_ROWS)
      rows = (await sortInSlices(rows, compare, source.pause)).slice(0, skip + limit)
  }
  rows = await sortInSlices(rows, compare, source.pause)
  return rows.slice(skip, skip + limit).map(({ row }) => row)
}

export async function countGroups(
  source: QuerySource,
  condition: Condition,
  specification: GroupsSpecification,
  check: () => void,
): Promise<number> {
  let count = 0
  // Computes only what is asked for.
  const needed = isAlways(specification.having) ? { ...specification, steps: [] } : specification
  for await (const batch of candidates(source, condition, needed, check, GROUP_BYTES_MAX)) count += batch.length
  return count
}

async function* candidates(
  source: QuerySource,
  condition: Condition,
  { empty, groupPaths, steps, having, sort, skip, limit }: GroupsSpecification,
  check: () => void,
  groupBytesMax: number,
): AsyncGenerator<Candidate[], void, undefined> {
  await prepareRegexes(expressionsOf(having))
  const passes = compileCondition<object>(having, rowReader)
  const names = groupPaths.map(fieldNames)
  const groupsMax = sort.length === 0 && isAlways(having) ? skip + limit : Infinity
  const work = { condition, empty, groupPaths, steps, groupBytesMax, groupsMax }
  for await (const groups of aggregateGroups(source, work, check)) {
    const rows = groups.map((group): Candidate => {
      const row: Record<string, unknown> = {}
      group.values.forEach((value, at) => {
        if (value !== undefined) setField(row, names[at]!, value)
      })
      steps.forEach(({ name }, at) => {
        const result = group.results[at]
        if (result !== undefined) setField(row, [name], result)
      })
      return { row, group }
    })
    yield rows.filter(({ row }) => passes(row))
  }
}

function rowReader(path: string): (row: object) => unknown {
  const compiled = compileFieldPath(path)
  return (row) => getField(row, compiled)
}

function rowOrder({ sort }: GroupsSpecification): (left: Candidate, right: Candidate) => number {
  const fields = sort.map(({ path, descending }) => ({ read: rowReader(path), descending }))
  return (left, right) => {
    for (const { read, descending } of fields) {
      const order = compareValues(read(left.row), read(right.row))
      if (order !== 0) return descending ? -order : order
    }
    return compareGroups(left.group, right.group)
  }
}
