/**
 * Whether an account sees other records because it holds something else, or because time has passed. It is asked of one state of the
 * database: rows of the index between its holdings before and after, and records that the index does not have yet. Synchronous.
 */
import type { RuleRecord } from '@pannier/rules'
import { recordSide, type Alternative, type OwnRange, type RecordSide, type Viewer } from '@pannier/rules/cut'
import type { GuardReader, WrittenDocument } from 'pannier/internal'
import { rememberedRows } from 'pannier/internal'
import { ruleRecord } from '../../access/rule-records.ts'
import { recordsName } from '../../definitions/definition.ts'
import { isAsMuch, withheld } from '../rules/ruled-fields.ts'
import { allOf, countIn, groundOf, minus, type HoldingsAt, type Span } from '../feed/spans.ts'
import type { AccountRule, AccountRules, SyncedCollection } from '../rules/sync-rules.ts'
import type { Watching } from './watching.ts'

/** A state of the database. */
interface SyncedState extends SyncedCollection {
  readonly guard: GuardReader
  /** The number of the commit that made it. */
  readonly commit: number
}

/** The most entries that are read at once. A walk with more counts as a difference. */
const ENTRIES_MAX = 4000

type Rows = NonNullable<ReturnType<typeof rememberedRows>>

class Walk {
  readonly #state: SyncedState
  readonly #collection: string
  /** Undefined: there is no index, or one of other rules. */
  readonly rows: Rows | undefined
  #left = ENTRIES_MAX

