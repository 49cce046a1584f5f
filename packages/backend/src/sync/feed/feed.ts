/**
 * The feed of a collection for one account: what a replica has to do to have exactly the records that the account may list. No user and
 * no token is stored; only holdings of accounts, and an index with few rows for each record. docs/internals/ruled-sync.md is the contract.
 */
import { createHash } from 'node:crypto'
import type { Alternative, Holdings } from '@pannier/rules/cut'
import { readSnapshot, rememberedRows } from 'pannier/internal'
import type { GuardReader, SnapshotReader } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { Actor } from '../../access/actor.ts'
import type { KnownDefinitions } from '../../access/rule-records.ts'
import { recordsName, type Definition } from '../../definitions/definition.ts'
import { randomSecret } from '../../gateway/chance.ts'
import { ServiceError } from '../../gateway/service-error.ts'
import type { Boots } from './boots.ts'
import { FeedPage, planOf, type FeedRow, type Has, type PageLimits, type PageSource } from './feed-page.ts'
import { CLOCK_MS_MAX } from '../../gateway/seen-clock.ts'
import type { FeedToken, Reached, Sweep } from './feed-token.ts'
import { holderOf, type AccountHoldings, type Holder } from './account-holdings.ts'
import type { HoldingsStore } from './holdings-store.ts'
import { isWalkedById, walkById } from './first-walk.ts'
import { meet } from './meet.ts'
import { WHOLE, type Part } from './part.ts'
import { EMPTY, indexName, indexOf, updateSides, type IndexState, type SidesHost } from './sides-view.ts'
import { holdingsAt, isClocked } from './spans.ts'
import { rulesToSync, type AccountRules, type SyncRules } from '../rules/sync-rules.ts'

interface FeedHost extends SidesHost {
  readonly definitions: KnownDefinitions
  readonly boots: Boots
  readonly environment: Environment
  readonly holdings: HoldingsStore
  /** The current holdings of accounts: signals ask them too. */
  readonly accountHoldings: AccountHoldings
}

/** A collection, and where its replica stands. */
interface Wanted {
  readonly definition: Definition
  /** Undefined: the replica is new. */
  readonly token: FeedToken | undefined
  /** The revisions of the replica, where all records come again. */
  readonly has?: Has
  /** Which part of the collection; the whole by default. */
  readonly part?: Part
}

/** One page. A replica stores its rows and its token in one transaction. */
export interface PulledPage {
  readonly rows: readonly FeedRow[]
  readonly token: FeedToken
  /** The replica has exactly what the account may list now. */
  readonly isComplete: boolean
  /** The token was of no use: all records come, and what is not among them goes at the end. */
  readonly isReset: boolean
  /** The documents that were read for it have these bytes. */
  readonly bytes: number
}

/** `bytes`: of the pages of all collections of a pull. */
const LIMITS: PageLimits = { rows: 1000, entries: 4000, bytes: 2 * 1024 * 1024 }
/** The common parts of the pages of one pull. */
interface Pull {
  readonly reader: SnapshotReader
  readonly definition: Definition
  readonly account: FeedToken['account']
  readonly rules: SyncRules
  readonly own: AccountRules
  readonly part: Part
  readonly nowMs: number
  readonly current: Holdings
  readonly currentName: string
  /** Holdings by their names. */
  readonly holdings: Map<string, Holdings>
  readonly index: IndexState
}

export class Feed {
  readonly #host: FeedHost
  readonly #holdings: HoldingsStore

  constructor(host: FeedHost) {
    this.#host = host
    this.#holdings = host.holdings
  }

