/** Common records of two holdings of the same rules. */
import type { Holding, Holdings } from '@pannier/rules/cut'
import type { AccountRules } from '../rules/sync-rules.ts'

/** The holdings of records that both surely show. Where they test otherwise, or have no common range, nothing of an alternative. */
export function meet({ alternatives }: AccountRules, one: Holdings, other: Holdings): Holdings {
  return one.map((first, index) => {
    const second = other[index]
    if (first === null || second === null || second === undefined || !testsAlike(first, second)) return null
    const { grounds, bound, ...rest } = first
    const met: Holding = {
      ...rest,
      ...(grounds === undefined ? {} : { grounds: commonOf(grounds, second.grounds ?? []) }),
      ...(bound === undefined ? {} : { bound: nearer(alternatives[index]!.range!.operator, bound, second.bound) }),
    }
    return met.grounds?.length === 0 ? null : met
  })
}

function commonOf(one: readonly string[], other: readonly string[]): readonly string[] {
  const others = new Set(other)
  return one.filter((ground) => others.has(ground))
}

type Bound = NonNullable<Holding['bound']> | null

/** The bound that has less within it. */
function nearer(operator: string, one: Bound, other: Bound | undefined): Bound {
  if (one === null || other === null || other === undefined || typeof one !== typeof other) return null
  return operator.startsWith('<') === compareBounds(one, other) < 0 ? one : other
}

/** In the order of the index: numbers, and texts by code points. */
export function compareBounds(one: string | number, other: string | number): number {
  if (typeof one === 'number' || typeof other === 'number') return Number(one) - Number(other)
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

/** Whether two holdings of an alternative test own values alike. */
export function testsAlike(one: Holding, other: Holding): boolean {
  if (one === other) return true
  return JSON.stringify([one.sets, one.account ?? null]) === JSON.stringify([other.sets, other.account ?? null])
}
