/** Goal: what a rule costs is said for each kind of account, with all that keeps a collection from being synced; and it is logged. */
import { open, type Database } from 'pannier'
import { memory } from 'pannier/memory'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openBackend, type Backend } from '../../src/backend.ts'
import type { LogEntry } from '../../src/gateway/log-entry.ts'
import { SYSTEM } from '../../src/gateway/principal.ts'
import { NOBODY, refusal } from '../records/world.ts'
import { IN_THREAD } from '../test-model.ts'

let database: Database
let backend: Backend
const logged: LogEntry[] = []

beforeEach(async () => {
  logged.length = 0
  database = await open('rules', { storage: memory() })
  backend = await openBackend(database, { modelHome: IN_THREAD, print: (entry) => void logged.push(entry) })
  await backend.definitions.create(SYSTEM, {
    name: 'tasks',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'owner', type: 'relation', collectionId: '_pb_users_auth_' },
    ],
  })
})
afterEach(async () => {
  await backend.close()
  await database.close()
})

test('accounts that a rule means something else to are explained apart, and superusers are left out', async () => {
  const level = { name: 'level', type: 'number' }
  await backend.definitions.create(SYSTEM, { name: 'members', type: 'auth', fields: [level] })
  await backend.definitions.create(SYSTEM, { name: 'papers', fields: [level] })
  const { rules } = backend.sync.explain(SYSTEM, 'papers', 'level <= @request.auth.level')
  expect(rules).toMatchObject([
    {
      cost: 'D',
      costs: [
        { accounts: ['users', null], cost: 'D' },
        { accounts: ['members'], cost: 'C', alternatives: [{ foundBy: 'level <= a value of the account' }] },
      ],
    },
  ])
})

test('everybody, nobody and what is no rule', async () => {
  const { sync } = backend
  expect(sync.explain(SYSTEM, 'tasks', '')).toMatchObject({
    rules: [{ cost: 'A' }],
    syncProblems: [],
    indexes: ['owner'],
  })
  expect(sync.explain(SYSTEM, 'tasks')).toMatchObject({
    rules: [{ name: 'listRule', rule: null, cost: null, costs: [] }, {}, {}, {}, {}],
    syncProblems: [{ message: 'Only superusers may list its records.', position: null }],
  })
  const explain = async (...parameters: Parameters<typeof sync.explain>): Promise<unknown> =>
    sync.explain(...parameters)
  expect(await refusal(explain(SYSTEM, 'tasks', 'titel = 1'))).toEqual([
    'INVALID',
    expect.stringMatching(/titel.*\(at 1 in titel = 1\)/),
  ])
  expect(await refusal(explain(SYSTEM, 'nothing'))).toMatchObject(['NOT_FOUND', ''])
  expect(await refusal(explain(NOBODY.principal, 'tasks'))).toMatchObject(['FORBIDDEN', ''])
})

test('views, and what can not be cut of field rules and manage rules, are named beside what the list rule asks', async () => {
  const { definitions, sync } = backend
  await definitions.create(SYSTEM, {
    name: 'titles',
    type: 'view',
    listRule: '',
    viewQuery: 'SELECT id, title FROM tasks',
  })
  const asked = '@request.query.a = "1"'
  const fields = definitions
    .get('tasks')
    .fields.map((field) => (field.name === 'title' ? { ...field, viewRule: asked } : field))
  await definitions.update(SYSTEM, 'tasks', { fields, listRule: 'owner = @request.auth.id' })
  await definitions.update(SYSTEM, 'users', { listRule: asked, manageRule: asked })
  const problems = (name: string): unknown => sync.explain(SYSTEM, name).syncProblems
  expect(problems('titles')).toEqual([{ message: expect.stringContaining('is a view'), position: null }])
  expect(problems('users')).toEqual([
    { message: 'It asks about one request.', position: 0 },
    { message: 'The manage rule: It asks about one request.', position: null },
  ])
  expect(problems('tasks')).toEqual([
    { message: 'The view rule of the field "title": It asks about one request.', position: null },
  ])
  expect(sync.explain(SYSTEM, 'tasks').rules.at(-1)).toMatchObject({ name: 'title.viewRule', rule: asked, cost: 'E' })
  await definitions.update(SYSTEM, 'users', { listRule: '', manageRule: 'id = @request.auth.id' })
  expect(problems('users')).toEqual([])
  expect(
    sync
      .explain(SYSTEM, 'users')
      .rules.map(({ name }) => name)
      .slice(-2),
  ).toEqual(['authRule', 'manageRule'])
  expect(sync.explain(SYSTEM, 'titles').rules.map(({ name }) => name)).toEqual(['listRule', 'viewRule'])
})

test('the log has the class of each list rule that is saved, once', async () => {
  const { definitions } = backend
  const notes = (): readonly string[] =>
    logged.map(({ message }) => message).filter((message) => message.startsWith('The list rule'))
  await definitions.update(SYSTEM, 'tasks', { listRule: 'owner = @request.auth.id' })
  await definitions.update(SYSTEM, 'tasks', { viewRule: '' })
  await definitions.update(SYSTEM, 'tasks', { listRule: '@request.query.a = "1"' })
  await definitions.update(SYSTEM, 'tasks', { listRule: null })
  expect(notes()).toEqual([
    'The list rule of "tasks" is of class A. It can be synced.',
    'The list rule of "tasks" is of class E. It can\'t be synced: It asks about one request.',
  ])
})
