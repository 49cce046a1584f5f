/** Goal: nobody who hears of a change can undo its answer, or keep others from hearing of it. */
import { expect, test } from 'vitest'
import { GUEST, SYSTEM, type Principal } from '../../src/gateway/principal.ts'
import { callAll, Listeners } from '../../src/gateway/listeners.ts'
import { openTestBackend, type TestBackend } from '../test-backend.ts'

const WRONG = new Error('a listener of tests')

function throwing(): never {
  throw WRONG
}

test('a listener that throws, or fails later, is reported, and all others are called', async () => {
  const [reports, called]: [unknown[], string[]] = [[], []]
  const listeners = new Listeners<[text: string]>((error) => void reports.push(error))
  listeners.add(throwing)
  listeners.add(async () => throwing())
  const stop = listeners.add((text) => void called.push(text))
  listeners.add(throwing)
  listeners.call('one')
  stop()
  listeners.call('two')
  await Promise.resolve()
  expect(called).toEqual(['one'])
  expect(reports).toEqual(Array.from({ length: 6 }, () => WRONG))
  callAll([throwing, () => void called.push('all')], (error) => void reports.push(error))
  expect(called).toEqual(['one', 'all'])
})

/** Everything of the backend that can be listened to, and what makes it tell. */
const PLACES: Readonly<
  Record<
    string,
    {
      listen(backend: TestBackend, listener: () => void): unknown
      change(backend: TestBackend): Promise<unknown>
    }
  >
> = {
  'Definitions.subscribe, of a new definition': {
    listen: ({ backend }, listener) => backend.definitions.subscribe(listener),
    change: ({ backend }) => backend.definitions.create(SYSTEM, { name: 'posts' }),
  },
  'Definitions.subscribe, of a changed definition': {
    listen: ({ backend }, listener) => backend.definitions.subscribe(listener),
    change: ({ backend }) => backend.definitions.update(SYSTEM, 'users', { listRule: '' }),
  },
  'Definitions.subscribe, of an import': {
    listen: ({ backend }, listener) => backend.definitions.subscribe(listener),
    change: ({ backend }) => backend.definitions.import(SYSTEM, [{ name: 'posts' }], false),
  },
  'Settings.subscribe': {
    listen: ({ backend }, listener) => backend.settings.subscribe(listener),
    change: ({ backend }) => backend.settings.update(SYSTEM, { meta: { appName: 'changed' } }),
  },
  'Hooks.subscribe': {
    listen: ({ backend }, listener) => backend.hooks.subscribe(listener),
    change: async ({ backend }) => backend.hooks.replace([]),
  },
}

for (const [name, { listen, change }] of Object.entries(PLACES))
  test(`${name}: a listener that throws changes no answer, others are called, and the log has the error`, async () => {
    await using opened = await openTestBackend()
    let called = 0
    listen(opened, () => void called++)
    listen(opened, throwing)
    listen(opened, () => void called++)
    await change(opened)
    await opened.environment.idle()
    expect(called).toBeGreaterThanOrEqual(2)
    expect(called % 2).toBe(0)
    expect(opened.printed.map((entry) => JSON.stringify(entry)).join('\n')).toContain(WRONG.message)
  })

/** Two kinds of accounts. For one of them the rule leads to a relation, for the other one to a text. */
async function worldOfTwoKinds(): Promise<{ opened: TestBackend; people: Readonly<Record<string, Principal>> }> {
  const opened = await openTestBackend()
  const { definitions, records, accounts } = opened.backend
  const teams = await definitions.create(SYSTEM, { name: 'teams', fields: [{ name: 'pub', type: 'bool' }] })
  const team = { name: 'team', type: 'relation', collectionId: teams.id, maxSelect: 1 }
  await definitions.create(SYSTEM, { name: 'auth1', type: 'auth', fields: [team] })
  await definitions.create(SYSTEM, { name: 'auth2', type: 'auth', fields: [{ name: 'team', type: 'text' }] })
  await definitions.create(SYSTEM, { name: 'rdocs', fields: [{ name: 'title', type: 'text' }] })
  const admin = { principal: SYSTEM, request: { context: 'default', method: 'POST', query: {}, headers: {} } }
  const [teamOf, password] = ['t'.repeat(15), 'a password of tests']
  await records.create(admin, 'teams', { id: teamOf, pub: true })
  await records.create(admin, 'rdocs', { id: 'r'.repeat(15), title: 'SECRET' })
  const people: Record<string, Principal> = { guest: GUEST }
  for (const collection of ['auth1', 'auth2']) {
    const email = `ann@${collection}.org`
    await records.create(admin, collection, { email, password, passwordConfirm: password, team: teamOf })
    const login = await accounts.authWithPassword(admin, collection, { identity: email, password })
    if ('principal' in login) people[collection] = login.principal
  }
  return { opened, people }
}

const RULE = '@request.auth.team.pub = true'

test('a rule that accounts of one kind cannot be asked is saved, and shows them nothing; others list and sync', async () => {
  const { opened, people } = await worldOfTwoKinds()
  await using _ = opened
  const { definitions, records, sync } = opened.backend
  const saved = await definitions.update(SYSTEM, 'rdocs', { listRule: RULE, viewRule: RULE })
  expect(saved.listRule).toBe(RULE)
  const actorOf = (name: string) => ({
    principal: people[name]!,
    request: { context: 'default', method: 'GET', query: {}, headers: {} },
  })
  expect((await records.list(actorOf('auth1'), 'rdocs')).items.map(({ title }) => title)).toEqual(['SECRET'])
  const { rdocs } = await sync.pull(actorOf('auth1'), { rdocs: undefined })
  expect(JSON.stringify(rdocs)).toContain('SECRET')
  // A guest has no team.
  expect((await records.list(actorOf('guest'), 'rdocs')).items).toEqual([])
  expect(JSON.stringify(await sync.pull(actorOf('guest'), { rdocs: undefined }))).not.toContain('SECRET')
  await expect(records.list(actorOf('auth2'), 'rdocs')).rejects.toMatchObject({ code: 'INVALID' })
  await expect(sync.pull(actorOf('auth2'), { rdocs: undefined })).rejects.toMatchObject({
    code: 'INVALID',
    message: expect.stringContaining('accounts of "auth2"'),
  })
  const [listRule] = sync.explain(SYSTEM, 'rdocs').rules
  const refused = listRule!.costs.find(({ accounts }) => accounts.includes('auth2'))
  expect(refused).toMatchObject({ accounts: ['auth2'], alternatives: [] })
  expect(refused!.problems[0]!.message).toContain('"team" is not a relation')
})

test('a kind of accounts that comes later does not end the sync of the others', async () => {
  const { opened, people } = await worldOfTwoKinds()
  await using _ = opened
  const { definitions, sync } = opened.backend
  await definitions.delete(SYSTEM, 'auth2')
  await definitions.update(SYSTEM, 'rdocs', { listRule: RULE })
  await definitions.create(SYSTEM, { name: 'auth3', type: 'auth', fields: [{ name: 'team', type: 'number' }] })
  const request = { context: 'default', method: 'GET', query: {}, headers: {} }
  const { rdocs } = await sync.pull({ principal: people['auth1']!, request }, { rdocs: undefined })
  expect(JSON.stringify(rdocs)).toContain('SECRET')
})
