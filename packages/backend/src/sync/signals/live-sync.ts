/**
 * Tells sessions that a pull of a collection would bring something: the topic `@sync/COLLECTION` of realtime. It follows the commits.
 * docs/internals/ruled-sync.md is the contract.
 */
import type { SnapshotReader } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { KnownDefinitions } from '../../access/rule-records.ts'
import { recordsName } from '../../definitions/definition.ts'
import type { CommitStep } from '../../events/commit-states.ts'
import { changesIn } from '../../events/record-changes.ts'
import { SIGNAL_PREFIX, type SignalHost, type Signals } from '../../events/signals.ts'
import type { Subscriber } from '../../events/subscriber.ts'
import type { Topic } from '../../events/topic.ts'
import { Slices } from '../../events/slices.ts'
import type { Principal } from '../../gateway/principal.ts'
import { ServiceError } from '../../gateway/service-error.ts'
import type { AccountHoldings } from '../feed/account-holdings.ts'
import { isTimed, nextChangeAt, seesOther } from './seen-difference.ts'
import { readsOf } from '../feed/noted-reads.ts'
import { assertSyncable, rulesToSync, type AccountRules, type SyncedCollection } from '../rules/sync-rules.ts'
import { WatchedCollection } from './watched-collection.ts'
import { Watcher } from './watcher.ts'
import { watchingIn } from './watching.ts'
import { CLOCK_MS_MAX } from '../../gateway/seen-clock.ts'

interface LiveSyncParts {
  readonly definitions: KnownDefinitions
  /** Pulls ask it too. */
  readonly accountHoldings: AccountHoldings
  readonly environment: Environment
}

type LiveSyncHost = LiveSyncParts & SignalHost

const TIMER_MS_MAX = 3_600_000

/** For who sends signals. */
export function liveSync({ definitions, accountHoldings, environment }: LiveSyncParts): (host: SignalHost) => Signals {
  return (host) => new LiveSync({ definitions, accountHoldings, environment, ...host })
}

class LiveSync implements Signals {
  readonly #host: LiveSyncHost
  /** By the names of topics, for accounts and for superusers. */
  readonly #collections = new Map<string, WatchedCollection>()
  readonly #fresh = new Map<Watcher, WatchedCollection>()
  /** Watchers whose last session may have gone. */
  readonly #left = new Map<Watcher, WatchedCollection>()
  readonly #byRead = new Map<string, Map<Watcher, WatchedCollection>>()
  #schema: unknown
  /** The time until which all changes by the clock are signalled. */
  #lookedMs = 0
  #cancelTimer = (): void => {}

  constructor(host: LiveSyncHost) {
    this.#host = host
  }

  get isEmpty(): boolean {
    return this.#collections.size === 0
  }