  constructor(state: SyncedState) {
    const { guard, definition, rules, commit } = state
    this.#state = state
    this.#collection = recordsName(definition)
    const isIndexed = rules.indexedAt !== undefined && rules.indexedAt <= commit
    this.rows = isIndexed ? rememberedRows(guard, this.#collection, rules.view) : undefined
  }

  /** The list of spans that has fewer rows. */
  fewer(one: readonly Span[], other: readonly Span[]): readonly Span[] {
    if (this.rows === undefined || one.length === 0) return one
    const count = countIn(this.rows, one, Infinity)
    return countIn(this.rows, other, count) < count ? other : one
  }

  /** Undefined as long as there is more; true when a record is found, or too many were read. */
  some(spans: readonly Span[], isFound: (written: WrittenDocument) => boolean): boolean {
    const { guard } = this.#state
    for (const { group, range } of this.rows === undefined ? [] : spans)
      for (const { id } of this.rows!.rows(group, range)) {
        const written = guard.written(this.#collection, id)
        if (this.#left-- <= 0 || (written !== undefined && isFound(written))) return true
      }
    return this.someWritten(isFound)
  }

  /** Whether one of the records is found that the index does not have. */
  someWritten(isFound: (written: WrittenDocument) => boolean): boolean {
    const { guard } = this.#state
    let since = this.rows?.builtTo ?? 0
    for (;;) {
      const written = guard.writtenAfter(this.#collection, since)
      for (const each of written) {
        if (this.#left-- <= 0 || isFound(each)) return true
        since = each.sequence
      }
      if (written.length === 0) return false
    }
  }
}

/**
 * Whether a record is seen only before or only after, or other fields of it are. One that was written after the sequence `since` counts
 * if it is seen after.
 */
export function seesOther(state: SyncedState, since: number, before: Watching, after: Watching): boolean {
  const { list, fields } = after.rules
  const isSame = before.ms === after.ms
  const between = (rule: AccountRule, one: HoldingsAt, other: HoldingsAt): Span[] => [
    ...minus(rule, one, [other], isSame),
    ...minus(rule, other, [one], isSame),
  ]
  const walk = new Walk(state)
  const ofFields = fields.flatMap((rule, place) => between(rule, before.at.fields[place]!, after.at.fields[place]!))
  const spans = [...between(list, before.at.list, after.at.list), ...walk.fewer(ofFields, allOf(list, after.at.list))]
  return walk.some(spans, ({ document, sequence }) => {
    if (document['_deleted'] === true) return false
    const record = ruleRecord(document)
    const isSeen = after.at.list.viewer.shows(record)
    if (sequence > since) return isSeen
    const wasSeen = before.at.list.viewer.shows(record)
    return isSeen !== wasSeen || (isSeen && !isAsMuch(withheldBy(before, record), withheldBy(after, record)))
  })
}

function withheldBy({ rules, holder, at }: Watching, record: RuleRecord): ReadonlySet<string> {
  return withheld(rules.ruled, holder.account, record, (place) => at.fields[place]!.viewer.shows(record))
}

/** How often what time alone may change is asked again, where no record says when. */
export const AGAIN_MS = 1000
const DAY_MS = 86_400_000

/** Whether what an account sees may change with time. */
export function isTimed({ alternatives }: AccountRules): boolean {
  return alternatives.some(isTimedOne)
}

function isTimedOne(alternative: Alternative): boolean {
  return alternative.range?.by === 'clock' || isAskedAgain(alternative)
}

function isAskedAgain({ tests, isTimed: mayChange }: Alternative): boolean {
  return mayChange || tests.some(({ clock }) => clock)
}

/** Until when an account surely sees the same, if nothing is written. */
export function nextChangeAt(state: SyncedState, watching: Watching): number {
  const { rules, ms } = watching
  const { list, fields } = rules
  const { alternatives } = list.rule
  const at = watching.at.list
  // An account may get holdings with time. Records that are written are not asked when their fields change with the time.
  const isFieldTimed = fields.some(({ rule }) => rule.alternatives.some(isTimedOne))
  if (isFieldTimed || alternatives.some(isAskedAgain)) return ms + AGAIN_MS
  const walk = new Walk(state)
  // Such as `@todayStart`, which stands still for a day.
  let until = (Math.floor(ms / DAY_MS) + 1) * DAY_MS
  for (const { alternative, group } of allOf(list, at)) {
    const { range } = alternatives[alternative]!
    if (range?.by !== 'clock') continue
    const bound = at.viewer.bound(alternative)
    const [next] = walk.rows?.rows(group, includesBound(range) ? { gte: bound } : { gt: bound }) ?? []
    if (next !== undefined) until = Math.min(until, changesAt(range, next.key[2], bound, ms))
  }
  const isLong = walk.someWritten(({ document }) => {
    const record = ruleRecord(document)
    for (const [index, alternative] of alternatives.entries()) {
      const side = at.holdings[index] === null ? undefined : recordSide(list.rule, alternative, record)
      if (side?.grounds.some((ground) => at.grounds[index]!.has(groundOf(ground))) !== true) continue
      until = Math.min(until, changeOf(alternative, side, at.viewer.bound(index), ms))
    }
    return false
  })
  return isLong ? ms + AGAIN_MS : until
}

/** When a record begins or ends to be within a range by the clock. */
export function changeOf({ range }: Alternative, side: RecordSide, bound: Bound, ms: number): number {
  return range?.by === 'clock' ? changesAt(range, side.range, bound, ms) : Infinity
}

type Bound = ReturnType<Viewer['bound']>

/** The bound never goes back: it meets what is behind it, once. */
function changesAt(range: OwnRange, value: unknown, bound: Bound, ms: number): number {
  if (typeof value !== 'string' || typeof bound !== 'string') return Infinity
  if (value < bound || (value === bound && !includesBound(range))) return Infinity
  const [at, boundAt] = [Date.parse(value), Date.parse(bound)]
  if (Number.isNaN(at) || Number.isNaN(boundAt)) return ms + AGAIN_MS
  return at + ms - boundAt + Number(includesBound(range))
}

/** Whether a value that is equal to the bound changes its side when the bound moves on. */
function includesBound({ operator }: OwnRange): boolean {
  return operator === '>=' || operator === '<'
}
