/**
 * Sync by rules: each replica of an account has exactly the records that the account may list. docs/internals/ruled-sync.md is the
 * contract.
 *
 * The rooms, lowest first:
 *
 *   rules/    The rules of a collection, cut for each kind of account: records and fields that a replica has, and the rules of a device.
 *   feed/     A pull. An account has holdings (account-holdings), an index has the sides of records (sides-view). The spans between two holdings
 *             are walked (spans), and make a page (feed-page). A sealed token is the state of a replica (feed-token).
 *   signals/  A commit. Each watcher of a collection that would get something by a pull gets a signal.
 *   push/     The writes of a device: checks, judgement, and outcomes that are kept by number.
 */
import { createHmac } from 'node:crypto'
import { isPannierError } from 'pannier'
import { readSnapshot, rememberedRows } from 'pannier/internal'
import type { Actor } from '../access/actor.ts'
import type { DataKey } from '../access/data-key.ts'
import { recordsName, type Definition } from '../definitions/definition.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { LogWriter } from '../gateway/log-entry.ts'
import type { Principal } from '../gateway/principal.ts'
import { forbidden, ServiceError } from '../gateway/service-error.ts'
import type { RecordJson } from '../records/record-types.ts'
import { Boots } from './feed/boots.ts'
import type { FeedRow, Has, PageLimits } from './feed/feed-page.ts'
import { Feed } from './feed/feed.ts'
import { forgetOld } from './feed/forgetting.ts'
import { isClockTrusted } from '../gateway/seen-clock.ts'
import type { AccountHoldings } from './feed/account-holdings.ts'
import { HoldingsStore } from './feed/holdings-store.ts'
import { partOf } from './feed/part.ts'
import { Push, type Pusher, type PushHost } from './push/push.ts'
import type { Acknowledged, Pushed, PushTransaction } from './push/push-format.ts'
import { Seal } from './feed/seal.ts'
import { explainRules, type ExplainedRules } from './rules/explain-rules.ts'
import { indexName } from './feed/sides-view.ts'
import { assertSyncable, VIEWS } from './rules/sync-rules.ts'
import { deviceRules, type DeviceRules } from './rules/device-rules.ts'

/** The steps of a replica, in this order. */
export type SyncRow =
  /** The replica forgets a record. `deleted`: nobody has it any more. */
  | { readonly left: string; readonly deleted: boolean }
  /**
   * The replica has a record, with `_rev` and the fields that the account sees. `mark`: all records come, and those without it go at the
   * end.
   */
  | { readonly record: RecordJson; readonly mark?: string }
  /** As before, and it has this revision already. Only where `has` says so. */
  | { readonly id: string; readonly rev: string; readonly mark: string }
  /** The replica forgets all records that do not have this mark. */
  | { readonly end: string }

/** A page of one collection. */
export interface SyncPage {
  /** Rows to be applied in their order. */
  readonly rows: readonly SyncRow[]
  /** Stored with the rows in one transaction, and sent with the next request. */
  readonly token: string
  /** False: there is more. True: the replica has exactly what the account may list. */
  readonly isComplete: boolean
  /** The token that came was of no use, or there was none: all records come. */
  readonly isReset: boolean
}

/** The records that a replica has of a collection, as ids and revisions: where all records come again, these come without their bodies. */
export type SyncHas = '*' | Readonly<Record<string, string>>

/** The options of `pull`, beside tokens. */
export interface PullOptions {
  /** How much each page may have. */
  readonly limits?: Partial<PageLimits>
  /** By the names of collections. `*`: no record comes with a body, and the replica looks whether it has all of them. */
  readonly has?: Readonly<Record<string, SyncHas>>
  /** Which part of each collection, by their names: filters over the own fields of records. The whole by default. */
  readonly filters?: Readonly<Record<string, string>>
}

const HORIZON_MS = 30 * 24 * 3600 * 1000
/** How many collections one request may name. */
const COLLECTIONS_MAX = 50

/** The parts that pulls of one start of the server need. */
interface Started {
  readonly boots: Boots
  readonly holdings: HoldingsStore
  readonly feed: Feed
  readonly seal: Seal
}

interface SyncHost extends PushHost {
  readonly logs: LogWriter
  readonly accountHoldings: AccountHoldings
  readonly fleet: Pick<Fleet, 'joined'>
  readonly key: DataKey
  /** A replica that was away for longer begins again. 30 days by default. */
  readonly horizonMs: number | undefined
}

