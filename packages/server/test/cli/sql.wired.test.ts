/** Goal: `pannier sql` answers a SELECT of a folder and of a server, as a table, CSV and JSON, with parameters of their types. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { EXIT } from '../../src/cli/outcome.ts'
import { EMAIL, PASSWORD, startRest, type RestServer } from '../rest/rest-server.ts'
import { runCaptured } from './run-captured.ts'

let dir: string
let server: RestServer
let url: string

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-sql-'))
  server = await startRest({ dir })
  url = server.url.replace('//', `//${encodeURIComponent(EMAIL)}:${encodeURIComponent(PASSWORD)}@`)
  const fields = [
    { name: 'name', type: 'text' },
    { name: 'people', type: 'number' },
  ]
  await server.call('POST /collections', { name: 'cities', type: 'base', fields })
  await server.call('POST /collections/cities/records', { name: 'Bern', people: 134_000 })
  await server.call('POST /collections/cities/records', { name: 'Biel, "Bienne"', people: 55_000.5 })
})
afterAll(async () => {
  await server.close()
  await rm(dir, { recursive: true, force: true })
})

const SELECT = 'SELECT name, people, NULL AS none FROM cities WHERE people > :least ORDER BY people'

test('a server answers as a table, as CSV and as JSON', async () => {
  const asked = async (...more: readonly string[]): Promise<string> =>
    (await runCaptured(['sql', url, SELECT, '-p', 'least=1', ...more])).out
  expect(await asked()).toBe(
    ['name            people   none', 'Biel, "Bienne"  55000.5  NULL', 'Bern            134000   NULL', ''].join('\n'),
  )
  expect(await asked('--format', 'csv')).toBe('name,people,none\r\n"Biel, ""Bienne""",55000.5,\r\nBern,134000,\r\n')
  expect(JSON.parse(await asked('--format', 'json'))).toEqual([
    { name: 'Biel, "Bienne"', people: 55_000.5, none: null },
    { name: 'Bern', people: 134_000, none: null },
  ])
})

test('parameters are bound by what they look like', async () => {
  const select = 'SELECT :a / 2 AS a, :b / 2 AS b, typeof(:c) AS c, :d AS d'
  const given = ['a=3', 'b=3.0', 'c=007', 'd=x=y'].flatMap((one) => ['--param', one])
  const { out } = await runCaptured(['sql', url, select, ...given, '--format', 'json'])
  expect(JSON.parse(out)).toEqual([{ a: 1, b: 1.5, c: 'text', d: 'x=y' }])
})

test('a token of the environment is enough', async () => {
  vi.stubEnv('PANNIER_TOKEN', server.token)
  const { code, out } = await runCaptured(['sql', server.url, 'SELECT 1 AS one'])
  vi.unstubAllEnvs()
  expect([code, out]).toEqual([EXIT.done, 'one\n  1\n'])
})

test.each([
  [['SELECT nope FROM cities'], EXIT.failed, 'no such column: nope'],
  [['DELETE FROM cities'], EXIT.failed, 'syntax error'],
  [['SELECT :n'], EXIT.failed, ':n is no parameter'],
  [['SELECT 1', '--format', 'xml'], EXIT.usage, 'xml'],
  [['SELECT 1', '--param', 'n'], EXIT.usage, 'a parameter is name=value'],
] as [readonly string[], number, string][])('%j ends with its code and its reason', async (given, code, words) => {
  const ended = await runCaptured(['sql', url, ...given])
  expect([ended.code, ended.err]).toEqual([code, expect.stringContaining(words)])
})

test('a server without credentials, and an unknown folder are wrong arguments', async () => {
  expect(await runCaptured(['sql', server.url, 'SELECT 1'])).toMatchObject({ code: EXIT.usage })
  expect(await runCaptured(['sql', join(dir, 'none'), 'SELECT 1'])).toMatchObject({ code: EXIT.usage })
})

test('a folder answers, too', async () => {
  await server.close()
  const { code, out } = await runCaptured(['sql', dir, SELECT, '-p', 'least=100000', '--format', 'csv'])
  expect([code, out]).toEqual([EXIT.done, 'name,people,none\r\nBern,134000,\r\n'])
})