  /**
   * The next page of each collection for an account, all of one state of the database.
   *
   * @throws ServiceError FORBIDDEN: superusers only; INVALID: the rule can't be synced; UNAUTHENTICATED: the account is gone
   */
  async pull({ principal }: Actor, wanted: readonly Wanted[], limits: Partial<PageLimits> = {}): Promise<PulledPage[]> {
    const { definitions, database } = this.#host
    const holder = holderOf(principal)
    const latestMs = this.#host.environment.wallClock() + CLOCK_MS_MAX
    const ruled = wanted.map((each) => ({
      ...each,
      // A clock that was ahead has made it: until that time has come it would hide what is due now.
      token: each.token !== undefined && timeOf(each.token) > latestMs ? undefined : each.token,
      rules: rulesToSync(definitions, each.definition, principal),
    }))
    for (const { definition, rules } of ruled) await updateSides(this.#host, definition, rules)
    return readSnapshot(database, async (reader) => {
      for (const { rules } of ruled) rules.indexedAt ??= reader.sequence
      const pages: PulledPage[] = []
      let { bytes } = { ...LIMITS, ...limits }
      for (const { definition, token, rules, has, part = WHOLE } of ruled) {
        const pull = await this.#begin(reader, { definition, rules, part }, holder, token)
        const page = await this.#page(pull, token, has ?? hasNothing, { ...LIMITS, ...limits, bytes })
        pages.push(page)
        bytes -= page.bytes
      }
      return pages
    })
  }

  async #begin(
    reader: SnapshotReader,
    asked: Pick<Pull, 'definition' | 'rules' | 'part'>,
    holder: Holder,
    token: FeedToken | undefined,
  ): Promise<Pull> {
    const { environment, accountHoldings: known } = this.#host
    const { definition, rules } = asked
    // The clock of the machine may have been set back a little.
    const nowMs = Math.max(environment.wallClock(), token === undefined ? 0 : timeOf(token))
    const { account } = holder
    const own = rules.of(account?.[0] ?? null)
    await reader.read((guard) => assertThere(guard, account))
    const { holdings: current } = await reader.read((guard) => known.of(guard, own, rules.version, holder, nowMs))
    const currentName = await this.#holdings.keep(current, nowMs)
    const index = await reader.read((guard) => indexOf(guard, recordsName(definition), rules.view))
    const holdings = new Map([[currentName, current]])
    return { reader, ...asked, account, own, nowMs, current, currentName, holdings, index }
  }

  async #page(pull: Pull, given: FeedToken | undefined, has: Has, limits: PageLimits): Promise<PulledPage> {
    const { index, account, rules, part } = pull
    const isReset = given === undefined || !(await this.#isValid(pull, given))
    const shapeNow = shapeOf(pull)
    // Else a record may be shown otherwise than the replica has it, in the same revision.
    let shape = given !== undefined && isOf(pull, given) && given.shape === shapeNow ? shapeNow : undefined
    const hasShown = shape === undefined ? hasNothing : has
    let { reached, sweep }: Pick<FeedToken, 'reached' | 'sweep'> = isReset
      ? { reached: undefined, sweep: undefined }
      : given
    const rows: FeedRow[] = []
    let remaining = limits
    let isComplete = false
    for (;;) {
      if (sweep === undefined && isAtEnd(pull, reached)) {
        reached = { ...reached, fromMs: pull.nowMs, toMs: pull.nowMs }
        isComplete = true
        shape = shapeNow
        break
      }
      const aimed = await this.#aim(pull, reached, sweep)
      const walked = await this.#walk(pull, reached, aimed, hasShown, remaining, sweep === undefined)
      rows.push(...walked.rows)
      remaining = walked.remaining
      sweep = walked.sweep
      if (sweep !== undefined) break
      const { sequence, may, must, fromMs, toMs } = aimed
      reached = { sequence, may, must, fromMs, toMs }
    }
    const token: FeedToken = {
      collection: index.collection,
      account,
      boot: this.#host.boots.current,
      builtTo: index.builtTo,
      rules: rules.version,
      part: part.version,
      shape,
      reached,
      sweep,
    }
    return { rows, token, isComplete, isReset, bytes: limits.bytes - remaining.bytes }
  }

