/** Writes whose answers are known from the real PocketBase: `write-answers.json`, recorded by `record-answers.ts`. */
import type { JsonObject } from '../../src/gateway/documents.ts'

const PUBLIC = { listRule: '', viewRule: '', createRule: '', updateRule: '', deleteRule: '' }
const CREATED = { type: 'autodate', name: 'created', onCreate: true }
const UPDATED = { type: 'autodate', name: 'updated', onCreate: true, onUpdate: true }

/** Ids are given, so that relations can name them. */
export const COLLECTIONS: readonly JsonObject[] = [
  {
    id: 'pbc_people',
    name: 'people',
    type: 'auth',
    ...PUBLIC,
    manageRule: '@request.auth.boss = true',
    fields: [
      { type: 'bool', name: 'boss' },
      { type: 'text', name: 'note', max: 5 },
      { type: 'text', name: 'hidden', hidden: true },
      CREATED,
      UPDATED,
    ],
  },
  { id: 'pbc_robots', name: 'robots', type: 'auth', ...PUBLIC, fields: [] },
  {
    id: 'pbc_teams',
    name: 'teams',
    ...PUBLIC,
    deleteRule: "name != 'kept'",
    indexes: [
      'CREATE UNIQUE INDEX `teams_name` ON `teams` (`name`, `city`)',
      "CREATE UNIQUE INDEX `teams_code` ON `teams` (`code`) WHERE `code` != ''",
    ],
    fields: [
      { type: 'text', name: 'name' },
      { type: 'text', name: 'city' },
      { type: 'text', name: 'code' },
      { type: 'number', name: 'size', min: 2, onlyInt: true },
      { type: 'json', name: 'data' },
      { type: 'select', name: 'tags', maxSelect: 2, values: ['a', 'b', 'c'] },
      { type: 'date', name: 'day' },
      { type: 'geoPoint', name: 'place' },
    ],
  },
  {
    id: 'pbc_tasks',
    name: 'tasks',
    ...PUBLIC,
    createRule: "@request.body.team != '' && team.name != 'closed' && @request.body.locked:isset = false",
    updateRule: '@request.body.team:changed = false || @request.auth.boss = true',
    fields: [
      { type: 'relation', name: 'team', collectionId: 'pbc_teams', cascadeDelete: true },
      { type: 'relation', name: 'others', collectionId: 'pbc_teams', maxSelect: 3 },
      { type: 'relation', name: 'owner', collectionId: 'pbc_people' },
      { type: 'text', name: 'locked' },
      { type: 'bool', name: 'done' },
    ],
  },
  {
    id: 'pbc_needs',
    name: 'needs',
    ...PUBLIC,
    fields: [{ type: 'relation', name: 'teams', collectionId: 'pbc_teams', maxSelect: 3, required: true }],
  },
  { id: 'pbc_locked', name: 'locked', fields: [{ type: 'text', name: 'name' }] },
]

export interface Step {
  /** `guest`, `admin`, or the id of an account. */
  readonly as: string
  readonly action: 'create' | 'update' | 'delete'
  readonly collection: string
  readonly id?: string
  readonly input?: JsonObject
}

const PASSWORD = { password: '1234567890', passwordConfirm: '1234567890' }
const [ANN, BOSS, CAT] = ['annannannannann', 'bossbossbossbos', 'catcatcatcatcat']
const [RED, BLUE, GREEN] = ['redredredredred', 'blueblueblueblu', 'greengreengreen']
const [TASK, TASK2, NEED] = ['tasktasktasktas', 'tasktasktaskta2', 'needneedneednee']

function create(as: string, collection: string, input: JsonObject): Step {
  return { as, action: 'create', collection, input }
}

function update(as: string, collection: string, id: string, input: JsonObject): Step {
  return { as, action: 'update', collection, id, input }
}

function remove(as: string, collection: string, id: string): Step {
  return { as, action: 'delete', collection, id }
}

