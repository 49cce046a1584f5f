/** Whether indexes show that no value is missing. */
import { intervalsOf, MISSING, pointAt } from '../ast/value-set.ts'
import type { PlanSource } from '../query-source.ts'
import { entryRange } from './key-ranges.ts'

/** Whether an index tells that every document has a value. */
export function hasNoEmpty({ indexes, index }: PlanSource, path: string): boolean {
  const known = indexes.find(
    ({ fields, multi, where, collation, text, builtTo }) =>
      fields[0]!.path === path && !multi && (where ?? collation ?? text ?? builtTo) === undefined,
  )
  if (known === undefined) return false
  const tree = index(known)
  const { descending } = known.fields[0]!
  return [MISSING, pointAt(null)].every(
    (values) => tree.count(entryRange('', intervalsOf(values)[0]!, descending)) === 0,
  )
}
