/** A small application whose documents are synced, random rules and edits of it, and what each account may see by `evaluate`. */
import { bind, evaluate, parse, type RuleRecord, type RuleRequest } from '@pannier/rules'
import type { Collection } from 'pannier'
import { readSnapshot, rememberedRows } from 'pannier/internal'
import type { Random } from '../../../db/testing/random.ts'
import { recordsOf } from '../../../rules/test/answer.ts'
import type { Actor } from '../../src/access/actor.ts'
import { recordsName, type Definition } from '../../src/definitions/definition.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { Boots } from '../../src/sync/boots.ts'
import { Feed, SIDES_VIEW } from '../../src/sync/feed.ts'
import { actorOf, makeWorld, type World } from '../records/read/read-world.ts'

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
    [text('team'), text('role'), { name: 'level', type: 'number' }, { name: 'verified', type: 'bool' }],
    'auth',
  ),
  collection('teams', [relation('members', 'users', 9), { name: 'public', type: 'bool' }]),
  collection('projects', [
    relation('members', 'users', 9),
    relation('org', 'teams'),
    { name: 'public', type: 'bool' },
    { name: 'deadline', type: 'date' },
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
  ]),
  collection('shares', [relation('user', 'users'), relation('doc', 'docs'), relation('project', 'projects')]),
  collection('comments', [relation('author', 'users'), relation('post', 'docs')]),
]

export const USERS: readonly string[] = ['u1', 'u2', 'u3']
const TEAMS = ['t1', 't2']
const PROJECTS = ['p1', 'p2', 'p3']
const DOCS = ['d1', 'd2', 'd3', 'd4', 'd5', 'd6', 'd7']
const ROWS = ['r1', 'r2', 'r3']

const ME = '@request.auth.id'
const onTeam = (path: string): readonly string[] => [`${path}.members.id ?= ${ME}`, `${path}.public ?= true`]
const onProject = (path: string): readonly string[] => [
  `${path}.members.id ?= ${ME}`,
  `${path}.members.id ?= ${ME}`,
  `${path}.public ?= true`,
  `${path}.deadline ?> @now`,
  `${path}.members.id ?= ${ME} && ${path}.public ?= true`,
  `${path}.members.team = @request.auth.team`,
  ...onTeam(`${path}.org`),
]
const CONDITIONS: readonly string[] = [
  "status = 'open'",
  "status != 'open'",
  "@request.auth.role = 'admin'",
  '@request.auth.verified = true',
  `owner = ${ME}`,
  'team = @request.auth.team',
  'tags:each ?= @request.auth.team',
  `owner != ${ME}`,
  'tags:each != @request.auth.team',
  'status != @request.auth.role',
  ...onProject('project'),
  ...onProject('projects'),
  'owner.team = @request.auth.team',
  'owner.level <= @request.auth.level',
  `parent.owner = ${ME}`,
  "parent.status = 'open'",
  `parent.project.members.id ?= ${ME}`,
  `comments_via_post.author ?= ${ME}`,
  'comments_via_post.author.team ?= @request.auth.team',
  `shares_via_doc.user = ${ME}`,
  `@collection.shares.user ?= ${ME} && @collection.shares.doc ?= id`,
  `@collection.shares.user ?= ${ME} && @collection.shares.project ?= project`,
  'projects.public = true',
  `projects.members.id != ${ME}`,
  'level <= @request.auth.level',
  'level > @request.auth.level',
  'expires > @now',
  'starts <= @now',
]

/** One to three alternatives of one to three conditions of every kind. */
export function randomRule({ below, pick }: Random): string {
  const some = (): string => Array.from({ length: 1 + below(3) }, () => pick(CONDITIONS)).join(' && ')
  return Array.from({ length: 1 + below(3) }, () => `(${some()})`).join(' || ')
}

type Fields = Record<string, unknown>
/** A document that is written; undefined fields: it is deleted. `fresh`: purged before, so it is another document of the same id. */
export interface Edit {
  readonly collection: string
  readonly id: string
  readonly fields: Fields | undefined
  readonly fresh?: boolean
}

export class FeedWorld {
  readonly #world: World
  readonly data: Record<string, Map<string, RuleRecord>>
  nowMs: number
  feed!: Feed

  private constructor(world: World, data: Record<string, Map<string, RuleRecord>>, nowMs: number) {
    this.#world = world
    this.data = data
    this.nowMs = nowMs
  }