export const STEPS: readonly Step[] = [
  create('guest', 'people', {}),
  create('guest', 'people', { password: '1234567890' }),
  create('guest', 'people', { password: '1234567890', passwordConfirm: '123456789' }),
  create('guest', 'people', { password: '1', passwordConfirm: '1', note: 'too long' }),
  create('guest', 'people', { ...PASSWORD, note: 'too long', email: 'nothing' }),
  create('guest', 'people', { ...PASSWORD, verified: true }),
  create('guest', 'people', { ...PASSWORD }),
  create('guest', 'people', {
    ...PASSWORD,
    id: ANN,
    email: 'ann@example.com',
    note: 'ann',
    hidden: 'x',
    tokenKey: 'k',
  }),
  create('guest', 'people', { ...PASSWORD, email: 'ann@example.com' }),
  create('guest', 'people', { ...PASSWORD, id: ANN }),
  create('admin', 'people', {
    ...PASSWORD,
    id: BOSS,
    email: 'boss@example.com',
    boss: true,
    verified: true,
    hidden: 'x',
  }),
  create('admin', 'people', { password: '1234567890', email: 'x@example.com' }),
  create(BOSS, 'people', { ...PASSWORD, id: CAT, email: 'cat@example.com', verified: true, emailVisibility: true }),
  create(ANN, 'people', { ...PASSWORD, verified: true }),
  create('guest', 'robots', { ...PASSWORD, id: ANN, email: 'r@example.com' }),
  update(ANN, 'people', ANN, { note: 'new' }),
  update(ANN, 'people', ANN, { email: 'new@example.com' }),
  update(ANN, 'people', ANN, { verified: true, email: 'new@example.com', note: 'too long' }),
  update(ANN, 'people', ANN, { email: 'ann@example.com', verified: false }),
  update(ANN, 'people', ANN, { password: '0987654321' }),
  update(ANN, 'people', ANN, { password: '0987654321', passwordConfirm: '0987654321' }),
  update(ANN, 'people', ANN, { password: '0987654321', passwordConfirm: '0987654321', oldPassword: 'wrong' }),
  update(ANN, 'people', ANN, { passwordConfirm: '0987654321' }),
  update(ANN, 'people', ANN, { oldPassword: '1234567890' }),
  update(ANN, 'people', ANN, { password: '', passwordConfirm: '' }),
  update(ANN, 'people', ANN, { password: '1', passwordConfirm: '1', oldPassword: '1234567890' }),
  update(ANN, 'people', ANN, { password: '0987654321', passwordConfirm: '0987654321', oldPassword: '1234567890' }),
  update(ANN, 'people', ANN, { password: 'abcdefghij', passwordConfirm: 'abcdefghij', oldPassword: '1234567890' }),
  update(BOSS, 'people', ANN, { password: 'abcdefghij', passwordConfirm: 'abcdefghij' }),
  update(BOSS, 'people', ANN, { password: 'abcdefghij' }),
  update(BOSS, 'people', ANN, { verified: true, email: 'by.boss@example.com' }),
  update(BOSS, 'people', ANN, { tokenKey: 'short', hidden: 'y' }),
  update('admin', 'people', ANN, { tokenKey: 'short' }),
  update('admin', 'people', ANN, { tokenKey: 'a'.repeat(40), hidden: 'y' }),
  update('admin', 'people', ANN, { email: 'boss@example.com' }),
  update('guest', 'people', ANN, { emailVisibility: true }),
  update('guest', 'people', 'nobody', {}),
  create('guest', 'teams', { id: RED, name: 'red', size: '3', tags: ['a', 'b', 'a'], data: '{"a":[1]}' }),
  create('guest', 'teams', { name: 'red', size: 2 }),
  create('guest', 'teams', { name: 'red', city: 'x', size: 2, code: 'c1' }),
  create('guest', 'teams', { name: 'red', city: 'y', size: 2, code: 'c1' }),
  create('guest', 'teams', { id: BLUE, name: 'blue' }),
  create('guest', 'teams', { id: GREEN, name: 'kept' }),
  create('guest', 'teams', { name: 'bad', size: 1.5, tags: ['a', 'x'], day: 'nothing', place: { lon: 200, lat: 0 } }),
  create('guest', 'teams', { name: 'bad', size: 1, tags: ['a', 'b', 'c'] }),
  update('guest', 'teams', RED, { 'size+': 4, 'tags-': 'a', '+tags': 'c', unknown: 1 }),
  update('guest', 'teams', RED, { 'size-': 6 }),
  update('guest', 'teams', BLUE, { name: 'red' }),
  update('guest', 'teams', BLUE, { id: RED }),
  update('guest', 'teams', BLUE, { id: BLUE, data: null, day: '2024-02-30', size: 'abc' }),
  create('guest', 'tasks', { done: true }),
  create('guest', 'tasks', { id: TASK, team: RED, others: [RED, BLUE], owner: ANN }),
  create('guest', 'tasks', { team: RED, locked: 'x' }),
  create('guest', 'tasks', { team: 'missingmissing1', others: [RED, 'missingmissing1'] }),
  create('guest', 'tasks', { team: [RED, BLUE], others: [RED, BLUE, GREEN, 'missingmissing1'] }),
  create('guest', 'tasks', { id: TASK2, team: BLUE, others: [RED], owner: ANN }),
  update('guest', 'tasks', TASK, { team: BLUE }),
  update('guest', 'tasks', TASK, { team: RED, done: 'true' }),
  update(BOSS, 'tasks', TASK, { 'others-': BLUE }),
  create('guest', 'needs', {}),
  create('guest', 'needs', { id: NEED, teams: [BLUE, RED] }),
  create('guest', 'locked', { name: 'x' }),
  create('admin', 'locked', { id: 'lockedlockedloc', name: 'x' }),
  update('guest', 'locked', 'lockedlockedloc', {}),
  remove('guest', 'locked', 'lockedlockedloc'),
  remove('guest', 'locked', 'nobody'),
  remove('guest', 'nothing', 'nobody'),
  remove('guest', 'teams', GREEN),
  remove('guest', 'teams', 'nobody'),
  remove('guest', 'teams', RED),
  update('guest', 'needs', NEED, {}),
  update('guest', 'tasks', TASK, {}),
  update('guest', 'tasks', TASK2, {}),
  remove('guest', 'teams', BLUE),
  update('guest', 'tasks', TASK2, {}),
  update('guest', 'needs', NEED, { teams: [] }),
  remove('guest', 'needs', NEED),
  remove('guest', 'teams', BLUE),
  update('guest', 'tasks', TASK2, {}),
  remove('guest', 'people', ANN),
  update('guest', 'people', ANN, {}),
  create('admin', '_superusers', { ...PASSWORD, id: 'supersupersuper', email: 's@example.com', verified: false }),
  update('admin', '_superusers', 'supersupersuper', { verified: false }),
  remove('admin', '_superusers', 'supersupersuper'),
  create('admin', '_externalAuths', { collectionRef: 'nothing', recordRef: CAT, provider: 'github', providerId: '1' }),
  create('admin', '_externalAuths', {
    collectionRef: 'pbc_teams',
    recordRef: CAT,
    provider: 'github',
    providerId: '1',
  }),
  create('admin', '_externalAuths', {
    collectionRef: 'pbc_people',
    recordRef: ANN,
    provider: 'github',
    providerId: '1',
  }),
  create('admin', '_externalAuths', {
    id: 'externalauthsid',
    collectionRef: 'pbc_people',
    recordRef: CAT,
    provider: 'github',
    providerId: '1',
  }),
  create('admin', '_externalAuths', {
    collectionRef: 'pbc_people',
    recordRef: CAT,
    provider: 'github',
    providerId: '2',
  }),
  remove('admin', 'people', CAT),
  remove('admin', '_externalAuths', 'externalauthsid'),
]

/** What is compared: the status, the codes of the errors, and the record without what differs each time. */
export interface Answer {
  readonly status: number
  readonly message?: string
  readonly codes?: unknown
  readonly record?: JsonObject
}

export function recordAnswer(status: number, record: JsonObject): Answer {
  const { created: _, updated: __, collectionId: ___, collectionName: ____, ...rest } = record
  const { length } = rest['id'] as string
  return { status, record: { ...rest, id: ID_WORDS.test(rest['id'] as string) ? rest['id'] : `${length} characters` } }
}

const ID_WORDS = /^(?:ann|boss|cat|red|blue|green|task|need|locked|super|external)/

/** `{ title: 'validation_required' }` */
export function codesOf(data: object): unknown {
  return Object.fromEntries(
    Object.entries(data).map(([name, error]: [string, object]) => [
      name,
      'code' in error ? error.code : codesOf(error),
    ]),
  )
}
