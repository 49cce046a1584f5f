/** Union and intersection of scans, and scans of sets: each document comes once. */
import type { AccessPath } from '../planner/access-path.ts'
import type { QuerySource } from '../query-source.ts'
import { SetCollector } from '../sets/collect-set.ts'
import { NumberSetBuilder, type NumberSet } from '../sets/number-set.ts'
import type { ScanOptions } from './scans.ts'
import { type EntryRow, type Operator, type Tally, changeBatches } from './operator.ts'

/** The entries of a path that has others below it, or is a set. `scan` gives those of the others. */
export function scanOfSets(
  source: QuerySource,
  access: AccessPath,
  options: ScanOptions,
  scan: (source: QuerySource, access: AccessPath, options: ScanOptions, tally?: Tally) => Operator<EntryRow>,
  tally: Tally | undefined,
): Operator<EntryRow> {
  const [first, ...others] = access.branches
  switch (access.kind) {
    case 'numbers':
      return numbersScan(access.numbers!, options)
    case 'set':
      return setScan(source, first!, options, tally)
    case 'intersection': {
      const members = others.map((other) => memberOf(source, other, tally))
      return intersectionScan(scan(source, first!, options, tally), members)
    }
    default:
      return unionScan(access.branches.map((branch) => scan(source, branch, options, tally)))
  }
}

/** The rows of one scan after the other. */
function unionScan(inputs: readonly Operator<EntryRow>[]): Operator<EntryRow> {
  const seen = new NumberSetBuilder()
  let at = 0
  return {
    next: (count) => {
      const rows = inputs[at]?.next(count)
      if (rows !== undefined) return rows.filter(({ number }) => seen.add(number))
      return at++ < inputs.length ? [] : undefined
    },
  }
}

/** The documents with these numbers, in their order. */
function numbersScan(numbers: NumberSet, { reverse, skip, fieldCount }: ScanOptions): Operator<EntryRow> {
  const values = fieldCount === undefined ? undefined : []
  let at = skip
  return {
    next: (count) => {
      const page = numbers.page(at, count, reverse)
      at += page.length
      return page.length === 0 ? undefined : page.map((number) => ({ number, values }))
    },
  }
}

/** The documents on a path in the order of their numbers. */
function setScan(
  source: QuerySource,
  access: AccessPath,
  options: ScanOptions,
  tally: Tally | undefined,
): Operator<EntryRow> {
  const collector = new SetCollector(source, access, tally)
  let rows: Operator<EntryRow> | undefined
  return {
    next: (count) => {
      if (rows !== undefined) return rows.next(count)
      const set = collector.step()
      if (set !== undefined) rows = numbersScan(set, options)
      return []
    },
  }
}

/** Another set that rows of an intersection must be in, or must not. */
interface Member {
  readonly collector: SetCollector
  readonly wanted: boolean
}

function memberOf(source: QuerySource, access: AccessPath, tally: Tally | undefined): Member {
  const wanted = access.kind !== 'complement'
  return { collector: new SetCollector(source, wanted ? access : access.branches[0]!, tally), wanted }
}

/** The rows of a scan, in its order, whose documents are as the members say. The sets of these are collected first. */
function intersectionScan(rows: Operator<EntryRow>, members: readonly Member[]): Operator<EntryRow> {
  const sets: NumberSet[] = []
  const passing = changeBatches(rows, true, (batch) => ({
    rows: batch.filter(({ number }) => sets.every((set, at) => set.has(number) === members[at]!.wanted)),
    taken: batch.length,
  }))
  return {
    next: (count) => {
      if (sets.length === members.length) return passing.next(count)
      const set = members[sets.length]!.collector.step()
      if (set !== undefined) sets.push(set)
      return []
    },
  }
}