  static async make(random: Random, rule: string): Promise<FeedWorld> {
    const { pick, chance, below } = random
    const some = (items: readonly string[]): string[] => items.filter(() => chance(0.5))
    const nowMs = Date.UTC(2026, 10, 23)
    const rows: Record<string, Fields[]> = {
      users: USERS.map((id, level) => ({
        id,
        team: pick(TEAMS),
        level,
        role: level === 0 ? 'admin' : '',
        verified: chance(0.7),
      })),
      teams: TEAMS.map((id) => ({ id, members: some(USERS), public: chance(0.3) })),
      projects: PROJECTS.map((id) => ({
        id,
        members: some(USERS),
        org: pick(TEAMS),
        public: chance(0.3),
        deadline: dateOf(nowMs + below(10) * 1000),
      })),
      docs: DOCS.slice(0, 2 + below(5)).map((id) => ({ id, ...newDocument(random, nowMs) })),
      shares: [],
      comments: [],
    }
    const world = await makeWorld(DEFINITIONS, rows)
    world.definitions.change('docs', { listRule: rule })
    const data = Object.fromEntries(
      Object.entries(rows).map(([name, all]) => [
        name,
        new Map(all.map((row) => [String(row['id']), row as RuleRecord])),
      ]),
    )
    const made = new FeedWorld(world, data, nowMs)
    await made.restart()
    return made
  }

  get docs(): Definition {
    return this.#world.definitions.find('docs')!
  }

  get rule(): string {
    return this.docs.listRule!
  }

  /** As a server that starts: nothing is kept in memory. */
  async restart(): Promise<void> {
    const { database, definitions } = this.#world
    const name = recordsName(this.docs)
    const builtTo = await readSnapshot(database, (reader) =>
      reader.read((guard) => rememberedRows(guard, name, SIDES_VIEW)?.builtTo),
    )
    const boots = await Boots.open(database, { [name]: builtTo ?? 0 }, new Uint8Array(32))
    this.feed = new Feed({ database, definitions, boots, now: () => this.nowMs })
  }

