/** Goal: PocketBase's own client works unchanged: superusers, collections, records, files, batches, settings, accounts. */
import type PocketBase from 'pocketbase'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMAIL, failure, PASSWORD, sdkClient, startRest } from './rest-server.ts'
import type { RestServer } from './rest-server.ts'

let server: RestServer
let root: PocketBase

beforeAll(async () => {
  server = await startRest()
  root = client()
  await root.collection('_superusers').authWithPassword(EMAIL, PASSWORD)
  await root.collections.create({
    name: 'posts',
    type: 'base',
    listRule: '',
    viewRule: '',
    createRule: '@request.auth.id != ""',
    updateRule: 'author = @request.auth.id',
    deleteRule: 'author = @request.auth.id',
    fields: [
      { name: 'title', type: 'text', required: true },
      { name: 'votes', type: 'number' },
      { name: 'author', type: 'relation', collectionId: (await root.collections.getOne('users')).id, maxSelect: 1 },
      { name: 'documents', type: 'file', maxSelect: 5 },
    ],
  })
})
afterAll(() => server.close())

function client(): PocketBase {
  return sdkClient(server.url)
}

/** A person who has signed up and logged in. */
async function person(name: string): Promise<PocketBase> {
  const email = `${name}@example.com`
  await root.collection('users').create({ email, name, password: PASSWORD, passwordConfirm: PASSWORD })
  const made = client()
  await made.collection('users').authWithPassword(email, PASSWORD)
  return made
}

test('a superuser is one for the client', async () => {
  expect(root.authStore.isValid).toBe(true)
  expect(root.authStore.isSuperuser).toBe(true)
  expect(root.authStore.record).toMatchObject({ email: EMAIL, collectionName: '_superusers' })
  expect((await root.health.check()).data).toMatchObject({ canBackup: true })
})

test('logs in, refreshes, and knows how it can log in', async () => {
  const ann = await person('ann')
  const { token, record } = await ann.collection('users').authRefresh()
  expect([token.split('.').length, record['email']]).toEqual([3, 'ann@example.com'])
  expect(await client().collection('users').listAuthMethods()).toMatchObject({
    password: { enabled: true, identityFields: ['email'] },
    mfa: { enabled: false, duration: 0 },
  })
  const wrong = await failure(client().collection('users').authWithPassword('ann@example.com', 'wrong'))
  expect([wrong.status, wrong.response['message']]).toEqual([400, 'Failed to authenticate.'])
})

test('records: create, list, view, update, delete', async () => {
  const bob = await person('bob')
  const posts = bob.collection('posts')
  const author = bob.authStore.record!.id
  const made = await posts.create({ title: 'One', votes: 1, author }, { expand: 'author' })
  expect(made).toMatchObject({ title: 'One', expand: { author: { id: author } } })
  await posts.create({ title: 'Two', votes: 2, author })
  const filter = bob.filter('votes > {:votes} && author = {:author}', { votes: 1, author })
  expect((await posts.getList(1, 10, { filter, sort: '-votes' })).items.map(({ title }) => title as string)).toEqual([
    'Two',
  ])
  expect(
    (await posts.getFullList({ filter: bob.filter('author = {:author}', { author }), sort: 'title' })).length,
  ).toBe(2)
  expect((await posts.getFirstListItem('votes = 1'))['title']).toBe('One')
  expect((await posts.update(made.id, { 'votes+': 5 }))['votes']).toBe(6)
  expect(await posts.getOne(made.id, { fields: 'votes' })).toEqual({ votes: 6 })
  const stranger = await person('carol')
  expect((await failure(stranger.collection('posts').update(made.id, { title: 'Mine' }))).status).toBe(404)
  expect((await failure(client().collection('posts').create({ title: 'x' }))).status).toBe(400)
  expect(await posts.delete(made.id)).toBe(true)
  expect((await failure(posts.getOne(made.id))).status).toBe(404)
  expect((await failure(posts.create({ title: '' }))).response['data']).toMatchObject({
    title: { code: 'validation_required' },
  })
})

