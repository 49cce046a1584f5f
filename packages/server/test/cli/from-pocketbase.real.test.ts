/**
 * Goal: `pannier import --from-pocketbase` brings everything, once, and says what it can't bring. Method: data that the real PocketBase
 * has made, with what it answers about them (testing/pocketbase/moved).
 */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { open } from 'pannier'
import { openBackend, SYSTEM } from '@pannier/backend'
import type { Backend } from '@pannier/backend'
import { EXIT } from '../../src/cli/outcome.ts'
import { differences, everyAnswer, type Answers, type OldLogin } from '../../testing/pocketbase/questions.ts'
import { EMAIL, ITSELF, PASSWORD, startRest, tokenFor } from '../rest/rest-server.ts'
import { startServer } from '../test-server.ts'
import { runCaptured, type Captured } from './run-captured.ts'

const MOVED = join(import.meta.dirname, '../../testing/pocketbase/moved/golden')
const ANN = { collection: 'users', identity: 'ann@example.com', password: 'the password of ann' }

let dir: string
let data: string
let target: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-moved-'))
  data = join(dir, 'pb_data')
  target = join(dir, 'data')
  await cp(MOVED, data, { recursive: true })
})
afterEach(() => rm(dir, { recursive: true, force: true }))

function run(...parameters: readonly string[]): Promise<Captured> {
  return runCaptured(['import', '--from-pocketbase', '--data', data, ...parameters])
}

/** Changes the tables of the PocketBase. */
function change(statements: string): void {
  const database = new DatabaseSync(join(data, 'data.db'))
  database.exec(statements)
  database.close()
}

/** Rows of the table that the command prints, without the name of the collection. */
function tally(out: string): Readonly<Record<string, string>> {
  const rows = out.trim().split('\n').slice(1)
  return Object.fromEntries(rows.map((row) => [row.split(/ +/, 1)[0]!, row.replace(/^\S+ +/, '').replace(/ +/g, ' ')]))
}

async function withBackend<T>(use: (backend: Backend) => Promise<T>): Promise<T> {
  const database = await open(join(target, 'pannier.sqlite'))
  const backend = await openBackend(database, { sendsMails: false })
  try {
    return await use(backend)
  } finally {
    await backend.close()
    await database.close()
  }
}

async function recorded(): Promise<{ readonly logins: readonly OldLogin[]; readonly answers: Answers }> {
  return JSON.parse(await readFile(join(MOVED, 'answers.json'), 'utf8'))
}

const NEW = {
  users: '2 2 0 0 1',
  teams: '2 2 0 0 0',
  posts: '3 3 0 0 4',
  _externalAuths: '1 1 0 0 0',
  // One belongs to the superuser.
  _authOrigins: '3 2 0 0 0',
}
const SAME = {
  users: '2 0 0 2 0',
  teams: '2 0 0 2 0',
  posts: '3 0 0 3 0',
  _externalAuths: '1 0 0 1 0',
  _authOrigins: '3 0 0 2 0',
}
/** Its title was made before a title had a least length. */
const UNFIT = ['posts/post00000000005: its field title would not take the value of today; it is kept.']

test('a moved server answers as the PocketBase did, and old passwords log in', async () => {
  const { logins, answers } = await recorded()
  expect(Object.keys(answers).length).toBeGreaterThan(200)
  const { code, out, err } = await run('--dir', target, '--superusers')
  expect([code, tally(out), err.trim().split('\n')]).toEqual([
    EXIT.done,
    { ...NEW, _superusers: '1 1 0 0 0', _authOrigins: '3 3 0 0 0' },
    UNFIT,
  ])
  const server = await startServer({ dir: target })
  try {
    const root = { url: server.url, identity: 'test@example.com', password: '1234567890' }
    expect(differences(answers, await everyAnswer(root, logins))).toEqual([])
    const { settings, definitions } = server.server.backend
    expect(settings.values.meta).toMatchObject({ appName: 'Moved', appURL: 'https://moved.example.com' })
    expect(settings.values.smtp).toMatchObject({ username: 'moved', password: 'the password of mails' })
    expect(JSON.stringify(definitions.get('users'))).toContain('the secret of github')
  } finally {
    await server.close()
  }
})

