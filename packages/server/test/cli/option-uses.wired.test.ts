/** Goal: a command refuses options that it does not read, and knows the collections of an application in the file that it opens. */
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { EXIT } from '../../src/cli/outcome.ts'
import { call, EMAIL, PASSWORD, startRest, tokenFor } from '../rest/rest-server.ts'
import { startServer } from '../test-server.ts'
import { runCaptured, type Captured } from './run-captured.ts'

let dir: string
let data: string

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-uses-'))
  data = join(dir, 'data')
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const REFUSED: readonly (readonly [command: string, option: string])[] = [
  ['import shop people FILE --dry-run', '--dry-run'],
  ['import shop people FILE --url http://a:b@127.0.0.1:1', '--url'],
  ['import shop people FILE --dir other', '--dir'],
  ['import shop people FILE --skip posts', '--skip'],
  ['import shop people FILE --superusers', '--superusers'],
  ['import shop people FILE --no-settings', '--no-settings'],
  ['import --data pb_data --dir other --format json', '--format'],
  ['import --data pb_data --dir other --mode upsert', '--mode'],
  ['import --data pb_data --dir other --stubs drop', '--stubs'],
  ['serve --dir other --pooled', '--pooled'],
  ['serve --dir other --listen-url postgres://a', '--listen-url'],
  ['serve --dir other --http-port 81', '--http-port'],
  ['serve --dir other --no-index-fallback', '--no-index-fallback'],
  ['serve --storage postgres://a@127.0.0.1:1/b --no-hooks-watch', '--no-hooks-watch'],
  ['backup restore some.zip --dir other --pooled', '--pooled'],
  ['replicate a#b c#d --param a=1', '--param'],
  ['dump shop - --force', '--force'],
]

test.each(REFUSED)('pannier %s is refused, and does nothing', async (command, option) => {
  const file = join(dir, 'one.ndjson')
  await writeFile(file, '{"_id":"ann"}\n')
  const place = (word: string): string =>
    word === 'FILE' ? file : /^(?:shop|other)$/.test(word) ? join(dir, word) : word
  const { code, err } = await runCaptured(command.split(' ').map(place))
  expect([code, err]).toEqual([EXIT.usage, expect.stringMatching(new RegExp(`^${option} is read only with`))])
  expect([existsSync(join(dir, 'shop')), existsSync(join(dir, 'other'))]).toEqual([false, false])
})

async function application(): Promise<void> {
  const server = await startRest({ dir: data })
  const people = {
    name: 'people',
    type: 'base',
    fields: [
      { name: 'name', type: 'text', required: true, max: 10 },
      { name: 'age', type: 'number' },
    ],
  }
  expect((await server.call('POST /collections', people)).status).toBe(200)
  const bob = { id: 'bobbobbobbobbob', name: 'Bob', age: 4 }
  expect((await server.call('POST /collections/people/records', bob)).status).toBe(200)
  await server.close()
}

async function imported(text: string, ...options: readonly string[]): Promise<Captured> {
  return runCaptured(['import', data, 'people', '-', ...options], { input: text })
}

async function exported(): Promise<unknown> {
  return JSON.parse((await runCaptured(['export', data, 'people', '--format', 'json'])).out)
}

test('import and export of a collection of an application are about its records', async () => {
  await application()
  const bob = { id: 'bobbobbobbobbob', name: 'Bob', age: 4 }
  expect(await exported()).toEqual([bob])
  const ann = { _id: 'annannannannann', name: 'Ann', age: 3 }
  expect(await imported(`${JSON.stringify(ann)}\n{"name":"Eve"}\n`)).toEqual({
    code: 0,
    out: '',
    err: '2 records imported.\n',
  })
  expect(await exported()).toHaveLength(3)
  expect((await imported(JSON.stringify([{ id: bob.id, age: 5 }]), '--mode', 'upsert')).err).toBe(
    '1 record imported.\n',
  )
  expect(await exported()).toContainEqual({ ...bob, age: 5 })
  const { out } = await runCaptured(['inspect', data])
  expect(out).toMatch(/people \(of the application: \$records_pbc_\d+\) +3 /)
  const server = await startServer({ dir: data })
  const token = await tokenFor(server.url, '_superusers', EMAIL, PASSWORD)
  const { json } = await call(server.url, 'GET /collections/people/records', undefined, token)
  expect(json['totalItems']).toBe(3)
  await server.close()
})

