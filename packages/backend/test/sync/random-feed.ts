/** Random rules of every kind, records and edits for a feed's world. */
import type { Random } from '../../../db/testing/random.ts'
import { dateOf, START_MS } from './feed-world.ts'
import type { Edit, FeedWorld, FieldRules, Fields, Rows } from './feed-world.ts'

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

/** Conditions of rules, by collection. */
const CONDITIONS: Readonly<Record<string, readonly string[]>> = {
  docs: [
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
    `docs_via_parent.owner ?= ${ME}`,
    `@collection.shares.user ?= ${ME} && @collection.shares.doc ?= id`,
    `@collection.shares.user ?= ${ME} && @collection.shares.project ?= project`,
    'projects.public = true',
    `projects.members.id != ${ME}`,
    'level <= @request.auth.level',
    'level > @request.auth.level',
    'expires > @now',
    'expires >= @now',
    'starts <= @now',
    'starts < @now',
    'expires != @now',
    'starts >= @todayStart',
    'level = @second',
    'level < @second',
    '@second > 3',
    'project.deadline < @now',
  ],
  projects: [
    `members.id ?= ${ME}`,
    `members.id ?!= ${ME}`,
    'public = true',
    'deadline > @now',
    'deadline <= @now',
    ...onTeam('org'),
    `docs_via_project.owner ?= ${ME}`,
    'members.team = @request.auth.team',
    `@collection.shares.user ?= ${ME} && @collection.shares.project ?= id`,
    '@request.auth.verified = true',
  ],
  shares: [
    `user = ${ME}`,
    `user != ${ME}`,
    'user.team = @request.auth.team',
    `doc.owner = ${ME}`,
    `project.members.id ?= ${ME}`,
    'doc.expires > @now',
    "doc.status != 'open'",
  ],
  users: [
    `id = ${ME}`,
    'team = @request.auth.team',
    'level <= @request.auth.level',
    `projects_via_members.members.id ?= ${ME}`,
    'teams_via_members.public ?= true',
    `docs_via_owner.owner = ${ME}`,
    'verified = true',
  ],
}

/** Conditions of parts: they read own fields. */
const PART_CONDITIONS: Readonly<Record<string, readonly string[]>> = {
  docs: [
    "status = 'open'",
    "status != 'open'",
    "project = 'p1'",
    "projects ?= 'p2'",
    "tags:each ?= 't1'",
    'tags:length > 0',
    'level >= 2',
    "note = ''",
    "parent != ''",
    "expires > '2026-11-23 00:00:08'",
    "id != 'd2'",
  ],
  projects: ['public = true', "members ?= 'u2'", "deadline != ''", "id = 'p1' || org != ''"],
  shares: ["user = 'u1'", "doc != 'd1'", "project != ''"],
  users: ['verified = true', "team = 't1'", 'level > 0', "email != ''"],
}

/** Fields that may have view rules, by collection. No filter of a part reads them. */
const RULED_FIELDS: Readonly<Record<string, readonly string[]>> = {
  docs: ['secret', 'owner', 'starts', 'team'],
  projects: ['secret'],
  shares: ['secret'],
  users: ['secret', 'role'],
}

/** Collections that are synced. */
export const SYNCED: readonly string[] = Object.keys(CONDITIONS)

/** One to `most` alternatives of one to `most` conditions of every kind. */
export function randomRule({ below, pick, chance }: Random, world: FeedWorld, collection: string, most = 3): string {
  if (chance(0.02)) return ''
  const some = (): string => Array.from({ length: 1 + below(most) }, () => pick(CONDITIONS[collection]!)).join(' && ')
  for (;;) {
    const rule = Array.from({ length: 1 + below(most) }, () => `(${some()})`).join(' || ')
    if (world.canSync(rule, collection)) return rule
  }
}

/** View rules of some fields; of accounts also a manage rule. */
export function setFieldRules(random: Random, world: FeedWorld, collection: string): void {
  const { chance, pick } = random
  const known = Object.values(fieldRulesOf(world, collection)).filter((rule) => rule !== null)
  const some = (): string | null => {
    if (chance(0.1)) return null
    // Rules in common: with the list rule, or of two fields.
    if (chance(0.15)) return pick([world.rule(collection), ...known])
    return randomRule(random, world, collection, pick([1, 1, 3]))
  }
  const fields = RULED_FIELDS[collection]!.filter(() => chance(0.4))
  world.setFieldRules(Object.fromEntries(fields.map((name) => [name, some()])), collection)
  if (collection === 'users') world.setManageRule(chance(0.6) ? some() : null)
}

function fieldRulesOf(world: FeedWorld, collection: string): FieldRules {
  const { fields } = world.definition(collection)
  return Object.fromEntries(fields.flatMap(({ name, viewRule }) => (viewRule === undefined ? [] : [[name, viewRule]])))
}

/** The part of a collection that a replica wants: often all of it. */
export function randomFilter({ pick, chance }: Random, collection: string): string {
  const one = (): string => pick(PART_CONDITIONS[collection]!)
  if (chance(0.5)) return ''
  return chance(0.5) ? one() : `(${one()}) ${pick(['&&', '||'])} (${one()})`
}

export function randomRows(random: Random): Rows {
  const { pick, chance, below } = random
  return {
    users: USERS.map((id) => ({ id, ...newUser(random, id) })),
    teams: TEAMS.map((id) => ({ id, members: someOf(random, USERS), public: chance(0.3) })),
    projects: PROJECTS.map((id) => ({
      id,
      members: someOf(random, USERS),
      org: pick(TEAMS),
      public: chance(0.3),
      deadline: dateOf(START_MS + below(10) * 1000),
    })),
    docs: DOCS.slice(0, 2 + below(5)).map((id) => ({ id, ...newDocument(random, START_MS) })),
  }
}