  get isWaiting(): boolean {
    const nowMs = this.#host.environment.wallClock()
    if (this.#fresh.size > 0 || this.#isBack(nowMs)) return true
    return [...this.#collections.values()].some(({ until }) => until <= nowMs)
  }

  join(subscriber: Subscriber, topic: Topic, after: number, was?: Principal): void {
    const watched =
      this.#collections.get(placeOf(topic, subscriber.principal)) ?? this.#watch(topic, subscriber.principal)
    const key = Watcher.keyOf(subscriber.principal)
    let watcher = watched.watchers.get(key)
    if (watcher === undefined) {
      watcher = new Watcher(subscriber.principal)
      watched.watchers.set(key, watcher)
      this.#fresh.set(watcher, watched)
    }
    watcher.sessions.set(sessionOf(subscriber, topic), { subscriber, topic, after })
    if (was !== undefined && Watcher.keyOf(was) !== key) this.#host.signal(subscriber, topic, after)
  }

  leave(subscriber: Subscriber, topic: Topic, principal: Principal): number | undefined {
    const watched = this.#collections.get(placeOf(topic, principal))
    const watcher = watched?.watchers.get(Watcher.keyOf(principal))
    const session = watcher?.sessions.get(sessionOf(subscriber, topic))
    if (session === undefined) return undefined
    watcher!.sessions.delete(sessionOf(subscriber, topic))
    // It may join again at once, with another revision of the account.
    if (watcher!.sessions.size === 0) this.#left.set(watcher!, watched!)
    return session.after
  }

  tidy(): void {
    for (const [watcher, watched] of this.#left) {
      if (watcher.sessions.size > 0) continue
      this.#unplace(watcher, watched)
      this.#fresh.delete(watcher)
      watched.watchers.delete(Watcher.keyOf(watcher.principal))
      if (watched.watchers.size === 0) this.#collections.delete(placeOf(watched, watched))
    }
    this.#left.clear()
    if (this.isEmpty) this.#cancelTimer()
  }

  /**
   * Computes what new watchers hold, and asks those again for whom time has passed. Steps that come later are those after this
   * state.
   */
  async catchUp(state: SnapshotReader, sequence: number): Promise<void> {
    this.tidy()
    this.#followDefinitions(sequence)
    const nowMs = this.#host.environment.wallClock()
    const slices = new Slices(this.#host.environment)
    for (const [watcher, watched] of this.#fresh) {
      this.#fresh.delete(watcher)
      // Nothing was written: the steps have signalled that.
      if ((await this.#renew(watcher, watched, state, Infinity)) === true) this.#signal(watcher, sequence)
      await slices.next()
    }
    const isBack = this.#isBack(nowMs)
    for (const watched of this.#collections.values()) {
      if (watched.until > nowMs && !isBack) continue
      for (const watcher of Array.from(watched.timed)) {
        if (watcher.until > nowMs && !isBack) continue
        if ((await this.#renew(watcher, watched, state, Infinity)) === true) this.#signal(watcher, sequence)
        await slices.next()
      }
      watched.until = Math.min(...Array.from(watched.timed, ({ until }) => until))
    }
    this.#lookedMs = nowMs
    this.#setTimer()
  }

  async notify(step: CommitStep): Promise<void> {
    await this.catchUp(step.before, step.sequence)
    if (this.isEmpty) return
    const seeing = new Set<Watcher>()
    const stale = new Map<Watcher, WatchedCollection>()
    const former = new Set<Watcher>()
    const nowMs = this.#lookedMs
    const slices = new Slices(this.#host.environment)
    for (const definition of this.#host.definitions.all()) {
      if (!step.collections.has(recordsName(definition))) continue
      const watched = [...this.#collections.values()].filter(({ synced }) => synced?.definition === definition)
      for await (const changes of changesIn(step, definition))
        for (const change of changes) {
          for (const read of readsOf(change))
            for (const [watcher, of] of this.#byRead.get(read) ?? []) stale.set(watcher, of)
          for (const each of watched) {
            if (change.old !== undefined) each.findFormer(change.records.at(-1)!, former, nowMs)
            if (change.document !== undefined) each.findSeeing(change.records[0]!, seeing, nowMs)
          }
          await slices.next()
        }
    }
    for (const [watcher, watched] of stale) {
      const isSeeing = await this.#renew(watcher, watched, step.after, await this.#writtenTo(watched, step.before))
      if (isSeeing === false) seeing.delete(watcher)
      if (isSeeing === true) seeing.add(watcher)
      await slices.next()
    }
    for (const watcher of new Set([...former, ...seeing])) this.#signal(watcher, step.sequence, step.sequence)
    this.#setTimer()
  }

  #watch({ name }: Topic, { isAdmin }: Principal): WatchedCollection {
    const watched = new WatchedCollection(name, isAdmin)
    this.#collections.set(placeOf(watched, watched), watched)
    watched.synced = this.#syncedOf(watched)
    return watched
  }

  #syncedOf({ name, isAdmin }: WatchedCollection): SyncedCollection | undefined {
    const { definitions } = this.#host
    const definition = definitions.find(name.slice(SIGNAL_PREFIX.length))
    const rules = definition && allowed(() => rulesToSync(definitions, definition, { isAdmin }))
    return rules && { definition: definition!, rules }
  }

  /** Other rules are another replica. */
  #followDefinitions(sequence: number): void {
    const { schema } = this.#host.definitions
    if (schema === this.#schema) return
    this.#schema = schema
    for (const watched of this.#collections.values()) {
      const before = watched.synced
      watched.synced = this.#syncedOf(watched)
      const isSame =
        before?.rules.version === watched.synced?.rules.version &&
        before?.definition.id === watched.synced?.definition.id
      for (const watcher of watched.watchers.values()) {
        // Else its holdings say what time has changed since.
        if (!isSame) {
          this.#signal(watcher, sequence)
          this.#unplace(watcher, watched)
        }
        this.#fresh.set(watcher, watched)
      }
    }
  }

  /**
   * Computes what a watcher holds. Says whether it sees other records, or one that was written after `since`. Undefined: it holds the
   * same, and the time makes no difference.
   */
  async #renew(
    watcher: Watcher,
    watched: WatchedCollection,
    state: SnapshotReader,
    since: number,
  ): Promise<boolean | undefined> {
    const { synced } = watched
    const { holder } = watcher
    const before = watcher.asOf(this.#lookedMs)
    this.#unplace(watcher, watched)
    const rules = synced && allowed(() => rulesFor(synced, watcher))
    if (synced === undefined || rules === undefined) return undefined
    const { accountHoldings, environment } = this.#host
    const { version } = synced.rules
    const ms = environment.wallClock()
    const { after, until, isOther } = await state.read((guard) => {
      const watching = watchingIn(guard, accountHoldings, { rules, version }, holder, ms)
      const at = { ...synced, guard, commit: state.sequence }
      const isSame =
        before === undefined ||
        (!isTimed(rules) && JSON.stringify(before.holdings) === JSON.stringify(watching.holdings))
      return {
        after: watching,
        until: isTimed(rules) ? nextChangeAt(at, watching) : Infinity,
        isOther: isSame ? undefined : seesOther(at, since, before, watching),
      }
    })
    // Its last session has gone meanwhile.
    if (watcher.sessions.size === 0) this.#left.set(watcher, watched)
    watched.place(watcher, after, until)
    for (const read of after.reads) {
      const readers = this.#byRead.get(read)
      if (readers === undefined) this.#byRead.set(read, new Map([[watcher, watched]]))
      else readers.set(watcher, watched)
    }
    return isOther
  }

  async #writtenTo({ synced }: WatchedCollection, state: SnapshotReader): Promise<number> {
    if (synced === undefined) return 0
    return (await state.read((guard) => guard.lastWrite(recordsName(synced.definition))?.sequence)) ?? 0
  }

  /** The clock was ahead: what was seen then is seen again. */
  #isBack(nowMs: number): boolean {
    return nowMs < this.#lookedMs - CLOCK_MS_MAX
  }

  /** Time alone may change what somebody sees. */
  #setTimer(): void {
    this.#cancelTimer()
    const until = Math.min(...Array.from(this.#collections.values(), (watched) => watched.until))
    if (until === Infinity) return
    const { environment } = this.#host
    const ms = Math.min(until - environment.wallClock(), TIMER_MS_MAX)
    this.#cancelTimer = environment.after(ms, () => this.#host.wake())
  }

  #unplace(watcher: Watcher, watched: WatchedCollection): void {
    for (const read of watcher.watching?.reads ?? []) {
      const readers = this.#byRead.get(read)
      readers?.delete(watcher)
      if (readers?.size === 0) this.#byRead.delete(read)
    }
    watched.unplace(watcher)
  }

  /** `before`: sessions that began at a later commit know of it already. */
  #signal({ sessions }: Watcher, sequence: number, before: number = Infinity): void {
    for (const { subscriber, topic, after } of sessions.values())
      if (after < before) this.#host.signal(subscriber, topic, sequence)
  }
}

/** Superusers see other records than accounts. */
function placeOf({ name }: Pick<Topic, 'name'>, { isAdmin }: Pick<Principal, 'isAdmin'>): string {
  return isAdmin ? `${name} ` : name
}

function sessionOf({ id }: Subscriber, { text }: Topic): string {
  return `${id} ${text}`
}

/** @throws ServiceError if the watcher may not sync the collection */
function rulesFor({ definition, rules }: SyncedCollection, { principal, holder }: Watcher): AccountRules {
  assertSyncable(principal, definition)
  return rules.of(holder.account?.[0] ?? null)
}

/** Undefined where it is refused. */
function allowed<T>(find: () => T): T | undefined {
  try {
    return find()
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}