  /** Begins a sweep to the current holdings, or continues one. Its pages agree on what all their holdings have. */
  async #aim(
    { own, current, currentName, nowMs, holdings, index }: Pull,
    reached: Reached | undefined,
    sweep: Sweep | undefined,
  ): Promise<Sweep> {
    if (sweep === undefined)
      return {
        sequence: index.builtTo,
        may: currentName,
        must: currentName,
        fromMs: nowMs,
        toMs: nowMs,
        part: 0,
        span: 0,
        after: '',
        mark: reached === undefined ? randomSecret(this.#host.environment, 9) : undefined,
        byId: reached === undefined && isWalkedById(own.list, holdingsAt(own, current, nowMs).list),
        byHeld: false,
        byTime: true,
        shownByHeld: false,
      }
    const met = sweep.must === currentName ? current : meet(own, holdings.get(sweep.must)!, current)
    const must = await this.#holdings.keep(met, nowMs)
    holdings.set(must, met)
    return { ...sweep, must, toMs: nowMs }
  }

  async #walk(
    { reader, definition, account, rules, own, part, current, nowMs, holdings, index }: Pull,
    reached: Reached | undefined,
    sweep: Sweep,
    has: Has,
    limits: PageLimits,
    isBegun: boolean,
  ): Promise<{ readonly rows: readonly FeedRow[]; readonly remaining: PageLimits; readonly sweep: Sweep | undefined }> {
    if (index === EMPTY) {
      const { mark } = sweep
      return { rows: mark === undefined ? [] : [{ end: mark }], remaining: limits, sweep: undefined }
    }
    const collection = recordsName(definition)
    const sourceOf = (guard: GuardReader): PageSource => ({
      guard,
      collection,
      rows: rememberedRows(guard, collection, rules.view)!,
      rules: own,
      account,
      part,
      holdings: (name) => holdings.get(name)!,
      now: holdingsAt(own, current, nowMs),
      has,
    })
    const remaining = { ...limits }
    const rows: FeedRow[] = []
    let place = sweep
    if (reached === undefined && sweep.byId && sweep.part === 0) {
      const page = new FeedPage(await reader.read(sourceOf), remaining)
      const after = await walkById(reader, page, sweep)
      rows.push(...page.rows)
      if (after !== undefined) return { rows, remaining, sweep: { ...sweep, after } }
      place = { ...sweep, part: 1, after: '' }
    }
    return reader.read((guard) => {
      const source = sourceOf(guard)
      const planned = isBegun && reached !== undefined ? { ...place, ...planOf(source, reached, place.fromMs) } : place
      const rest = { ...remaining }
      const page = new FeedPage(source, rest)
      const next = page.walk(reached, planned)
      return { rows: [...rows, ...page.rows], remaining: rest, sweep: next }
    })
  }

  /** Whether a token is of this history, and all that it names is still known. */
  async #isValid(pull: Pull, token: FeedToken): Promise<boolean> {
    const { index, rules, part, definition, holdings, nowMs } = pull
    const { reached, sweep } = token
    const isSame =
      isOf(pull, token) &&
      token.rules === rules.version &&
      token.part === part.version &&
      this.#host.boots.knows(token.boot, indexName(recordsName(definition), rules.view), token.builtTo, index.builtTo)
    if (!isSame) return false
    for (const state of [reached, sweep]) {
      if (state === undefined) continue
      if (state.sequence < index.forgottenTo) return false
      for (const name of [state.may, state.must]) {
        const found = holdings.get(name) ?? (await this.#holdings.get(name, nowMs))
        if (found === undefined) return false
        holdings.set(name, found)
      }
    }
    return true
  }
}

/** A rule would judge an account that was deleted since the request began as one without an id. @throws ServiceError UNAUTHENTICATED */
function assertThere(guard: GuardReader, account: FeedToken['account']): void {
  if (account === null || guard.get(recordsName({ id: account[0] }), account[1]) !== undefined) return
  throw new ServiceError('UNAUTHENTICATED', 'The account was deleted. Sign in with another one.')
}

function timeOf({ reached, sweep }: FeedToken): number {
  return Math.max(reached?.toMs ?? 0, sweep?.toMs ?? 0)
}

function hasNothing(): boolean {
  return false
}

/** Whether a token is for this collection and account. */
function isOf({ index, account }: Pull, token: FeedToken): boolean {
  return token.collection === index.collection && JSON.stringify(token.account) === JSON.stringify(account)
}

function isAtEnd({ own, index, currentName, nowMs }: Pull, reached: Reached | undefined): reached is Reached {
  if (reached === undefined || reached.sequence !== index.builtTo) return false
  const isTimed = own.alternatives.some(asksClock)
  const isSameTime = !isTimed || (reached.fromMs === nowMs && reached.toMs === nowMs)
  return reached.may === currentName && reached.must === currentName && isSameTime
}

/** Whether time alone decides which records an alternative shows. */
function asksClock(alternative: Alternative): boolean {
  return alternative.range?.by === 'clock' || isClocked(alternative)
}

const knownShapes = new WeakMap<Holdings, string>()

/** How records are shown, as they are in their revisions; undefined if that changes with time. Other holdings show other fields. */
function shapeOf({ rules, own, current }: Pull): string | undefined {
  const first = own.list.rule.alternatives.length
  if (own.alternatives.slice(first).some(asksClock)) return undefined
  const known = knownShapes.get(current)
  if (known !== undefined) return known
  const digest = createHash('sha256').update(JSON.stringify([rules.shape, current.slice(first)]))
  const shape = digest.digest('base64url').slice(0, 22)
  knownShapes.set(current, shape)
  return shape
}
