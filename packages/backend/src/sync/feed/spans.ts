/** Where rows of an index have to be walked: all that an account holds, or what it holds and another one does not. */
import { createHash } from 'node:crypto'
import { Viewer, type Alternative, type Holding, type Holdings } from '@pannier/rules/cut'
import type { LastRange, RememberedRows } from 'pannier/internal'
import type { AccountRule, AccountRules } from '../rules/sync-rules.ts'
import { compareBounds, testsAlike } from './meet.ts'

/** Rows of one ground. */
export interface Span {
  /** The place of the alternative. */
  readonly alternative: number
  /** The first elements of their keys. */
  readonly group: readonly [side: number, ground: string]
  readonly range: LastRange
}

/** The holdings of one rule, as of a time. */
export interface HoldingsAt {
  readonly holdings: Holdings
  readonly viewer: Viewer
  /** By alternative, as rows have them. Undefined: the account has nothing of it. */
  readonly grounds: readonly (ReadonlySet<string> | undefined)[]
}

/** The holdings of all rules of a collection, as of a time. */
export interface AllHoldingsAt {
  readonly list: HoldingsAt
  readonly fields: readonly HoldingsAt[]
}

/** `holdings`: those of all rules. */
export function holdingsAt({ list, fields }: AccountRules, holdings: Holdings, ms: number): AllHoldingsAt {
  let next = 0
  const ofRule = ({ rule }: AccountRule): HoldingsAt => {
    const own = holdings.slice(next, (next += rule.alternatives.length))
    return {
      holdings: own,
      viewer: new Viewer(rule, own, new Date(ms)),
      grounds: own.map((holding) => (holding === null ? undefined : groundsOf(holding))),
    }
  }
  return { list: ofRule(list), fields: fields.map(ofRule) }
}

/** Longer texts are cut, with a hash of them. */
const GROUND_CHARS_MAX = 200

/** A ground as rows have it. */
export function groundOf(value: string): string {
  if (value.length <= GROUND_CHARS_MAX) return value
  return value.slice(0, GROUND_CHARS_MAX / 2) + createHash('sha256').update(value).digest('base64url')
}

/** The ground of an alternative that has none. */
const ANY: ReadonlySet<string> = new Set(['*'])

/** Spans of all holdings, of all alternatives or of some. */
export function allOf({ rule, sides }: AccountRule, at: HoldingsAt, isAsked: (index: number) => boolean = all): Span[] {
  return rule.alternatives.flatMap((alternative, index) => {
    const holding = at.holdings[index]
    if (holding === null || holding === undefined || !isAsked(index)) return []
    const range = wholeRange(alternative, at.viewer.bound(index))
    if (range === undefined) return []
    const spanOf = (ground: string): Span => ({ alternative: index, group: [sides[index]!, ground], range })
    return Array.from(groundsOf(holding), spanOf)
  })
}

function all(): boolean {
  return true
}

/**
 * Spans that `at` has and none of `others` together has for certain: they are one state of holdings at both ends of a span of time. It
 * goes by grounds, bounds and parameters, and not row by row.
 */
export function minus(rules: AccountRule, at: HoldingsAt, others: readonly HoldingsAt[], sameTime: boolean): Span[] {
  const strips = rules.rule.alternatives.map((alternative, index) => {
    const [holding, other] = [at.holdings[index], others[0]!.holdings[index]]
    const isAlike = holding && other && testsAlike(holding, other) && (sameTime || !isClocked(alternative))
    const known = others.map(({ viewer }) => viewer.bound(index))
    return isAlike === true ? { of: stripOf(alternative, at.viewer.bound(index), known) } : undefined
  })
  const isOther = (index: number): boolean =>
    strips[index] === undefined || strips[index].of !== undefined || at.holdings[index] !== others[0]!.holdings[index]
  return allOf(rules, at, isOther).flatMap((span) => {
    const strip = strips[span.alternative]
    if (strip === undefined || !others[0]!.grounds[span.alternative]!.has(span.group[1])) return [span]
    return strip.of === undefined ? [] : [{ ...span, range: strip.of }]
  })
}

/** How many rows and look-ups spans take, counted up to `most`. */
export function countIn(rows: Pick<RememberedRows, 'count'>, spans: readonly Span[], most: number): number {
  let count = 0
  for (const { group, range } of spans) {
    count += 1 + rows.count(group, range)
    if (count >= most) break
  }
  return count
}

/** Whether the clock decides, and no bound says how. */
export function isClocked({ tests }: Alternative): boolean {
  return tests.some(({ clock }) => clock)
}

const knownGrounds = new WeakMap<readonly string[], ReadonlySet<string>>()

/** The grounds of a holding, as rows have them. */
export function groundsOf({ grounds }: Holding): ReadonlySet<string> {
  if (grounds === undefined) return ANY
  const known = knownGrounds.get(grounds) ?? new Set(grounds.map(groundOf))
  knownGrounds.set(grounds, known)
  return known
}

type Bound = ReturnType<Viewer['bound']>

const SIDES = { '<': 'lt', '<=': 'lte', '>': 'gt', '>=': 'gte' } as const
/** The side behind a bound. */
const BEHIND = { '<': 'gte', '<=': 'gt', '>': 'lte', '>=': 'lt' } as const

/** Undefined: no value is within the bound. */
function wholeRange({ range }: Alternative, bound: Bound): LastRange | undefined {
  if (range === undefined) return {}
  return bound === null ? undefined : { [SIDES[range.operator]]: bound }
}

/** The strip within one bound and not within all others. Undefined: nothing. */
function stripOf({ range }: Alternative, bound: Bound, others: readonly Bound[]): LastRange | undefined {
  if (range === undefined || bound === null) return undefined
  const { operator } = range
  const isUpper = operator === '<' || operator === '<='
  const known = others.filter((other) => other !== null)
  const within = { [SIDES[operator]]: bound }
  if (known.length < others.length) return within
  const least = known.reduce((one, other) => (isUpper === compareBounds(other, one) < 0 ? other : one))
  if (isUpper ? compareBounds(bound, least) <= 0 : compareBounds(bound, least) >= 0) return undefined
  return { ...within, [BEHIND[operator]]: least }
}