test('a second run writes nothing, also after logins have hashed passwords again', async () => {
  await run('--dir', target)
  const hashes = (): Promise<unknown> =>
    withBackend(async ({ definitions }) => {
      const { password, tokenKey } = (await definitions.records(definitions.get('users')).get('ann000000000001'))!
      return { bcrypt: String(password).startsWith('$2a$'), tokenKey }
    })
  const before = await hashes()
  const server = await startServer({ dir: target })
  await tokenFor(server.url, ANN.collection, ANN.identity, ANN.password)
  await server.close()
  expect([before, await hashes()]).toMatchObject([{ bcrypt: true }, { ...(before as object), bcrypt: false }])
  const { code, out } = await run('--dir', target)
  expect([code, tally(out)]).toEqual([EXIT.done, SAME])
})

test('a later run brings what has changed, and a new password', async () => {
  await run('--dir', target)
  change(`UPDATE posts SET votes = 7 WHERE id = 'post00000000005';
    INSERT INTO teams (id, name, created, updated) VALUES ('mmm000000000003', 'Green', '2026-01-01 00:00:00.000Z', '');
    UPDATE users SET tokenKey = 'another key of thirty characters or more', password = (SELECT password FROM _superusers)
      WHERE id = 'ann000000000001'`)
  const { code, out } = await run('--dir', target)
  expect([code, tally(out)]).toEqual([
    EXIT.done,
    { ...SAME, users: '2 0 1 1 0', teams: '3 1 0 2 0', posts: '3 0 1 2 0' },
  ])
  const server = await startServer({ dir: target })
  try {
    await expect(tokenFor(server.url, 'users', ANN.identity, ANN.password)).rejects.toThrow('Failed to authenticate.')
    expect(await tokenFor(server.url, 'users', ANN.identity, '1234567890')).toBeDefined()
  } finally {
    await server.close()
  }
})

test('what was changed here later stays', async () => {
  await run('--dir', target)
  await withBackend(({ records }) => records.update(ITSELF, 'posts', 'post00000000009', { title: 'changed here' }))
  change(`UPDATE posts SET title = 'changed there' WHERE id != 'post00000000005'`)
  const { code, out } = await run('--dir', target)
  expect([code, tally(out)['posts']]).toEqual([EXIT.done, '3 0 1 2 0'])
  const shown = await withBackend(({ records }) => records.view(ITSELF, 'posts', 'post00000000009'))
  expect(shown['title']).toBe('changed here')
})

test('a server that runs takes them too', async () => {
  const { logins, answers } = await recorded()
  const server = await startRest()
  try {
    const url = server.url.replace('//', `//${encodeURIComponent(EMAIL)}:${encodeURIComponent(PASSWORD)}@`)
    const { code, out } = await run('--url', url)
    expect([code, tally(out)]).toEqual([EXIT.done, NEW])
    const root = { url: server.url, identity: EMAIL, password: PASSWORD }
    expect(differences(answers, await everyAnswer(root, logins))).toEqual([])
    expect(tally((await run('--url', url)).out)).toEqual(SAME)
  } finally {
    await server.close()
  }
})

test('a dry run says what would come, and writes nothing', async () => {
  const { code, out, err } = await run('--dir', target, '--dry-run')
  expect(code).toBe(EXIT.done)
  expect(tally(out)).toMatchObject({ users: '2 2 1', posts: '3 3 4', _externalAuths: '1 1 0' })
  expect(err.trim().split('\n')).toEqual([...UNFIT, 'Nothing was written: this was a dry run.'])
  expect(await readdir(dir)).not.toContain('data')
})

