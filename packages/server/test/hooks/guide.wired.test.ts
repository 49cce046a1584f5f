/** Goal: the examples of docs/guide/hook-events.md and hooks.md do what the pages say. Method: all of them are the hooks of a server. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MailServer } from '../../../../tools/test/mail-server.ts'
import { EventClient } from '../rest/event-client.ts'
import { PASSWORD, startRest, tokenFor, type RestServer } from '../rest/rest-server.ts'
import { startServer, until, type TestServer } from '../test-server.ts'

const GUIDE = join(import.meta.dirname, '../../../../docs/guide')
const OPEN = { listRule: '', viewRule: '', createRule: '', updateRule: '', deleteRule: '' }

let server: RestServer
let mails: MailServer
let dir: string

async function examples(page: string): Promise<string[]> {
  const text = await readFile(join(GUIDE, page), 'utf8')
  return Array.from(text.matchAll(/```ts[^\n]*\n(.*?)```/gs), ([, code]) => code!).filter((code) =>
    code.startsWith("import type { Hooks } from '@pannier/server'"),
  )
}

beforeAll(async () => {
  mails = await MailServer.start()
  dir = await mkdtemp(join(tmpdir(), 'guide-'))
  await mkdir(join(dir, 'hooks'))
  const [first, ...others] = await examples('hooks.md')
  // The first one of the page is tried alone in its own test.
  expect(first).toContain('onRecordAfterCreateSuccess')
  const all = [...others, ...(await examples('hook-events.md'))]
  expect(all).toHaveLength(10)
  for (const [n, code] of all.entries()) await writeFile(join(dir, 'hooks', `${n}.ts`), code)
  server = await startRest({ dir, app: { hooks: { dir: join(dir, 'hooks') } } })
  const collections = [
    {
      name: 'posts',
      fields: [
        { name: 'title', type: 'text' },
        { name: 'edits', type: 'number' },
        { name: 'file', type: 'file' },
      ],
    },
    { name: 'notes', fields: [{ name: 'text', type: 'text' }] },
    {
      name: 'photos',
      fields: [
        { name: 'taken', type: 'date' },
        { name: 'files', type: 'file', maxSelect: 9 },
      ],
    },
    { name: 'accounts', fields: [{ name: 'balance', type: 'number', min: 0 }] },
    {
      name: 'payments',
      fields: [
        { name: 'account', type: 'text' },
        { name: 'amount', type: 'number' },
      ],
    },
  ]
  for (const collection of collections) await server.call('POST /collections', { type: 'base', ...OPEN, ...collection })
})
afterAll(async () => {
  await server.close()
  await mails[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

async function notes(): Promise<unknown[]> {
  const { json } = await server.call('GET /collections/notes/records?sort=@rowid')
  return (json['items'] as readonly { readonly text: string }[]).map(({ text }) => text)
}

async function newPost(values: object, token?: string): Promise<string> {
  const { json } = await server.call('POST /collections/posts/records', values, token)
  return String(json['id'])
}

test('the application: a backup and the settings are noted', async () => {
  await server.call('POST /backups', { name: 'one.zip' })
  await server.call('PATCH /settings', { meta: { appName: 'Shop' } })
  await until(async () => (await notes()).length === 2)
  expect(await notes()).toEqual(['The backup one.zip is made.', 'The application is called Shop.'])
})

test('records: edits are counted, and a deletion is noted', async () => {
  const id = await newPost({ title: 'one' })
  const post = `/collections/posts/records/${id}`
  await server.call(`PATCH ${post}`, { title: 'two' })
  expect((await server.call(`PATCH ${post}`, { title: 'two' })).json).toMatchObject({ title: 'two', edits: 1 })
  expect((await server.call(`DELETE ${post}`)).status).toBe(204)
  expect((await notes()).at(-1)).toBe('two is deleted.')
})

test('requests: a guest sees one post of a list, and can’t make a fourth', async () => {
  for (const title of ['a', 'b', 'c']) await newPost({ title })
  expect((await server.call('GET /collections/posts/records', undefined, '')).json['items']).toHaveLength(1)
  const account = { email: 'ann@example.com', name: 'Ann', password: PASSWORD, passwordConfirm: PASSWORD }
  await server.call('POST /collections/users/records', account)
  const ann = await tokenFor(server.url, 'users', 'ann@example.com', PASSWORD)
  expect((await server.call('GET /collections/posts/records', undefined, ann)).json['items']).toHaveLength(3)
  const refused = await server.call('POST /collections/posts/records', { title: 'd' }, ann)
  expect([refused.status, refused.json['message']]).toEqual([402, 'Your plan is full.'])
  expect((await server.call('POST /collections/posts/records', { title: 'd' })).status).toBe(200)
})

test('logins: a blocked account is refused', async () => {
  const account = { email: 'eve@example.com', name: 'blocked', password: PASSWORD, passwordConfirm: PASSWORD }
  await server.call('POST /collections/users/records', account)
  const login = { identity: account.email, password: PASSWORD }
  const refused = await server.call('POST /collections/users/auth-with-password', login, '')
  expect([refused.status, refused.json['message']]).toEqual([403, 'Ask the office.'])
})

test('mails: the subject has the name', async () => {
  const smtp = { enabled: true, host: '127.0.0.1', port: mails.port, tls: false, username: '' }
  await server.call('PATCH /settings', { smtp })
  await server.call('POST /collections/users/request-password-reset', { email: 'ann@example.com' }, '')
  await until(() => mails.mails.length === 1)
  expect(mails.mails[0]!.parsed.subject).toBe('Ann, your new password')
})

test('realtime: guests get no count of edits', async () => {
  const [guest, root] = [await EventClient.open(server.url), await EventClient.open(server.url)]
  await guest.subscribe(['posts/*'])
  const ann = await tokenFor(server.url, 'users', 'ann@example.com', PASSWORD)
  await root.subscribe(['posts/*'], ann)
  await newPost({ title: 'counted', edits: 4 })
  for (const client of [guest, root]) await client.has(1)
  const edits = [guest, root].map(({ messages }) => (messages[0]!.data['record'] as { edits?: number }).edits)
  expect(edits).toEqual([undefined, 4])
  guest.close()
  root.close()
})

test('files: programs are not served', async () => {
  const form = new FormData()
  form.set('title', 'files')
  form.set('file', new File(['MZ'], 'setup.exe'))
  const made = await fetch(`${server.url}/api/collections/posts/records`, {
    method: 'POST',
    headers: { authorization: server.token },
    body: form,
  })
  const { id, file } = (await made.json()) as { readonly id: string; readonly file: string }
  const refused = await server.call(`GET /files/posts/${id}/${file}`)
  expect([refused.status, refused.json['message']]).toEqual([403, 'Programs are not served.'])
})

test('collections: one that the app needs stays', async () => {
  const refused = await server.call('DELETE /collections/posts')
  expect([refused.status, refused.json['message']]).toEqual([400, 'The app needs posts.'])
  expect((await server.call('DELETE /collections/notes')).status).toBe(204)
})

test('transactions: a payment is whole or not at all', async () => {
  const { json } = await server.call('POST /collections/accounts/records', { balance: 15 })
  const ann = await tokenFor(server.url, 'users', 'ann@example.com', PASSWORD)
  const pay = async (): Promise<number> => {
    const headers = { authorization: ann }
    return (await fetch(`${server.url}/pay/${String(json['id'])}`, { method: 'POST', headers })).status
  }
  expect([await pay(), await pay()]).toEqual([204, 400])
  const account = await server.call(`GET /collections/accounts/records/${String(json['id'])}`)
  const payments = await server.call('GET /collections/payments/records')
  expect([account.json['balance'], payments.json['totalItems']]).toEqual([5, 1])
})

test('onBootstrap runs when the files are loaded; what it throws keeps the server from starting', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bootstrap-'))
  const hooks = join(folder, 'hooks')
  await mkdir(hooks)
  const open = (body: string): Promise<TestServer> =>
    writeFile(
      join(hooks, 'start.js'),
      `export default ({ onBootstrap }) => onBootstrap(async (e) => { ${body} })`,
    ).then(() => startServer({ dir: folder, app: { hooks: { dir: hooks } } }))
  await expect(open("throw new Error('There is no licence.')")).rejects.toThrow('onBootstrap: There is no licence.')
  const value = { email: 'first@example.com', password: PASSWORD }
  const started = await open(`await e.app.save(e.app.newRecord('users', ${JSON.stringify(value)})); await e.next()`)
  expect(await started.server.backend.app.countRecords('users')).toBe(1)
  await started.close()
  await rm(folder, { recursive: true, force: true })
})

test('a route stores an upload, a file of its own and a date', async () => {
  const form = new FormData()
  form.append('photo', new File(['picture'], 'Cat.png'))
  const response = await fetch(`${server.url}/photos`, { method: 'POST', body: form })
  expect(await response.json()).toMatchObject({
    taken: expect.stringMatching(/^20\d\d-/) as string,
    files: [expect.stringMatching(/^cat_\w+\.png$/), expect.stringMatching(/^about_\w+\.txt$/)],
  })
})
