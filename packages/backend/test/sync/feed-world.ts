/** A small application whose records are synced, and what each account may see by `evaluate`. */
import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { bind, evaluate, parse } from '@pannier/rules'
import type { BoundRule, RuleRecord, RuleRecords, RuleRequest } from '@pannier/rules'
import { open, type Collection, type Database } from 'pannier'
import { readSnapshot, rememberedRows, truncate } from 'pannier/internal'
import { memory } from 'pannier/memory'
import { virtualEnvironment, type VirtualEnvironment } from 'pannier/testing'
import { recordsOf } from '../../../rules/test/answer.ts'
import { View } from '../../../db/src/database/collection/view.ts'
import type { Actor } from '../../src/access/actor.ts'
import type { KnownDefinitions } from '../../src/access/rule-records.ts'
import { recordsName, type Definition } from '../../src/definitions/definition.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { Boots } from '../../src/sync/feed/boots.ts'
import type { PageLimits } from '../../src/sync/feed/feed-page.ts'
import type { FeedToken } from '../../src/sync/feed/feed-token.ts'
import { Feed, type PulledPage } from '../../src/sync/feed/feed.ts'
import { forgetOld, type Forgetful } from '../../src/sync/feed/forgetting.ts'
import { AccountHoldings } from '../../src/sync/feed/account-holdings.ts'
import { HoldingsStore } from '../../src/sync/feed/holdings-store.ts'
import { partOf } from '../../src/sync/feed/part.ts'
import { forgetSides } from '../../src/sync/feed/sides-view.ts'
import { SIDES_VIEW, syncRules } from '../../src/sync/rules/sync-rules.ts'
import { actorOf, makeWorld, type World } from '../records/read/read-world.ts'
import type { Replica } from './replica.ts'

const text = (name: string): object => ({ name, type: 'text' })
const relation = (name: string, to: string, maxSelect = 1): object => ({
  name,
  type: 'relation',
  collectionId: `pbc_${to}`,
  maxSelect,
})
const collection = (name: string, fields: readonly object[], type = 'base'): object => ({
  id: `pbc_${name}`,
  name,
  type,
  fields,
  listRule: '',
})

const DEFINITIONS: readonly object[] = [
  collection(
    'users',
    [text('team'), text('role'), { name: 'level', type: 'number' }, { name: 'verified', type: 'bool' }, text('secret')],
    'auth',
  ),
  collection('teams', [relation('members', 'users', 9), { name: 'public', type: 'bool' }]),
  collection('projects', [
    relation('members', 'users', 9),
    relation('org', 'teams'),
    { name: 'public', type: 'bool' },
    { name: 'deadline', type: 'date' },
    text('secret'),
  ]),
  collection('docs', [
    text('status'),
    text('note'),
    text('team'),
    relation('owner', 'users'),
    relation('project', 'projects'),
    relation('projects', 'projects', 9),
    relation('parent', 'docs'),
    { name: 'tags', type: 'select', maxSelect: 9, values: ['t1', 't2'] },
    { name: 'level', type: 'number' },
    { name: 'expires', type: 'date' },
    { name: 'starts', type: 'date' },
    text('secret'),
  ]),
  collection('shares', [
    relation('user', 'users'),
    relation('doc', 'docs'),
    relation('project', 'projects'),
    text('secret'),
  ]),
  collection('comments', [relation('author', 'users'), relation('post', 'docs')]),
]

/** 2026-11-23, at midnight. */
export const START_MS: number = Date.UTC(2026, 10, 23)

export type Fields = Readonly<Record<string, unknown>>
export type Rows = Readonly<Record<string, readonly (Fields & { readonly id: string })[]>>
type Data = Record<string, Map<string, RuleRecord>>
/** List rules by collection. */
type Rules = Readonly<Record<string, string>>
/** View rules by field. */
export type FieldRules = Readonly<Record<string, string | null>>

/** A record that is written; undefined fields: it is deleted. `fresh`: purged before, so it is another record of the same id. */
export interface Edit {
  readonly collection: string
  readonly id: string
  readonly fields: Fields | undefined
  readonly fresh?: boolean
}

