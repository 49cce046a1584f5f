/** One account that gets signals about a collection, and its sessions. */
import { Viewer } from '@pannier/rules/cut'
import type { Subscriber } from '../../events/subscriber.ts'
import type { Topic } from '../../events/topic.ts'
import type { Principal } from '../../gateway/principal.ts'
import { AGAIN_MS, isTimed } from './seen-difference.ts'
import { holderOf, type Holder } from '../feed/account-holdings.ts'
import type { AllHoldingsAt } from '../feed/spans.ts'
import type { Watching } from './watching.ts'

/** A session, and after which commit it gets signals. */
interface Session {
  readonly subscriber: Subscriber
  readonly topic: Topic
  readonly after: number
}

export class Watcher {
  readonly principal: Principal
  readonly holder: Holder
  /** By subscriber and topic. */
  readonly sessions: Map<string, Session> = new Map()
  /** Undefined: it is new, or the collection can't be synced. */
  watching: Watching | undefined
  /** Until when it surely sees the same, if nothing is written. */
  until: number = Infinity
  #now: { readonly ms: number; readonly at: AllHoldingsAt; readonly viewer: Viewer } | undefined

  constructor(principal: Principal) {
    this.principal = principal
    this.holder = holderOf(principal)
  }

  /** The watching as it was signalled at the last look at the clock: with its holdings, at that time. */
  asOf(lookedMs: number): Watching | undefined {
    const { watching } = this
    if (watching === undefined || !isTimed(watching.rules) || watching.ms >= lookedMs) return watching
    // It is asked again soon, as nothing says when it sees something else.
    if (this.until <= watching.ms + AGAIN_MS) return watching
    const { at } = watching
    return { ...watching, at: { ...at, list: { ...at.list, viewer: this.viewerAt(lookedMs) } }, ms: lookedMs }
  }

  /** Which records it sees at a later time, with the holdings of before. */
  viewerAt(ms: number): Viewer {
    const { rules, at } = this.watching!
    if (this.#now?.ms !== ms || this.#now.at !== at)
      this.#now = { ms, at, viewer: new Viewer(rules.list.rule, at.list.holdings, new Date(ms)) }
    return this.#now.viewer
  }

  /** Equal for principals that see the same. */
  static keyOf({ account, isAdmin, apiToken }: Principal): string {
    return JSON.stringify([isAdmin, account?.collection, account?.record['_id'], apiToken?.id])
  }
}
