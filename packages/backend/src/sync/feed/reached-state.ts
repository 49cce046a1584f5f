/** The state that a replica has reached: what it may have, what it surely has, and where both differ from the holdings at another time. */
import type { RuleRecord } from '@pannier/rules'
import type { Holdings } from '@pannier/rules/cut'
import type { FeedToken, Reached } from './feed-token.ts'
import { isAsMuch, withheld } from '../rules/ruled-fields.ts'
import { holdingsAt, isClocked, minus, type AllHoldingsAt, type HoldingsAt, type Span } from './spans.ts'
import type { AccountRule, AccountRules } from '../rules/sync-rules.ts'

/** The account of a replica, and its rules. */
interface Replicated {
  readonly rules: AccountRules
  readonly account: FeedToken['account']
  /** By their names. */
  readonly holdings: (name: string) => Holdings
}

export class ReachedState {
  /** Records that were written later are in any state. */
  readonly sequence: number
  /** Nothing else is shown to the replica. */
  readonly may: AllHoldingsAt
  /** The records that are surely shown, at both ends of a span of time. */
  readonly #must: readonly AllHoldingsAt[]
  readonly #reached: Reached
  readonly #replicated: Replicated

  constructor(replicated: Replicated, reached: Reached) {
    const { rules, holdings } = replicated
    this.sequence = reached.sequence
    this.may = holdingsAt(rules, holdings(reached.may), reached.fromMs)
    this.#must = [reached.fromMs, reached.toMs].map((ms) => holdingsAt(rules, holdings(reached.must), ms))
    this.#reached = reached
    this.#replicated = replicated
  }

  /** Where the records of lost holdings are. `ms`: the time of the target. */
  lost({ list }: AllHoldingsAt, ms: number): Span[] {
    return minus(this.#replicated.rules.list, this.may.list, [list], this.#reached.fromMs === ms)
  }

  /** Where the records of new holdings are. */
  gained({ list }: AllHoldingsAt, ms: number): Span[] {
    const must = this.#must.map((at) => at.list)
    return minus(this.#replicated.rules.list, list, must, this.#isAllOf(ms))
  }

  /** Where records are that may be shown with other fields. */
  shown({ fields }: AllHoldingsAt, ms: number): Span[] {
    const { rules } = this.#replicated
    const spans = rules.fields.flatMap((rule, place) => {
      const must = this.#must.map((at) => at.fields[place]!)
      const lost = minus(rule, this.may.fields[place]!, [fields[place]!], this.#reached.fromMs === ms)
      return [...lost, ...minus(rule, fields[place]!, must, this.#isAllOf(ms))]
    })
    // Rules may have a side in common.
    return [...new Map(spans.map((span) => [JSON.stringify([span.group, span.range]), span])).values()]
  }

  /** Whether the replica surely has a record, as it was at the sequence. */
  has(record: RuleRecord): boolean {
    const must = this.#must.map((at) => at.list)
    return this.#isSure(this.#replicated.rules.list, must, record)
  }

  /** Whether the replica may have other fields of a record than those that a target shows. */
  isOther(record: RuleRecord, target: AllHoldingsAt): boolean {
    const { rules, account } = this.#replicated
    const without = (admits: (place: number) => boolean): ReadonlySet<string> =>
      withheld(rules.ruled, account, record, admits)
    const shown = without((place) => target.fields[place]!.viewer.shows(record))
    const most = without((place) => this.may.fields[place]!.viewer.shows(record))
    const least = without((place) => {
      const must = this.#must.map((at) => at.fields[place]!)
      return this.#isSure(rules.fields[place]!, must, record)
    })
    return !isAsMuch(shown, most) || !isAsMuch(shown, least)
  }

  #isAllOf(ms: number): boolean {
    return this.#reached.fromMs === ms && this.#reached.toMs === ms
  }

  /** Whether one alternative has shown a record at both ends of the span of time, and so at all times between. */
  #isSure({ rule }: AccountRule, must: readonly HoldingsAt[], record: RuleRecord): boolean {
    const { fromMs, toMs } = this.#reached
    return rule.alternatives.some(
      (alternative, index) =>
        (fromMs === toMs || !isClocked(alternative)) && must.every(({ viewer }) => viewer.showsBy(index, record)),
    )
  }
}
