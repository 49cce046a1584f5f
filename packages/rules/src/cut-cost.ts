/** The cost of exact replicas by a cut rule, in words for people who write rules. */
import { comparisonsOf, type AtomNumber } from './cut-atoms.ts'
import type { OwnSet } from './cut-groups.ts'
import type { Alternative, Cut } from './cut-rule.ts'
import { print } from './print.ts'

/**
 * A: found by a set of values, exactly. B: found by it, and each is tested. C: found by a bound. D: each record of the collection is
 * tested, for each account. E: it can't be synced.
 */
export type CutCost = 'A' | 'B' | 'C' | 'D' | 'E'

/** One alternative, in the comparisons of the rule. */
export interface AlternativeCost {
  /** The kind of the alternative, as the letters above. */
  readonly cost: CutCost
  /** How its records are found: `project is one of the ids of "projects"`; '' if all are. */
  readonly foundBy: string
  /** Comparisons that the record decides alone. */
  readonly record: readonly string[]
  /** Comparisons that the account decides alone. */
  readonly account: readonly string[]
  /** Comparisons that are tested for each record that is found. */
  readonly tested: readonly string[]
  /** Where in the rule the comparison begins that makes it class D, from 0. `null`: it is of another class. */
  readonly position: number | null
}

/** The cost of a cut rule. */
export interface RuleCost {
  /** The cost of the dearest alternative. */
  readonly cost: CutCost
  /** The cost of each alternative of the rule; empty for class E. */
  readonly alternatives: readonly AlternativeCost[]
}

/**
 * Says what a cut rule costs.
 *
 * @example
 * import { parse } from '@pannier/rules'
 * import { costOf, cut } from '@pannier/rules/cut'
 *
 * const rule = parse('project.members.id ?= @request.auth.id')
 * const { cost, alternatives } = costOf(cut({ schema, collection: 'tasks', rule, accounts: 'users' }))
 * // 'A', [{ cost: 'A', foundBy: 'project is one of the ids of "projects"', … }]
 */
export function costOf(rule: Cut): RuleCost {
  if (rule.problems.length > 0) return { cost: 'E', alternatives: [] }
  const alternatives = rule.alternatives.map((alternative) => alternativeCost(rule, alternative))
  return {
    cost: alternatives.map(({ cost }) => cost).reduce((one, other) => (one > other ? one : other), 'A'),
    alternatives,
  }
}

function alternativeCost(rule: Cut, { ground, range, record, account, sets, tests }: Alternative): AlternativeCost {
  const comparisons = comparisonsOf(rule.rule)
  const written = (atoms: readonly AtomNumber[]): string[] => [
    ...new Set(atoms.map((number) => print(comparisons[number >> 1]!))),
  ]
  const isTested = sets.length > 0 || tests.length > 0
  const asked = tests.find(({ clock }) => clock)
  const walk = asked ?? (isTested && ground === undefined && range === undefined ? (sets[0] ?? tests[0]) : undefined)
  const [first] = walk?.atoms ?? []
  return {
    cost: walk !== undefined ? 'D' : range !== undefined ? 'C' : isTested ? 'B' : 'A',
    foundBy: [
      ground && setText(ground),
      range && `${range.field} ${range.operator} ${range.by === 'clock' ? 'the time' : 'a value of the account'}`,
    ]
      .filter((text) => text !== undefined)
      .join(', '),
    record: written(record),
    account: written(account),
    tested: written([...sets, ...tests].flatMap(({ atoms }) => atoms)),
    position: first === undefined ? null : comparisons[first >> 1]!.left.at,
  }
}

function setText({ fields, step }: OwnSet): string {
  const own = fields.join(' with ')
  switch (step.kind) {
    case 'account':
      return `${own} is a value of the account`
    case 'to':
      return `${own} is one of the ids of "${step.collection}"`
    case 'from':
      return `${own} is in ${step.field} of "${step.collection}"`
    default:
      return `${own} is in ${step.fields.join(' with ')} of "${step.collection}"`
  }
}