test('an export leaves out the secrets of accounts, and no field of another collection that has their name', async () => {
  const server = await startRest({ dir: data })
  const keys = { name: 'keys', type: 'base', fields: [{ name: 'tokenKey', type: 'text' }] }
  expect((await server.call('POST /collections', keys)).status).toBe(200)
  expect((await server.call('POST /collections/keys/records', { tokenKey: 'a' })).status).toBe(200)
  const ann = { email: 'ann@example.com', password: PASSWORD, passwordConfirm: PASSWORD }
  expect((await server.call('POST /collections/users/records', ann)).status).toBe(200)
  await server.close()
  const names = async (collection: string): Promise<string[]> => {
    const [record] = JSON.parse((await runCaptured(['export', data, collection, '--format', 'json'])).out) as [object]
    return Object.keys(record).toSorted()
  }
  expect(await names('keys')).toEqual(['id', 'tokenKey'])
  const ofUsers = await names('users')
  expect(ofUsers).toContain('email')
  expect(ofUsers.filter((name) => name === 'password' || name === 'tokenKey')).toEqual([])
})

const WRONG: readonly (readonly [text: string, error: string])[] = [
  ['{"name":"Ann"}\n{"name":"much too long"}', 'line 2: '],
  ['{"name":"Ann"}\n\n{"age":3}', 'line 3: '],
  ['{"name":"Ann","nmae":"x"}', 'line 1: The collection "people" has no field nmae.'],
  ['{"name":"Ann"}\n{"id":"bobbobbobbobbob","name":"Bob"}', 'line 2: '],
  ['{"name":"Ann"}\n{', 'line 2: '],
  ['{"name":"Ann"}\n5', 'line 2: a record is an object.'],
]

test('an import with one wrong record imports none, and names its line', async () => {
  await application()
  for (const [text, error] of WRONG) {
    const { code, err } = await imported(text)
    expect([code, err]).toEqual([EXIT.failed, expect.stringContaining(error)])
    expect(err).toContain('Nothing was imported.')
  }
  expect(await exported()).toHaveLength(1)
  for (const options of [
    ['--mode', 'replicate'],
    ['--format', 'couchdb'],
    ['--stubs', 'drop'],
  ])
    expect((await imported('{"name":"Ann"}', ...options)).code).toBe(EXIT.usage)
})

test('no command makes a second collection of the name, or goes round the checks', async () => {
  await application()
  expect((await runCaptured(['db', 'create', 'people', '--dir', data])).err).toContain(
    'is a collection of the application',
  )
  const file = join(data, 'pannier.sqlite')
  const { code, err } = await runCaptured(['replicate', 'http://127.0.0.1:9/a', `${file}#people`])
  expect([code, err]).toEqual([EXIT.usage, expect.stringContaining('Start the server, and name its URL.')])
  expect((await runCaptured(['compact', data, 'people'])).code).toBe(0)
  expect((await runCaptured(['export', data, 'people', '--attachments'])).code).toBe(EXIT.usage)
})

test('a backup is made and listed with and without the server, and restore names the command for it', async () => {
  await application()
  expect((await runCaptured(['backup', 'create', 'one.zip', '--dir', data])).code).toBe(0)
  const server = await startServer({ dir: data })
  const url = server.url.replace('//', `//${encodeURIComponent(EMAIL)}:${encodeURIComponent(PASSWORD)}@`)
  expect((await runCaptured(['backup', 'create', 'two.zip', '--url', url])).code).toBe(0)
  expect((await runCaptured(['backup', 'list', '--url', url])).out).toMatch(/one\.zip[^]*two\.zip|two\.zip[^]*one\.zip/)
  await server.close()
  const { out } = await runCaptured(['backup', 'list', '--dir', data, '--json'])
  expect((JSON.parse(out) as { key: string }[]).map(({ key }) => key).sort()).toEqual(['one.zip', 'two.zip'])
  const zip = join(data, 'backups', 'one.zip')
  const { code, err } = await runCaptured(['restore', join(dir, 'again.db'), zip])
  expect([code, err]).toEqual([EXIT.usage, expect.stringContaining('`pannier backup restore ')])
})

test('types are written into a new folder', async () => {
  await application()
  const out = join(dir, 'src', 'made', 'types.d.ts')
  expect((await runCaptured(['types', '--dir', data, '--out', out])).code).toBe(0)
  expect(existsSync(out)).toBe(true)
})

test('names that every object has are no options, commands or values that somebody gave', async () => {
  const help = await runCaptured(['--help'])
  const commands = [...help.out.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name!)
  expect(commands.length).toBeGreaterThan(15)
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    expect(await runCaptured([name])).toMatchObject({ code: EXIT.usage, err: expect.stringContaining(`'${name}'`) })
    for (const command of commands.filter((one) => one !== 'help')) {
      const { code, err } = await runCaptured([command, `--${name}`, 'x'])
      expect([command, code, err]).toEqual([
        command,
        EXIT.usage,
        expect.stringMatching(`unknown option '--${name}'|not specified`),
      ])
    }
  }
})