interface BindOptions {
  readonly collection: string
  readonly nowMs: number
  readonly rule?: string
  readonly filter?: string
}

/** A copy of the files of a server, and what they had. */
export interface Backup {
  readonly file: string
  readonly data: Data
  readonly definitions: readonly Definition[]
}

/** A replica that was away for longer begins again. */
const HORIZON_MS = 10_000

export class FeedWorld {
  #world: World
  /** Where the database is; undefined: in memory. */
  readonly #file: string | undefined
  data: Data
  readonly environment: VirtualEnvironment = virtualEnvironment({ startMs: START_MS })
  feed!: Feed
  /** What accounts hold, for pulls and for signals. */
  accountHoldings!: AccountHoldings
  #forgetful!: Forgetful
  /** Runs in the next pull, when an index has been brought up to date, and before the pull has its snapshot. */
  late: (() => Promise<void>) | undefined

  private constructor(world: World, rows: Rows, file: string | undefined) {
    this.#world = world
    this.#file = file
    this.data = Object.fromEntries(
      DEFINITIONS.map((definition) => {
        const { name } = definition as { readonly name: string }
        return [name, new Map((rows[name] ?? []).map((row) => [row.id, row as RuleRecord]))]
      }),
    )
  }

  /** `file`: where the database is, which can be restored then. */
  static async make(rows: Rows, rules: Rules, file?: string): Promise<FeedWorld> {
    const opened = file === undefined ? open('world', { storage: memory() }) : open(file, { durability: 'relaxed' })
    const made = new FeedWorld(await makeWorld(DEFINITIONS, rows, opened), rows, file)
    for (const [name, rule] of Object.entries(rules)) made.setRule(rule, name)
    await made.restart()
    return made
  }

  get database(): Database {
    return this.#world.database
  }

  get definitions(): KnownDefinitions {
    return this.#world.definitions
  }

  definition(name: string): Definition {
    return this.#world.definitions.find(name)!
  }

  rule(name: string = 'docs'): string {
    return this.definition(name).listRule!
  }

  setRule(rule: string, name: string = 'docs'): void {
    this.#world.definitions.change(name, { listRule: rule })
  }

  /** The view rules of fields; all others have none. */
  setFieldRules(rules: FieldRules, name: string = 'docs'): void {
    const fields = this.definition(name).fields.map(({ viewRule: _, ...field }) =>
      field.name in rules ? { ...field, viewRule: rules[field.name] } : field,
    )
    this.#world.definitions.change(name, { fields })
  }

  setManageRule(manageRule: string | null): void {
    this.#world.definitions.change('users', { manageRule })
  }

  /** What the rules of a collection are, for reports. */
  rulesText(name: string): string {
    const definition = this.definition(name)
    const fields = definition.fields.flatMap((field) =>
      field.viewRule === undefined ? [] : [`${field.name}: ${field.viewRule}`],
    )
    const manage = definition.type === 'auth' ? [`manage: ${definition.manageRule}`] : []
    return [`${name}: ${definition.listRule}`, ...fields, ...manage].join('\n  ')
  }

  get nowMs(): number {
    return this.environment.wallClock()
  }

  set nowMs(ms: number) {
    this.environment.jump(ms - this.nowMs)
  }

  /** Whether a rule can be synced. */
  canSync(rule: string, name: string): boolean {
    const { definitions } = this.#world
    return syncRules(definitions, { ...this.definition(name), listRule: rule })!.problems.length === 0
  }