test('definitions that are not taken stop everything, and --skip leaves them out', async () => {
  change(`UPDATE _collections SET options = json_set(options, '$.viewQuery',
    'SELECT id, nothing FROM posts') WHERE name = 'totals'`)
  const refused = await run('--dir', target)
  expect(refused.code).toBe(EXIT.failed)
  expect(refused.err).toMatch(/^Nothing was imported: .*\ntotals: [^]*Invalid query[^]*--skip NAME,NAME\.\n$/)
  expect(await withBackend(async ({ definitions }) => definitions.find('posts'))).toBeUndefined()
  expect((await run('--dir', target, '--dry-run')).err).toContain('Not everything would be imported.')
  const { code, out } = await run('--dir', target, '--skip', 'totals')
  expect([code, tally(out)]).toEqual([EXIT.done, NEW])
  expect((await run('--dir', target, '--skip', 'nope')).err).toBe('--skip: there is no collection nope.\n')
})

test('indexes of all forms come, and refuse what they refuse there', async () => {
  change(`UPDATE _collections SET indexes = json_array(
    'CREATE UNIQUE INDEX odd ON teams (lower(name) || ''!'', length(name) DESC) WHERE (name IS NOT "")',
    'CREATE INDEX slow ON teams (upper(name)) WHERE length(name) > 1') WHERE name = 'teams'`)
  expect((await run('--dir', target, '--dry-run')).code).toBe(EXIT.done)
  expect(await run('--dir', target)).toMatchObject({ code: EXIT.done })
  await withBackend(async ({ definitions, records }) => {
    expect(definitions.get('teams').indexes).toHaveLength(2)
    await records.create(ITSELF, 'teams', { name: 'Of two' })
    await expect(records.create(ITSELF, 'teams', { name: 'OF TWO' })).rejects.toThrow('Failed to create record.')
  })
})

test('a collection of the target that has the name stays what it is', async () => {
  const made = await startServer({ dir: target })
  await made.server.backend.definitions.create(SYSTEM, { name: 'Posts', fields: [{ name: 'mine', type: 'text' }] })
  await made.close()
  const { code, err } = await run('--dir', target)
  expect(code).toBe(EXIT.failed)
  expect(err).toContain('posts: the target has another collection of this name, with the id pbc_')
  expect(await withBackend(async ({ definitions }) => definitions.find('teams'))).toBeUndefined()
})

test('users of the target that nobody has used give way to those of the PocketBase', async () => {
  change(`UPDATE _collections SET id = 'myusers00000001', fields = replace(fields, '_pb_users_auth_', 'myusers00000001')
      WHERE id = '_pb_users_auth_';
    UPDATE _collections SET fields = replace(fields, '_pb_users_auth_', 'myusers00000001');
    UPDATE _externalAuths SET collectionRef = 'myusers00000001'`)
  const { code, out } = await run('--dir', target)
  expect([code, tally(out)]).toMatchObject([EXIT.done, { users: '2 2 0 0 0', _externalAuths: '1 1 0 0 0' }])
  expect(await withBackend(async ({ definitions }) => definitions.get('users').id)).toBe('myusers00000001')
})

test('records that are not taken are named, and the others come', async () => {
  change(`DROP INDEX idx_team;
    INSERT INTO teams (id, name) VALUES ('dup000000000001', 'RED'), ('_under000000001', 'Other'), ('new000000000001', 'New')`)
  const { code, out, err } = await run('--dir', target)
  expect([code, tally(out)['teams']]).toEqual([EXIT.failed, '5 3 0 0 0'])
  expect(err).toContain('teams/dup000000000001: Failed to create record. name: Value must be unique.')
  expect(err).toContain(`teams/_under000000001: Failed to create record. id: "_under000000001" can't be an id.`)
  expect(err.trim().endsWith('2 records could not be imported.')).toBe(true)
})

test('what leads nowhere is named: files, relations, and names that would leave the folder', async () => {
  await rm(join(data, 'storage/_pb_users_auth_'), { recursive: true })
  await writeFile(join(dir, 'secret.txt'), 'outside')
  change(
    `UPDATE posts SET contract = '../../../../secret.txt', teams = '["gone00000000001"]' WHERE id = 'post00000000005'`,
  )
  const { code, err } = await run('--dir', target)
  expect(code).toBe(EXIT.done)
  expect(err).toMatch(/users\/ann000000000001: the file ann_\w+\.png is not there\./)
  expect(err).toContain('posts/post00000000005: the file ../../../../secret.txt is not there.')
  expect(err).toContain('posts.teams: 1 record name a record that is not there.')
})