test('files come as forms', async () => {
  const dan = await person('dan')
  const author = dan.authStore.record!.id
  const posts = dan.collection('posts')
  const made = await posts.create({
    title: 'Files',
    author,
    documents: [new File(['one'], 'One.txt'), new File(['two'], 'two.txt')],
  })
  expect(made['documents']).toEqual([
    expect.stringMatching(/^one_\w{10}\.txt$/),
    expect.stringMatching(/^two_\w{10}\.txt$/),
  ])
  const [first] = made['documents'] as string[]
  const more = await posts.update(made.id, { 'documents+': new File(['three'], 'three.txt'), 'documents-': first })
  expect((more['documents'] as string[]).map((name) => name.split('_')[0])).toEqual(['two', 'three'])
})

test('a superuser acts as an account, for as long as it says', async () => {
  const { id } = (await person('frank')).authStore.record!
  const frank = await root.collection('users').impersonate(id, 60)
  expect(frank.authStore.record!.id).toBe(id)
  const { token } = await frank.collection('users').authRefresh()
  expect(token).toBe(frank.authStore.token)
  expect((await failure(frank.collection('users').impersonate(id, 60))).status).toBe(403)
  expect((await failure(root.collection('users').impersonate('missing', 60))).status).toBe(404)
})

test('a batch is whole or not at all', async () => {
  const off = root.createBatch()
  off.collection('posts').create({ title: 'x' })
  expect((await failure(off.send())).status).toBe(403)
  await root.settings.update({ batch: { enabled: true } })
  const batch = root.createBatch()
  batch.collection('posts').create({ id: 'aaaaaaaaaaaaaaa', title: 'A', documents: new File(['a'], 'a.txt') })
  batch.collection('posts').upsert({ id: 'aaaaaaaaaaaaaaa', votes: 7 })
  batch.collection('posts').update('aaaaaaaaaaaaaaa', { 'votes+': 1 })
  const results = await batch.send()
  expect(results.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(results[2]!.body).toMatchObject({
    title: 'A',
    votes: 8,
    documents: [expect.stringMatching(/^a\w{10}_\w{10}_\w{10}\.txt$/)],
  })
  const failing = root.createBatch()
  failing.collection('posts').delete('aaaaaaaaaaaaaaa')
  failing.collection('posts').create({ title: '' })
  expect((await failure(failing.send())).response['data']).toMatchObject({
    requests: {
      1: { code: 'batch_request_failed', response: { status: 400, data: { title: { code: 'validation_required' } } } },
    },
  })
  expect((await root.collection('posts').getOne('aaaaaaaaaaaaaaa'))['votes']).toBe(8)
})

test('collections: list, change, import, truncate, delete', async () => {
  const { items } = await root.collections.getList(1, 50, { filter: 'name ~ "user"', sort: 'name' })
  expect(items.map(({ name }) => name)).toEqual(['_superusers', 'users'])
  expect(Object.keys(await root.collections.getScaffolds())).toEqual(['auth', 'base', 'view'])
  const made = await root.collections.create({ name: 'notes', type: 'base', fields: [{ name: 'text', type: 'text' }] })
  await root.collection('notes').create({ text: 'one' })
  const fields = [...made.fields, { name: 'more', type: 'number' }]
  await root.collections.update('notes', { fields, name: 'memos' })
  expect((await root.collection('memos').getFullList())[0]).toMatchObject({ text: 'one', more: 0 })
  expect(await root.collections.truncate('memos')).toBe(true)
  expect((await root.collection('memos').getList()).totalItems).toBe(0)
  expect(await root.collections.import([{ name: 'imported', type: 'base', fields: [] }] as never)).toBe(true)
  expect((await root.collections.getOne('imported')).name).toBe('imported')
  expect(await root.collections.delete('memos')).toBe(true)
  expect((await failure(root.collections.getOne('memos'))).status).toBe(404)
  expect((await failure(client().collections.getFullList())).status).toBe(401)
  expect((await failure((await person('eve')).collections.getFullList())).status).toBe(403)
})

test('settings: read and change', async () => {
  expect((await root.settings.getAll())['meta']).toMatchObject({ appName: 'Acme' })
  expect((await root.settings.update({ meta: { appName: 'Ours' } }))['meta']).toMatchObject({
    appName: 'Ours',
    senderName: 'Support',
  })
  const wrong = await failure(root.settings.update({ meta: { appName: '' } }))
  expect(wrong.response['data']).toEqual({
    meta: { appName: { code: 'validation_required', message: 'Cannot be blank.' } },
  })
})