  /** As a server that starts: nothing is kept in memory. */
  async restart(): Promise<void> {
    const { database, definitions } = this.#world
    const names = definitions.all().map(recordsName)
    const builtTo = await readSnapshot(database, (reader) =>
      reader.read((guard) => names.map((name) => [name, rememberedRows(guard, name, SIDES_VIEW)?.builtTo ?? 0])),
    )
    const start = { ms: this.nowMs, builtTo: Object.fromEntries(builtTo) as Record<string, number> }
    const boots = await Boots.open(database, start, this.environment, false)
    const holdings = new HoldingsStore({ database, horizonMs: HORIZON_MS })
    this.#forgetful = { database, definitions, boots, holdings, environment: this.environment, horizonMs: HORIZON_MS }
    this.accountHoldings = new AccountHoldings(definitions)
    const { environment, accountHoldings } = this
    this.feed = new Feed({ ...this.#forgetful, environment, accountHoldings, logs: { write: () => {} } })
  }

  /** What left up to a sequence. */
  async forgetLeft(upTo: number): Promise<void> {
    await forgetSides(this.#world.database, this.#nameOf('docs'), SIDES_VIEW, upTo)
  }

  /** As the server does. */
  forgetOld(): Promise<void> {
    return forgetOld(this.#forgetful)
  }

  /** Copies the files of the server while it does nothing. */
  backup(file: string): Backup {
    const data = Object.fromEntries(Object.entries(this.data).map(([name, records]) => [name, new Map(records)]))
    copyFiles(this.#file!, file)
    return { file, data, definitions: this.#world.definitions.all() }
  }

  /** Stops the server, puts back the files of a backup, and starts it. Nobody announces it. */
  async restore({ file, data, definitions }: Backup): Promise<void> {
    await this.#world.database.close()
    copyFiles(file, this.#file!)
    this.data = Object.fromEntries(Object.entries(data).map(([name, records]) => [name, new Map(records)]))
    this.#world = await makeWorld(DEFINITIONS, {}, open(this.#file!, { durability: 'relaxed' }))
    for (const definition of definitions) this.#world.definitions.change(definition.name, definition)
    await this.restart()
  }

  /** All of it in one commit. */
  async commit(...edits: readonly Edit[]): Promise<void> {
    for (const { collection: name, id, fields, fresh } of edits) {
      if (fresh === true) await this.purge(name, id)
      // Else another leaf would be the record.
      if (fields === undefined) await this.#deleteLeaves(name, id, (await this.#leavesOf(name, id)).slice(1))
    }
    const gone = new Set(
      edits.flatMap(({ collection, fields, id }) =>
        fields === undefined && this.data[collection]!.has(id) ? [id] : [],
      ),
    )
    const isThere = (name: string, id: unknown): boolean =>
      (this.data[name]!.has(id as string) ||
        edits.some((edit) => edit.collection === name && edit.id === id && edit.fields !== undefined)) &&
      !gone.has(id as string)
    await this.#world.database.transaction(async (transaction) => {
      for (const { collection: name, id, fields: given } of edits) {
        const documents = transaction.collection<JsonObject>(this.#nameOf(name))
        const records = this.data[name]!
        if (given === undefined) {
          if (records.delete(id)) await documents.delete(id)
        } else {
          const fields = withoutMissing(this.definition(name), given, isThere)
          await documents.upsert({ ...fields, _id: id })
          records.set(id, { ...fields, id })
        }
      }
    })
    this.#unset(gone)
  }

  /** Takes up a revision beside those that a record has, as a superuser replicates it. The winner is the record then. */
  async replicate(name: string, id: string, fields: Fields, rev: string): Promise<void> {
    const isThere = (other: string, of: unknown): boolean => this.data[other]!.has(of as string)
    const [start, hash] = rev.split('-') as [string, string]
    const body = withoutMissing(this.definition(name), fields, isThere)
    await this.#replicate(name, { ...body, _id: id, _rev: rev, _revisions: { start: Number(start), ids: [hash] } })
  }

  /** Deletes a leaf revision of a record that has several, as a superuser replicates it. */
  async deleteLeaf(name: string, id: string, choose: (revs: readonly string[]) => string): Promise<void> {
    const leaves = await this.#leavesOf(name, id)
    if (leaves.length > 1) await this.#deleteLeaves(name, id, [choose(leaves)])
  }

  /** The leaf revisions of a record, and the winner first. */
  async #leavesOf(name: string, id: string): Promise<readonly string[]> {
    const found = await this.#collection(name).get(id, { conflicts: true })
    return found === undefined ? [] : [found['_rev'] as string, ...((found['_conflicts'] ?? []) as readonly string[])]
  }

  async #deleteLeaves(name: string, id: string, revs: readonly string[]): Promise<void> {
    for (const rev of revs) {
      const [generation, hash] = rev.split('-') as [string, string]
      const start = Number(generation) + 1
      const ids = [hash.split('').toReversed().join(''), hash]
      const _revisions = { start, ids }
      await this.#replicate(name, { _id: id, _rev: `${start}-${ids[0]}`, _revisions, _deleted: true })
    }
  }

  async #replicate(name: string, revision: JsonObject): Promise<void> {
    const collection = this.#collection(name)
    const id = revision['_id'] as string
    await collection.put(revision, { newEdits: false })
    const winner = Object.entries((await collection.get(id))!)
    const fields = Object.fromEntries(winner.filter(([field]) => !field.startsWith('_')))
    // The winner may lead to a record that was deleted before. Sync says nothing exact of relations that lead nowhere.
    const isThere = (other: string, of: unknown): boolean => this.data[other]!.has(of as string)
    const trimmed = withoutMissing(this.definition(name), fields, isThere)
    if (JSON.stringify(trimmed) !== JSON.stringify(fields)) await collection.upsert({ ...trimmed, _id: id })
    this.data[name]!.set(id, { ...trimmed, id })
  }

  /** Removes a record and its history. Relations to it stay. */
  async purge(name: string, id: string): Promise<void> {
    this.data[name]!.delete(id)
    await this.#collection(name).purge(id)
  }

  /** Deletes all records of a collection. */
  async truncate(name: string): Promise<void> {
    for (const id of this.data[name]!.keys())
      await this.#deleteLeaves(name, id, (await this.#leavesOf(name, id)).slice(1))
    await truncate(this.#world.database, this.#nameOf(name))
    const gone = new Set(this.data[name]!.keys())
    this.data[name]!.clear()
    this.#unset(gone)
  }

  /** Drops a collection to which no relation leads, and makes it again. */
  async drop(name: string): Promise<void> {
    await this.#world.database.dropCollection(this.#nameOf(name))
    this.data[name]!.clear()
  }

  async compact(name: string): Promise<void> {
    await this.#collection(name).compact()
  }

  /** What an account may list: the ids. */
  visible(
    user: string | null,
    name: string = 'docs',
    nowMs: number = this.nowMs,
    filter: string = '',
  ): ReadonlySet<string> {
    const part = this.#bind(null, { collection: name, nowMs, filter })
    const seen = this.#admitted(user, this.rule(name), name, nowMs)
    return new Set(
      seen.flatMap((record) => (evaluate(part, record, this.#records()) === true ? [String(record['id'])] : [])),
    )
  }

  /** The fields that an account does not see, of each record of a collection. */
  withheld(user: string | null, name: string, nowMs: number): (id: string) => ReadonlySet<string> {
    const definition = this.definition(name)
    const seenBy = (rule: string | null): ReadonlySet<unknown> =>
      new Set(rule === null ? [] : this.#admitted(user, rule, name, nowMs).map((record) => record['id']))
    const ruled = definition.fields.flatMap(({ name: field, viewRule }) =>
      viewRule === undefined ? [] : [[field, seenBy(viewRule)] as const],
    )
    const isAuth = definition.type === 'auth'
    // A rule that admits everybody shows no addresses.
    const managed = seenBy(isAuth && definition.manageRule !== '' ? definition.manageRule : null)
    return (id) => {
      const without = new Set(ruled.flatMap(([field, seen]) => (seen.has(id) ? [] : [field])))
      const isPublic = this.data[name]!.get(id)!['emailVisibility'] === true
      if (isAuth && !isPublic && id !== user && !managed.has(id)) without.add('email')
      return without
    }
  }

  /** The records that a rule admits for an account. */
  #admitted(user: string | null, rule: string, collection: string, nowMs: number): RuleRecord[] {
    const bound = this.#bind(user, { collection, nowMs, rule })
    const records = this.#records()
    return [...this.data[collection]!.values()].filter((record) => evaluate(bound, record, records) === true)
  }

  /** A rule, or what a client asks for. */
  #bind(user: string | null, { collection, nowMs, rule, filter }: BindOptions): BoundRule {
    const account = user === null ? undefined : this.data['users']!.get(user)
    const request: RuleRequest = {
      auth: account === undefined ? null : { collection: 'users', record: account },
      body: {},
      query: {},
      headers: {},
      method: 'GET',
      context: 'default',
    }
    const { schema } = this.#world.definitions
    const asked = rule === undefined ? { filter: parse(filter || '1 = 1') } : { rule: parse(rule || '1 = 1') }
    return bind({ schema, collection, request, now: new Date(nowMs), ...asked })
  }

  #records(): RuleRecords {
    return recordsOf(Object.fromEntries(Object.entries(this.data).map(([each, all]) => [each, [...all.values()]])))
  }

  actor(user: string | null): Actor {
    return user === null ? actorOf('guest') : actorOf({ collection: 'pbc_users', record: { id: user } })
  }

  /** The next pages of replicas of one account. They do not apply them. */
  pull(
    replicas: readonly Replica[],
    limits?: Partial<PageLimits>,
    has?: (replica: Replica, id: string, rev: string) => boolean,
  ): Promise<PulledPage[]> {
    const wanted = replicas.map((replica) => {
      const { collection, token, filter } = replica
      const definition = this.definition(collection)
      const part = partOf(this.definitions, definition, filter)
      const known = has && { has: (id: string, rev: string): boolean => has(replica, id, rev) }
      return { definition, token, part, ...known }
    })
    return this.#withLate(() => this.feed.pull(this.actor(replicas[0]!.user), wanted, limits))
  }

  async #withLate<T>(pull: () => Promise<T>): Promise<T> {
    const { info } = View.prototype
    const takeLate = (): Promise<void> | undefined => {
      const { late } = this
      this.late = undefined
      return late?.()
    }
    View.prototype.info = async function (this: View<unknown, unknown, unknown, unknown>) {
      const found = await info.call(this)
      if (found.pending === 0) await takeLate()
      return found
    }
    try {
      return await pull()
    } finally {
      View.prototype.info = info
    }
  }

  /** A page of a collection for an account that shows the token of another one. */
  async pullWith(user: string | null, collection: string, token: FeedToken): Promise<PulledPage> {
    const [page] = await this.feed.pull(this.actor(user), [{ definition: this.definition(collection), token }])
    return page!
  }

  close(): Promise<void> {
    return this.#world.database.close()
  }

  /** What referred to a record that is gone, refers to nothing. */
  #unset(gone: ReadonlySet<string>): void {
    // A leaf that wins later may lead to a record that was deleted before: nobody empties that.
    const isThere = (_name: string, id: unknown): boolean => !gone.has(id as string)
    for (const [name, records] of Object.entries(this.data))
      for (const [id, record] of records)
        records.set(id, withoutMissing(this.definition(name), record, isThere) as RuleRecord)
  }

  #collection(name: string): Collection<JsonObject> {
    return this.#world.database.collection<JsonObject>(this.#nameOf(name))
  }

  #nameOf(name: string): string {
    return recordsName(this.definition(name))
  }
}

/** The file of a database, and the log beside it. */
function copyFiles(from: string, to: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(to + suffix, { force: true })
  for (const suffix of ['', '-wal']) if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix)
}

/** A record whose relations lead to records that are there. */
function withoutMissing(
  { fields }: Definition,
  record: Fields,
  isThere: (collection: string, id: unknown) => boolean,
): Fields {
  const kept: Record<string, unknown> = { ...record }
  for (const field of fields) {
    if (field.type !== 'relation') continue
    const to = field.collectionId.replace('pbc_', '')
    const { [field.name]: value } = kept
    if (Array.isArray(value)) kept[field.name] = value.filter((id) => isThere(to, id))
    else if (typeof value === 'string' && value !== '' && !isThere(to, value)) kept[field.name] = ''
  }
  return kept
}

/** As date fields have it. */
export function dateOf(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ')
}
