/** Goal: `pannier rules explain` says what rules cost, where and why they can't be synced, of a file and of a server, as text and JSON. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ExplainedRules } from '@pannier/backend'
import { EXIT } from '../../src/cli/outcome.ts'
import { EMAIL, PASSWORD, startRest, type RestServer } from '../rest/rest-server.ts'
import { runCaptured } from './run-captured.ts'

const USERS = '_pb_users_auth_'
const MEMBER = 'project.members.id ?= @request.auth.id'

let dir: string
let server: RestServer
let url: string

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-rules-'))
  server = await startRest({ dir })
  url = server.url.replace('//', `//${encodeURIComponent(EMAIL)}:${encodeURIComponent(PASSWORD)}@`)
  const make = async (collection: object): Promise<string> => {
    const { json, status, text } = await server.call('POST /collections', { type: 'base', ...collection })
    expect([status, text]).toEqual([200, text])
    return String(json['id'])
  }
  const members = { name: 'members', type: 'relation', collectionId: USERS, maxSelect: 99 }
  const projects = await make({ name: 'projects', fields: [members] })
  await make({
    name: 'tasks',
    listRule: `${MEMBER} || level <= 3`,
    viewRule: `${MEMBER} || level <= 3`,
    createRule: '@request.query.key = "a"',
    updateRule: 'title != @request.auth.id',
    deleteRule: null,
    fields: [
      { name: 'title', type: 'text' },
      { name: 'level', type: 'number' },
      { name: 'project', type: 'relation', collectionId: projects },
    ],
  })
})
afterAll(async () => {
  await server.close()
  await rm(dir, { recursive: true, force: true })
})

const TEXT = `tasks
  listRule: ${MEMBER} || level <= 3
    accounts of users and guests: class A, records are found by a set of values, exactly
      A  project is one of the ids of "projects"
      A  all records, with level <= 3
  viewRule: as listRule
  createRule: @request.query.key = "a"
    accounts of users and guests: class E, it can't be cut into the record's half and the account's half
      @request.query.key = "a"
      ^ It asks about one request.
  updateRule: title != @request.auth.id
    accounts of users and guests: class D, each record of the collection is tested, for each account
      D  all records; tested for each: title != @request.auth.id
      title != @request.auth.id
      ^ It is tested for each record.
  deleteRule: superusers only
  sync: it can be synced
  indexes by themselves: project, level
`

test('rules are explained for those who read', async () => {
  expect(await runCaptured(['rules', 'explain', 'tasks', '--url', url])).toEqual({
    code: EXIT.done,
    out: TEXT,
    err: '',
  })
})

test('a rule that is not saved is explained, with a caret under what can not be cut', async () => {
  const rule = `title = 'a' &&\n@request.query.key = "a"`
  const { out } = await runCaptured(['rules', 'explain', 'tasks', '--rule', rule, '--url', url])
  const [head, , shown, caret, sync] = out.split('\n').slice(1)
  expect(head).toBe(`  listRule: title = 'a' && @request.query.key = "a"`)
  expect(shown!.slice(caret!.indexOf('^'))).toBe('@request.query.key = "a"')
  expect(caret!.trim()).toBe('^ It asks about one request.')
  expect(sync).toBe("  sync: it can't be synced: It asks about one request.")
})

test('a mistake names what is wrong and where, and exits with an error', async () => {
  const explain = (...parameters: readonly string[]): ReturnType<typeof runCaptured> =>
    runCaptured(['rules', 'explain', ...parameters, '--url', url])
  const wrong = await explain('tasks', '--rule', 'titel = 1')
  expect([wrong.code, wrong.out]).toEqual([EXIT.failed, ''])
  expect(wrong.err).toContain('titel')
  expect(await explain('nothing')).toMatchObject({ code: EXIT.failed, out: '' })
  expect(await explain('--rule', 'title = 1')).toMatchObject({ code: EXIT.usage })
  expect(await runCaptured(['rules', 'explain'])).toMatchObject({
    code: EXIT.usage,
    err: 'Where? Give --dir or --url.\n',
  })
})

test('the JSON has all collections but those of the system, and the file says the same as the server', async () => {
  const { out } = await runCaptured(['rules', 'explain', '--json', '--url', url])
  const explained = JSON.parse(out) as readonly ExplainedRules[]
  expect(explained.map(({ collection }) => collection)).toEqual(['users', 'projects', 'tasks'])
  expect(explained[2]!.rules.map(({ name, cost }) => [name, cost])).toEqual([
    ['listRule', 'A'],
    ['viewRule', 'A'],
    ['createRule', 'E'],
    ['updateRule', 'D'],
    ['deleteRule', null],
  ])
  await server.close()
  expect((await runCaptured(['rules', 'explain', '--json', '--dir', dir])).out).toBe(out)
  expect((await runCaptured(['rules', 'explain', 'tasks', '--dir', dir])).out).toBe(TEXT)
  expect(await runCaptured(['rules', 'explain', 'nothing', '--dir', dir])).toMatchObject({
    code: EXIT.failed,
    err: 'There is no collection "nothing".\n',
  })
})