/** A random change of documents, of what they refer to, or of accounts. */
export function randomEdit(random: Random, world: FeedWorld): Edit {
  const { pick, chance, below } = random
  const at = (name: string, id: string): Fields => withoutId({ ...world.data[name]!.get(id) })
  const kinds = [
    'doc',
    'doc',
    'doc',
    'doc',
    'gone',
    'member',
    'member',
    'user',
    'team',
    'row',
    'row',
    'project',
    'rare',
  ]
  switch (pick(kinds)) {
    case 'doc': {
      const id = pick(DOCS)
      return { collection: 'docs', id, fields: changedDocument(random, world, id), fresh: chance(0.05) }
    }
    case 'gone':
      return { collection: 'docs', id: pick(DOCS), fields: undefined }
    case 'member': {
      const id = pick(PROJECTS)
      const project = at('projects', id)
      return { collection: 'projects', id, fields: { ...project, members: toggled(project['members'], pick(USERS)) } }
    }
    case 'project': {
      const id = pick(PROJECTS)
      const change = pick<Fields>([
        { public: chance(0.5) },
        { org: pick([...TEAMS, '']) },
        { deadline: dateOf(world.nowMs + below(10) * 1000) },
        { secret: String(below(1000)) },
      ])
      return { collection: 'projects', id, fields: { members: [], ...at('projects', id), ...change } }
    }
    case 'team': {
      const id = pick(TEAMS)
      const team = at('teams', id)
      const members = toggled(team['members'], pick(USERS))
      return { collection: 'teams', id, fields: { ...team, members, public: chance(0.3) } }
    }
    case 'user': {
      const id = pick(USERS)
      const change = pick<Fields>([
        { team: pick([...TEAMS, '']) },
        { level: below(4) },
        { role: pick(['admin', 'open', '']) },
        { verified: chance(0.5) },
        { emailVisibility: chance(0.3) },
        { secret: String(below(1000)) },
      ])
      const old = world.data['users']!.has(id) ? at('users', id) : newUser(random, id)
      return { collection: 'users', id, fields: { ...old, ...change } }
    }
    case 'row': {
      const name = pick(['shares', 'comments'])
      const id = pick(ROWS)
      if (chance(0.3)) return { collection: name, id, fields: undefined }
      const doc = pick([...world.data['docs']!.keys(), ''])
      const share: Fields = { user: pick(USERS), doc, project: pick([...PROJECTS, '']), secret: String(below(1000)) }
      return { collection: name, id, fields: name === 'shares' ? share : { author: pick(USERS), post: doc } }
    }
    default: {
      const [name, ids] = pick([
        ['users', USERS],
        ['projects', PROJECTS],
        ['teams', TEAMS],
      ] as const)
      return { collection: name, id: pick(ids), fields: undefined }
    }
  }
}

/** A superuser replicates a revision of a document that conflicts with others, or deletes a leaf. */
export async function replicateSome(random: Random, world: FeedWorld): Promise<void> {
  const { pick, below, chance } = random
  const id = pick([...world.data['docs']!.keys(), 'd1'])
  if (chance(0.4)) return world.deleteLeaf('docs', id, pick)
  const hash = Array.from({ length: 32 }, () => below(16).toString(16)).join('')
  await world.replicate('docs', id, changedDocument(random, world, id), `${1 + below(4)}-${hash}`)
}

function changedDocument(random: Random, world: FeedWorld, id: string): Fields {
  const { pick, below, chance } = random
  const old = world.data['docs']!.get(id)
  const fields: Fields = withoutId({ ...(old ?? newDocument(random, world.nowMs)) })
  const change = (): Fields =>
    pick<Fields>([
      { note: String(below(1000)) },
      { secret: String(below(1000)) },
      { owner: pick([...USERS, '']) },
      { project: pick([...PROJECTS, '']) },
      { projects: someOf(random, PROJECTS) },
      { tags: someOf(random, TEAMS) },
      { team: pick(TEAMS) },
      { status: pick(['open', 'shut']) },
      { level: below(4) },
      { expires: pick([dateOf(world.nowMs + below(12) * 1000), '']) },
      { starts: dateOf(world.nowMs + below(6) * 1000) },
      { parent: pick([...world.data['docs']!.keys(), '']) },
    ])
  return { ...fields, ...change(), ...(chance(0.3) ? change() : {}) }
}

function newUser({ pick, below, chance }: Random, id: string): Fields {
  const address = { email: `${id}@example.com`, emailVisibility: chance(0.2) }
  const secret = String(below(1000))
  return {
    ...address,
    secret,
    team: pick(TEAMS),
    level: below(3),
    role: pick(['admin', '', '']),
    verified: chance(0.7),
  }
}

function newDocument(random: Random, nowMs: number): Fields {
  const { pick, below } = random
  return {
    status: 'open',
    note: '',
    secret: String(below(1000)),
    level: 1,
    owner: pick(USERS),
    project: pick(PROJECTS),
    projects: someOf(random, PROJECTS),
    parent: '',
    tags: someOf(random, TEAMS),
    team: pick(TEAMS),
    expires: dateOf(nowMs + below(20) * 1000),
    starts: dateOf(nowMs + below(6) * 1000),
  }
}

function someOf({ chance }: Random, items: readonly string[]): string[] {
  return items.filter(() => chance(0.5))
}

function toggled(list: unknown, item: string): string[] {
  const items = (list ?? []) as readonly string[]
  return items.includes(item) ? items.filter((each) => each !== item) : [...items, item]
}

function withoutId({ id: _, ...fields }: Fields): Fields {
  return fields
}
