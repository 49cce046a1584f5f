/**
 * The team's tasks: what their collections have, and who may do what. It has the form of PocketBase's export, so
 * `PUT /api/collections/import` takes it too.
 */

const text = (name: string, options: object = {}): object => ({ name, type: 'text', ...options })
const one = (name: string, collectionId: string, options: object = {}): object => ({
  name,
  type: 'relation',
  collectionId,
  maxSelect: 1,
  ...options,
})
const many = (name: string, collectionId: string): object => one(name, collectionId, { maxSelect: 999 })
const autodates = [
  { name: 'created', type: 'autodate', onCreate: true },
  { name: 'updated', type: 'autodate', onCreate: true, onUpdate: true },
]

export const STATES = ['open', 'doing', 'done'] as const
export const LABELS = ['bug', 'design', 'docs', 'later', 'urgent'] as const

const MEMBER = 'project.members.id ?= @request.auth.id'
const LEAD = "@request.auth.role = 'lead'"

/** Names that don't change, for relations. */
export const IDS = { teams: 'demoteams', users: 'demousers', projects: 'demoprojects', tasks: 'demotasks' } as const

const ID_FIELD = {
  name: 'id',
  type: 'text',
  system: true,
  primaryKey: true,
  required: true,
  pattern: '^[a-z0-9]+$',
  autogeneratePattern: '[a-z0-9]{15}',
  min: 3,
  max: 15,
}

export const DEFINITIONS: readonly object[] = [
  {
    id: IDS.teams,
    name: 'teams',
    type: 'base',
    listRule: 'id = @request.auth.team',
    viewRule: 'id = @request.auth.team',
    fields: [ID_FIELD, text('name', { required: true, max: 80 })],
  },
  {
    id: IDS.users,
    name: 'members',
    type: 'auth',
    listRule: 'team = @request.auth.team',
    viewRule: 'team = @request.auth.team',
    // Nobody grants a role to himself.
    updateRule: `(id = @request.auth.id && @request.body.role:isset = false && @request.body.team:isset = false) || (${LEAD} && team = @request.auth.team)`,
    fields: [
      ID_FIELD,
      text('name', { required: true, max: 80 }),
      one('team', IDS.teams),
      { name: 'role', type: 'select', values: ['member', 'lead'], maxSelect: 1 },
    ],
  },
  {
    id: IDS.projects,
    name: 'projects',
    type: 'base',
    listRule: 'members.id ?= @request.auth.id',
    viewRule: 'members.id ?= @request.auth.id',
    updateRule: `${LEAD} && team = @request.auth.team`,
    fields: [
      ID_FIELD,
      text('name', { required: true, max: 80 }),
      one('team', IDS.teams, { cascadeDelete: true }),
      many('members', IDS.users),
      { name: 'archived', type: 'bool' },
    ],
  },
  {
    id: IDS.tasks,
    name: 'tasks',
    type: 'base',
    listRule: MEMBER,
    viewRule: MEMBER,
    createRule: `${MEMBER} && @request.body.assignee:isset = true`,
    updateRule: MEMBER,
    deleteRule: `${MEMBER} && (${LEAD} || assignee = @request.auth.id)`,
    fields: [
      ID_FIELD,
      text('title', { required: true, max: 120 }),
      one('project', IDS.projects, { required: true, cascadeDelete: true }),
      one('assignee', IDS.users),
      { name: 'state', type: 'select', values: STATES, maxSelect: 1, required: true },
      { name: 'labels', type: 'select', values: LABELS, maxSelect: LABELS.length },
      { name: 'due', type: 'date' },
      ...autodates,
    ],
    indexes: ['CREATE INDEX tasks_due ON tasks (due)'],
  },
]