test('a stopped run continues where it was', async () => {
  const stop = new AbortController()
  const server = await startRest()
  try {
    const url = server.url.replace('//', `//${encodeURIComponent(EMAIL)}:${encodeURIComponent(PASSWORD)}@`)
    const { imports } = server.server.backend
    const write = imports.write.bind(imports)
    imports.write = (...given) => {
      if (given[2].length > 0 && given[1] === 'posts0000000001') stop.abort()
      return write(...given)
    }
    const parameters = ['import', '--from-pocketbase', '--data', data, '--url', url]
    const stopped = await runCaptured(parameters, { signal: stop.signal })
    expect([stopped.code, stopped.err]).toEqual([
      EXIT.stopped,
      'What has come stays. Run the command again to continue.\nStopped.\n',
    ])
    const { code, out } = await runCaptured(parameters)
    expect([code, tally(out)]).toMatchObject([EXIT.done, { users: SAME.users, teams: SAME.teams }])
    expect((await server.server.backend.records.list(ITSELF, 'posts')).items.length).toBe(3)
  } finally {
    await server.close()
  }
})

test('wrong folders, addresses and passwords are said', async () => {
  const told = async (...parameters: readonly string[]): Promise<string> =>
    (await runCaptured(['import', ...parameters], { input: 'typed\n' })).err.trim()
  expect(await told('--data', dir, '--dir', target)).toContain('--data takes the folder pb_data of a PocketBase.')
  expect(await told('--from-pocketbase', '--dir', target)).toContain('From where?')
  expect(await told('--data', data)).toBe('Where to? Give --dir or --url.')
  expect(await told('shop.db', '--data', data)).toContain('--dir or --url says where it goes')
  expect(await told('shop.db')).toContain('Name a database and a collection.')
  expect(await told('--from-pocketbase', 'http://127.0.0.1:1', '--dir', target)).toContain(
    'It needs the e-mail address of a superuser',
  )
  await mkdir(join(dir, 'old'))
  const old = new DatabaseSync(join(dir, 'old/data.db'))
  old.exec(
    `CREATE TABLE _collections (id TEXT, name TEXT, schema JSON); INSERT INTO _collections VALUES ('a', 'b', '[]')`,
  )
  expect(await told('--data', join(dir, 'old'), '--dir', target)).toContain('This PocketBase is older than v0.23')
  old.exec('DROP TABLE _collections')
  old.close()
  expect(await told('--data', join(dir, 'old'), '--dir', target)).toContain('It is no PocketBase')
  await writeFile(join(dir, 'old/data.db'), 'no database '.repeat(100))
  expect(await told('--data', join(dir, 'old'), '--dir', target)).toContain('file is not a database')

  const server = await startRest()
  const withoutSql = createServer((request, response) => {
    const isLogin = request.url?.endsWith('auth-with-password') === true
    response.writeHead(isLogin ? 200 : 404, { 'content-type': 'application/json' })
    response.end(isLogin ? '{"token":"t"}' : '{"data":{},"message":"Not found.","status":404}')
  }).listen(0, '127.0.0.1')
  const at = (url: string, user: string): string => url.replace('//', `//${user}@`)
  try {
    const wrong = await told('--from-pocketbase', at(server.url, 'a%40example.com:wrong'), '--dir', target)
    expect(wrong).toBe(`a@example.com can't log in at ${server.url}. Failed to authenticate.`)
    const typed = await told('--from-pocketbase', at(server.url, 'a%40example.com'), '--dir', target)
    expect(typed).toBe(wrong)
    const root = at(server.url, `${encodeURIComponent(EMAIL)}:${encodeURIComponent(PASSWORD)}`)
    expect(await told('--from-pocketbase', root, '--dir', target)).toContain('It is no PocketBase')
    const { port } = withoutSql.address() as AddressInfo
    expect(await told('--from-pocketbase', `http://a%40b:c@127.0.0.1:${port}`, '--dir', target)).toContain('too old')
  } finally {
    withoutSql.close()
    await server.close()
  }
})