/** Gives replicas what the rules let their accounts see. Get it by `openBackend`. */
export class Sync {
  readonly #host: SyncHost
  readonly #horizonMs: number
  readonly #push: Push
  #started: Promise<Started> | undefined

  /** @internal */
  constructor(host: SyncHost) {
    this.#host = host
    this.#horizonMs = host.horizonMs ?? HORIZON_MS
    this.#push = new Push(host)
  }

  /**
   * The next page of each collection, by their names, all of one state of the database.
   *
   * @throws ServiceError NOT_FOUND: no such collection; FORBIDDEN: superusers only, or an admin without an account; INVALID: it can't be synced
   *
   * @example
   * const { docs } = await backend.sync.pull(actor, { docs: undefined })
   * docs.rows // [{ record: { id: …, title: … }, mark: … }, …, { end: … }]
   */
  async pull(
    actor: Actor,
    tokens: Readonly<Record<string, string | undefined>>,
    { limits, has = {}, filters = {} }: PullOptions = {},
  ): Promise<Readonly<Record<string, SyncPage>>> {
    const names = Object.keys(tokens)
    // Collections may be named as what objects inherit.
    const [hasByName, filtersByName] = [new Map(Object.entries(has)), new Map(Object.entries(filters))]
    if (names.length === 0 || names.length > COLLECTIONS_MAX)
      throw new ServiceError('INVALID', `A request names 1 to ${COLLECTIONS_MAX} collections, got ${names.length}.`)
    const definitions = names.map((name) => this.#host.definitions.get(name))
    for (const definition of definitions) assertSyncable(actor.principal, definition)
    const { feed, seal } = await this.#start()
    const wanted = definitions.map((definition, index) => {
      const name = names[index]!
      const sealed = tokens[name]
      const token = sealed === undefined ? undefined : seal.open(sealed)
      const part = partOf(this.#host.definitions, definition, filtersByName.get(name) ?? '')
      return { definition, token, part, has: this.#hasOf(actor, definition, hasByName.get(name)) }
    })
    const pages = await feed.pull(actor, wanted, limits).catch((error: unknown) => {
      throw isPannierError(error, 'PANNIER_LIMIT_EXCEEDED') ? tooMany(error) : error
    })
    actor.budget?.take(pages.reduce((sum, { bytes }) => sum + bytes, 0))
    const shown = pages.map(async ({ rows, token, isComplete, isReset }, index): Promise<[string, SyncPage]> => {
      const page = { rows: await this.#shown(actor, definitions[index]!, rows), token: seal.close(token) }
      return [names[index]!, { ...page, isComplete, isReset }]
    })
    return Object.fromEntries(await Promise.all(shown))
  }

  /**
   * The rules of collections that a device syncs, as far as its account may know them. Undefined: it has this version.
   *
   * @throws ServiceError as `pull`
   */
  async rules(actor: Actor, names: readonly string[], version: string): Promise<DeviceRules | undefined> {
    const { definitions, reads } = this.#host
    const synced = names.map((name) => definitions.get(name))
    for (const definition of synced) assertSyncable(actor.principal, definition)
    const { account } = actor.principal
    const own = account && definitions.get(account.collection)
    const [shown] = own === undefined ? [] : await reads.show(actor, own, [account!.record], {})
    const rules = deviceRules(actor, { all: definitions.schema, synced, own, account: shown ?? null })
    return rules.version === version ? undefined : rules
  }

  /**
   * Writes the transactions of a device, one after another. One that is known is not written again. `boot`: the start of the server whose
   * answers the device has. If it is another one, nothing is judged: what the transactions build on may be lost, and a pull says so.
   *
   * @throws ServiceError INVALID: a number was used for other writes; FORBIDDEN: an admin without an account; what hinders the first one
   */
  async push(pusher: Pusher, transactions: readonly PushTransaction[], boot?: string): Promise<Pushed> {
    const { boots } = await this.#start()
    if (boot !== undefined && boot !== boots.current) return { boot: boots.current, outcomes: [] }
    return { boot: boots.current, outcomes: await this.#push.push(pusher, transactions) }
  }

  /** Numbers of a device's acknowledged transactions that are in the state of a pull that begins afterwards. */
  async acknowledged(actor: Actor, device: string | undefined, numbers: readonly number[]): Promise<Acknowledged> {
    const { boots } = await this.#start()
    const known =
      device === undefined
        ? { covered: [], unknown: [], forgotten: 0 }
        : await this.#push.acknowledged(actor, device, numbers)
    return { boot: boots.current, ...known }
  }

  /**
   * Gives the server's half of the key of a device's database, by the name of the device. It is the same for as long as the data are there.
   *
   * @throws ServiceError UNAUTHENTICATED: a guest; FORBIDDEN: an API token
   */
  lease({ principal: { account, apiToken } }: Actor): (device: string) => string {
    if (account === undefined) throw new ServiceError('UNAUTHENTICATED', 'Sign in to get a lease.')
    if (apiToken !== undefined) throw new ServiceError('FORBIDDEN', 'API tokens get no lease.')
    return (device) => {
      const of = JSON.stringify([account.collection, account.record['_id'], device])
      return createHmac('sha256', this.#host.key.for('leases')).update(of).digest('base64url')
    }
  }

  /** Forgets what no device asks for any more, and what only replicas need that were away for longer than the horizon. */
  async removeOld(): Promise<void> {
    const { database, environment } = this.#host
    if (!(await isClockTrusted(database, environment.wallClock()))) return
    await this.#push.removeOld()
    if (!(await Boots.areIn(this.#host.database))) return
    const { boots, holdings } = await this.#start()
    await forgetOld({ ...this.#host, boots, holdings, horizonMs: this.#horizonMs })
  }

  /**
   * The costs of the rules of a collection, and the reasons why it can't be synced. `rule`: in place of its list rule, which is explained
   * alone.
   *
   * @throws ServiceError FORBIDDEN for all but superusers, NOT_FOUND, INVALID if it is no rule
   */
  explain(principal: Principal, collection: string, rule?: string): ExplainedRules {
    if (!principal.isAdmin) throw forbidden('')
    const { definitions } = this.#host
    return explainRules(definitions, definitions.get(collection), rule)
  }

  /** Notes the start of the server before its first pull: nothing else brings an index up to date. */
  #start(): Promise<Started> {
    this.#started ??= this.#begin().catch((error: unknown) => {
      // The next pull tries again.
      this.#started = undefined
      throw error
    })
    return this.#started
  }

  async #begin(): Promise<Started> {
    const { database, definitions, key, environment } = this.#host
    const names = definitions.all().map(recordsName)
    const builtTo = await readSnapshot(database, (reader) =>
      reader.read((guard) => {
        const rows = names.flatMap((name) =>
          VIEWS.map((view) => [indexName(name, view), rememberedRows(guard, name, view)] as const),
        )
        return rows.flatMap(([name, view]) => (view === undefined ? [] : [[name, view.builtTo] as const]))
      }),
    )
    const start = { ms: environment.wallClock(), builtTo: Object.fromEntries(builtTo) }
    const boots = await Boots.open(database, start, environment, this.#host.fleet.joined)
    const holdings = new HoldingsStore({ database, horizonMs: this.#horizonMs })
    return {
      boots,
      holdings,
      feed: new Feed({ ...this.#host, boots, holdings }),
      seal: new Seal(key.for('sync tokens'), environment),
    }
  }

  /** Stops following what other servers start. */
  async close(): Promise<void> {
    const started = await this.#started?.catch(() => undefined)
    started?.boots.close()
  }

  /** The revisions that a replica claims to have. */
  #hasOf({ principal }: Actor, definition: Definition, has: SyncHas = {}): Has {
    if (has === '*') return () => true
    const revisions = new Map(Object.entries(has))
    return (id, rev) => revisions.get(id) === this.#host.access.revisions.of(principal, definition, id, rev)
  }

  /** Rows as the client is shown them. */
  async #shown(actor: Actor, definition: Definition, rows: readonly FeedRow[]): Promise<readonly SyncRow[]> {
    // What is withheld is that of the page's state. A later one would show what the token does not say.
    const documents = rows.filter((row) => 'document' in row)
    const shown = await this.#host.reads.showWithout(actor, definition, documents, { fields: '*,_rev' })
    let next = 0
    return rows.map((row): SyncRow => {
      if ('rev' in row)
        return { ...row, rev: this.#host.access.revisions.of(actor.principal, definition, row.id, row.rev) }
      if (!('document' in row)) return row
      const { mark } = row
      return { record: shown[next++]!, ...(mark === undefined ? {} : { mark }) }
    })
  }
}

/** A rule leads from the account to more records than are read at once. */
function tooMany(cause: Error): ServiceError {
  return new ServiceError('INVALID', `A list rule reads too much to be synced. ${cause.message}`, { cause })
}