  /** All of it in one commit. */
  async commit(edits: readonly Edit[]): Promise<void> {
    for (const { collection: name, id, fresh } of edits)
      if (fresh === true && this.data[name]!.delete(id)) await this.#collection(name).purge(id)
    const gone = new Set(edits.flatMap(({ fields, id }) => (fields === undefined ? [id] : [])))
    const kept = (fields: Fields): Fields =>
      Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, gone.has(value as string) ? '' : value]))
    await this.#world.database.transaction(async (transaction) => {
      for (const { collection: name, id, fields: given } of edits) {
        const fields = given && kept(given)
        const documents = transaction.collection<JsonObject>(this.#nameOf(name))
        const { [name]: records } = this.data
        if (fields === undefined) {
          if (records!.delete(id)) await documents.delete(id)
        } else {
          await documents.upsert({ ...fields, _id: id })
          records!.set(id, { ...fields, id })
        }
      }
    })
    // What referred to a document that is gone, refers to nothing.
    this.#unset()
  }

  /** What an account may list now: the ids. */
  visible(user: string | null): ReadonlySet<string> {
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
    const bound = bind({ schema, collection: 'docs', rule: parse(this.rule), request, now: new Date(this.nowMs) })
    const records = recordsOf(
      Object.fromEntries(Object.entries(this.data).map(([name, all]) => [name, [...all.values()]])),
    )
    const all = [...this.data['docs']!.values()]
    return new Set(
      all.filter((record) => evaluate(bound, record, records) === true).map((record) => String(record['id'])),
    )
  }

  actor(user: string | null): Actor {
    return user === null ? actorOf('guest') : actorOf({ collection: 'pbc_users', record: { id: user } })
  }

  setRule(rule: string): void {
    this.#world.definitions.change('docs', { listRule: rule })
  }

  close(): Promise<void> {
    return this.#world.database.close()
  }

  /** A random change of documents, of what they refer to, or of accounts. */
  edit(random: Random): Edit {
    const { pick, chance, below } = random
    const kind = pick(['doc', 'doc', 'doc', 'doc', 'gone', 'member', 'member', 'user', 'team', 'row', 'row', 'project'])
    const at = (name: string, id: string): Fields => ({ ...this.data[name]!.get(id) })
    const toggled = (list: unknown, item: string): string[] => {
      const items = (list ?? []) as readonly string[]
      return items.includes(item) ? items.filter((each) => each !== item) : [...items, item]
    }
    if (kind === 'doc') {
      const id = pick(DOCS)
      return { collection: 'docs', id, fields: this.changedDocument(random, id), fresh: chance(0.05) }
    }
    if (kind === 'gone') return { collection: 'docs', id: pick(DOCS), fields: undefined }
    if (kind === 'member' || kind === 'project') {
      const id = pick(PROJECTS)
      const project = at('projects', id)
      const change =
        kind === 'member'
          ? { members: toggled(project['members'], pick(USERS)) }
          : pick<Fields>([
              { public: chance(0.5) },
              { org: pick([...TEAMS, '']) },
              { deadline: dateOf(this.nowMs + below(10) * 1000) },
            ])
      return { collection: 'projects', id, fields: withoutId({ ...project, ...change }) }
    }
    if (kind === 'team') {
      const id = pick(TEAMS)
      const team = at('teams', id)
      return {
        collection: 'teams',
        id,
        fields: withoutId({ ...team, members: toggled(team['members'], pick(USERS)), public: chance(0.3) }),
      }
    }
    if (kind === 'user') {
      const id = pick(USERS)
      const change = pick<Fields>([
        { team: pick([...TEAMS, '']) },
        { level: below(4) },
        { role: pick(['admin', 'open', '']) },
        { verified: chance(0.5) },
      ])
      return { collection: 'users', id, fields: withoutId({ ...at('users', id), ...change }) }
    }
    const name = pick(['shares', 'comments'])
    const id = pick(ROWS)
    if (chance(0.3)) return { collection: name, id, fields: undefined }
    const doc = pick([...this.data['docs']!.keys(), ''])
    const fields: Fields =
      name === 'shares'
        ? { user: pick(USERS), doc, project: pick([...PROJECTS, '']) }
        : { author: pick(USERS), post: doc }
    return { collection: name, id, fields }
  }

  changedDocument(random: Random, id: string): Fields {
    const { pick, below, chance } = random
    const some = (items: readonly string[]): string[] => items.filter(() => chance(0.5))
    const old = this.data['docs']!.get(id)
    const fields: Fields = withoutId({ ...(old ?? newDocument(random, this.nowMs)) })
    const change = (): Fields =>
      pick<Fields>([
        { note: String(below(1000)) },
        { owner: pick([...USERS, '']) },
        { project: pick([...PROJECTS, '']) },
        { projects: some(PROJECTS) },
        { tags: some(TEAMS) },
        { team: pick(TEAMS) },
        { status: pick(['open', 'shut']) },
        { level: below(4) },
        { expires: pick([dateOf(this.nowMs + below(12) * 1000), '']) },
        { starts: dateOf(this.nowMs + below(6) * 1000) },
        { parent: pick([...this.data['docs']!.keys(), '']) },
      ])
    return { ...fields, ...change(), ...(chance(0.3) ? change() : {}) }
  }

  #unset(): void {
    const docs = this.data['docs']!
    const isGone = (value: unknown): boolean => typeof value === 'string' && value !== '' && !docs.has(value)
    for (const [name, field] of [
      ['docs', 'parent'],
      ['shares', 'doc'],
      ['comments', 'post'],
    ] as const)
      for (const [id, record] of this.data[name]!)
        if (isGone(record[field])) this.data[name]!.set(id, { ...record, [field]: '' })
  }

  #collection(name: string): Collection<JsonObject> {
    return this.#world.database.collection<JsonObject>(this.#nameOf(name))
  }

  #nameOf(name: string): string {
    return recordsName(this.#world.definitions.find(name)!)
  }
}

function newDocument({ pick, below, chance }: Random, nowMs: number): Fields {
  const some = (items: readonly string[]): string[] => items.filter(() => chance(0.5))
  return {
    status: 'open',
    note: '',
    level: 1,
    owner: pick(USERS),
    project: pick(PROJECTS),
    projects: some(PROJECTS),
    parent: '',
    tags: some(TEAMS),
    team: pick(TEAMS),
    expires: dateOf(nowMs + below(20) * 1000),
    starts: dateOf(nowMs + below(6) * 1000),
  }
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ')
}

function withoutId({ id: _, ...fields }: Fields): Fields {
  return fields
}
