/** Goal: records are made, changed and deleted as PocketBase does it: rules first, then what fields refuse. */
import { afterEach, expect, test } from 'vitest'
import { recordsName } from '../../src/definitions/definition.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { SYSTEM } from '../../src/gateway/principal.ts'
import { account, ADMIN, NOBODY, openWorld, refusal, upload, type World } from './world.ts'

const CREATED = { type: 'autodate', name: 'created', onCreate: true }
const UPDATED = { type: 'autodate', name: 'updated', onCreate: true, onUpdate: true }
const PUBLIC = { listRule: '', viewRule: '', createRule: '', updateRule: '', deleteRule: '' }
const POSTS = {
  name: 'posts',
  ...PUBLIC,
  fields: [
    { type: 'text', name: 'title', required: true, max: 10 },
    { type: 'number', name: 'count' },
    { type: 'text', name: 'secret', hidden: true },
    CREATED,
    UPDATED,
  ],
}

const opened: World[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

async function world(...collections: JsonObject[]): Promise<World> {
  const made = await openWorld(collections)
  opened.push(made)
  return made
}

test('a record is stored with all fields, an id and dates; what nobody may set is ignored', async () => {
  const { writes, stored } = await world(POSTS)
  const made = await writes.create(NOBODY, 'posts', { title: 'one', created: '2001-01-01', secret: 'x', other: 1 })
  expect(made).toMatchObject({ id: expect.stringMatching(/^[a-z0-9]{15}$/), title: 'one', count: 0 })
  expect(made['created']).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z$/)
  expect(made['updated']).toBe(made['created'])
  expect(Object.keys((await stored('posts'))[made['id'] as string]!).toSorted()).toEqual([
    '_id',
    '_rev',
    'count',
    'created',
    'secret',
    'title',
    'updated',
  ])
  expect(await writes.create(ADMIN, 'posts', { title: 'two', secret: 'x' })).toMatchObject({ secret: 'x' })
})

test('a change keeps what the input does not name, counts by modifiers, and moves the date', async () => {
  const { writes, environment } = await world(POSTS)
  const made = await writes.create(NOBODY, 'posts', { title: 'one', count: 3 })
  const id = made['id'] as string
  await environment.advance(1)
  const changed = await writes.update(NOBODY, 'posts', id, { 'count+': 2 })
  expect(changed).toMatchObject({ id, title: 'one', count: 5, created: made['created'] })
  const again = await writes.update(NOBODY, 'posts', id, {})
  expect((again['updated'] as string) > (made['updated'] as string)).toBe(true)
  await writes.delete(NOBODY, 'posts', id)
  expect(await refusal(writes.delete(NOBODY, 'posts', id))).toEqual(['NOT_FOUND', ''])
  expect(await refusal(writes.update(NOBODY, 'posts', id, {}))).toEqual(['NOT_FOUND', ''])
})

const [TEAM_A, TEAM_B] = ['teamateamateama', 'teambteambteamb']

/** Three posts of two teams. Without their teams, two of them are equal in a unique index. */
async function teamed(): Promise<World> {
  const team = { type: 'relation', name: 'team', collectionId: 'pbc_teams' }
  const teams = { type: 'relation', name: 'teams', collectionId: 'pbc_teams', maxSelect: 2 }
  const indexes = ['CREATE UNIQUE INDEX `idx_once` ON `posts` (title, team)']
  const made = await world({ id: 'pbc_teams', name: 'teams', ...PUBLIC })
  await made.definitions.create(SYSTEM, { ...POSTS, fields: [...POSTS.fields, team, teams], indexes })
  for (const id of [TEAM_A, TEAM_B]) await made.writes.create(NOBODY, 'teams', { id })
  await made.writes.create(NOBODY, 'posts', {
    id: 'one000000000000',
    title: 'same',
    team: TEAM_A,
    teams: [TEAM_A, TEAM_B],
  })
  await made.writes.create(NOBODY, 'posts', { id: 'two000000000000', title: 'same', team: TEAM_B })
  await made.writes.create(NOBODY, 'posts', { id: 'three0000000000', title: 'other', team: TEAM_B })
  return made
}

test('a delete that empties a relation moves the dates of the record', async () => {
  const { writes, stored, environment } = await teamed()
  const before = await stored('posts')
  await environment.advance(1)
  await writes.delete(NOBODY, 'teams', TEAM_A)
  const after = await stored('posts')
  expect(after['one000000000000']).toMatchObject({ team: '', teams: [TEAM_B] })
  const dates = (of: JsonObject): unknown[] => [of['created'], of['updated']]
  const { created, updated } = before['one000000000000']!
  expect(after['one000000000000']!['created']).toBe(created)
  expect(String(after['one000000000000']!['updated']) > String(updated)).toBe(true)
  expect(dates(after['two000000000000']!)).toEqual(dates(before['two000000000000']!))
})

test('a delete is refused that would make values of a unique index equal', async () => {
  const { writes, stored, definitions } = await teamed()
  await writes.delete(NOBODY, 'teams', TEAM_A)
  const data = { title: 'validation_not_unique', team: 'validation_not_unique' }
  const required = 'Failed to delete record. Make sure that the record is not part of a required relation reference.'
  expect(await refusal(writes.delete(NOBODY, 'teams', TEAM_B))).toEqual(['INVALID', required, data])
  const request = { context: 'batch', method: 'DELETE', query: {}, headers: {} }
  const operation = { action: 'delete', collection: 'teams', id: TEAM_B, request } as const
  const batch = writes.batch(SYSTEM, [operation], { workMsMax: 60_000 })
  await expect(batch).rejects.toMatchObject({ index: 0, reason: { code: 'INVALID', message: required } })
  const truncated = definitions.truncate(SYSTEM, 'teams')
  await expect(truncated).rejects.toMatchObject({ code: 'INVALID', data: { team: { code: data.team } } })
  expect(Object.keys(await stored('teams'))).toEqual([TEAM_B])
  expect((await stored('posts'))['two000000000000']).toMatchObject({ team: TEAM_B })
})

test('rules about the answer of a write see what it has sent', async () => {
  const manageRule = '@request.body.email:isset = false'
  const { writes, stored } = await world({ name: 'people', type: 'auth', ...PUBLIC, manageRule })
  const password = { password: '1234567890', passwordConfirm: '1234567890' }
  const { id } = await writes.create(ADMIN, 'people', { email: 'ann@example.com', ...password })
  const ann = account('people', (await stored('people'))[id as string]!)
  const bob = { email: 'bob@example.com', emailVisibility: false, ...password }
  expect(await writes.create(ann, 'people', bob)).not.toHaveProperty('email')
  const bobId = Object.keys(await stored('people')).find((one) => one !== id)!
  expect(await writes.update(ann, 'people', bobId, { verified: true })).toMatchObject({ email: 'bob@example.com' })
})

test('500 changes of one record at the same time all count', async () => {
  const { writes, stored } = await world(POSTS)
  const { id } = await writes.create(NOBODY, 'posts', { title: 'one' })
  await Promise.all(Array.from({ length: 500 }, () => writes.update(NOBODY, 'posts', id as string, { 'count+': 1 })))
  expect((await stored('posts'))[id as string]).toMatchObject({ count: 500 })
})

test('unknown and locked collections refuse before anything else', async () => {
  const { writes } = await world({ ...POSTS, createRule: null, updateRule: null, deleteRule: null })
  expect(await refusal(writes.create(NOBODY, 'nothing', {}))).toEqual(['NOT_FOUND', 'Missing collection context.'])
  const locked = ['FORBIDDEN', 'Only superusers can perform this action.']
  expect(await refusal(writes.create(NOBODY, 'POSTS', {}))).toEqual(locked)
  expect(await refusal(writes.update(NOBODY, 'posts', 'x', {}))).toEqual(locked)
  expect(await refusal(writes.delete(NOBODY, 'posts', 'x'))).toEqual(locked)
  expect(await refusal(writes.create(ADMIN, 'posts', {}))).toEqual([
    'INVALID',
    'Failed to create record.',
    { title: 'validation_required' },
  ])
})

test('a rule is asked before the fields; the record that it refuses is not there', async () => {
  const { writes } = await world({
    ...POSTS,
    createRule: "title = 'good' && @request.body.count:isset = true",
    updateRule: "title = 'good' && @request.body.title != 'bad'",
    deleteRule: 'count = 1',
  })
  expect(await refusal(writes.create(NOBODY, 'posts', { title: 'much too long' }))).toEqual([
    'INVALID',
    'Failed to create record.',
  ])
  expect(await refusal(writes.create(NOBODY, 'posts', { title: 'good' }))).toBeDefined()
  const { id } = await writes.create(NOBODY, 'posts', { title: 'good', 'count+': 0 })
  expect(await refusal(writes.update(NOBODY, 'posts', id as string, { title: 'bad' }))).toEqual(['NOT_FOUND', ''])
  expect(await refusal(writes.delete(NOBODY, 'posts', id as string))).toEqual(['NOT_FOUND', ''])
  await writes.update(NOBODY, 'posts', id as string, { title: 'other', count: 1 })
  expect(await refusal(writes.update(NOBODY, 'posts', id as string, { title: 'good' }))).toEqual(['NOT_FOUND', ''])
  await writes.delete(NOBODY, 'posts', id as string)
})

test('a create rule sees a record without dates and without a generated id', async () => {
  const { writes } = await world({ ...POSTS, createRule: "created = '' && id != '' && id ~ 'temp'" })
  expect(await writes.create(NOBODY, 'posts', { title: 'one' })).toMatchObject({ title: 'one' })
})

test('a taken id is a value that is not unique; an id can not be changed', async () => {
  const { writes } = await world(POSTS)
  const id = 'abcdefghij12345'
  await writes.create(NOBODY, 'posts', { id, title: 'one' })
  expect(await refusal(writes.create(NOBODY, 'posts', { id, title: 'two' }))).toEqual([
    'INVALID',
    'Failed to create record.',
    { id: 'validation_not_unique' },
  ])
  expect(await refusal(writes.create(NOBODY, 'posts', { id: '!', title: 'much too long' }))).toEqual([
    'INVALID',
    'Failed to create record.',
    { id: 'validation_min_text_constraint', title: 'validation_max_text_constraint' },
  ])
  expect(await refusal(writes.update(NOBODY, 'posts', id, { id: 'abcdefghij12346' }))).toEqual([
    'INVALID',
    'Failed to update record.',
    { id: 'validation_pk_change' },
  ])
})

test('a write that names an old revision is a conflict', async () => {
  const { writes, reads } = await world(POSTS)
  const { id } = (await writes.create(NOBODY, 'posts', { title: 'one' })) as { readonly id: string }
  const revOf = async (): Promise<string> => {
    const { _rev: rev } = await reads.view(NOBODY, 'posts', id, { fields: '_rev' })
    return rev as string
  }
  const rev = await revOf()
  await writes.update(NOBODY, 'posts', id, { title: 'two' }, { rev })
  expect(await refusal(writes.update(NOBODY, 'posts', id, { title: 'lost' }, { rev }))).toMatchObject(['CONFLICT', {}])
  expect(await refusal(writes.delete(NOBODY, 'posts', id, { rev }))).toMatchObject(['CONFLICT', {}])
  await writes.delete(NOBODY, 'posts', id, { rev: await revOf() })
})

test('relations lead to records that are there', async () => {
  const { writes, definitions } = await world(POSTS)
  const { id: collectionId } = definitions.get('posts')
  await definitions.create(ADMIN.principal, {
    name: 'comments',
    ...PUBLIC,
    fields: [
      { type: 'relation', name: 'post', collectionId },
      { type: 'relation', name: 'more', collectionId, maxSelect: 3 },
    ],
  })
  const { id: post } = await writes.create(NOBODY, 'posts', { title: 'one' })
  await writes.create(NOBODY, 'comments', { post, more: [post] })
  expect(await refusal(writes.create(NOBODY, 'comments', { post: 'missing', more: [post, 'missing'] }))).toEqual([
    'INVALID',
    'Failed to create record.',
    { post: 'validation_missing_rel_records', more: 'validation_missing_rel_records' },
  ])
})

test('files are attachments with safe names; the ones that are replaced go in the same write', async () => {
  const { writes, definitions, database, stored } = await world({
    ...POSTS,
    name: 'files',
    fields: [
      { type: 'file', name: 'one', maxSize: 100, mimeTypes: ['text/plain'] },
      { type: 'file', name: 'many', maxSelect: 2 },
    ],
  })
  const made = await writes.create(NOBODY, 'files', {
    one: upload('My File (1).TXT', 'hello'),
    many: [upload('a.bin', new Uint8Array([0, 1, 2]))],
  })
  const id = made['id'] as string
  const name = made['one'] as string
  expect(name).toMatch(/^my_file_1_[a-z0-9]{10}\.TXT$/)
  const files = database.collection(recordsName(definitions.get('files')))
  expect(await (await files.getAttachment(id, name))!.text()).toBe('hello')
  const changed = await writes.update(NOBODY, 'files', id, {
    one: upload('other.txt', 'again'),
    'many+': upload('b.bin', new Uint8Array([0, 3])),
  })
  expect(changed['many']).toEqual([(made['many'] as string[])[0], expect.stringMatching(/^b\w{10}_\w{10}\.bin$/)])
  const attachments = (await stored('files'))[id]!['_attachments'] as object
  expect(new Set(Object.keys(attachments))).toEqual(new Set([changed['one'], ...(changed['many'] as string[])]))
  const refused = {
    one: 'validation_file_size_limit',
    many: 'validation_too_many_files',
  }
  const large = upload('large.txt', 'x'.repeat(101))
  expect(await refusal(writes.update(NOBODY, 'files', id, { one: large, 'many+': upload('c.bin', 'c') }))).toEqual([
    'INVALID',
    'Failed to update record.',
    refused,
  ])
  expect(await refusal(writes.update(NOBODY, 'files', id, { one: 'stranger.txt' }))).toMatchObject({
    2: { one: 'validation_invalid_file' },
  })
  expect(
    await refusal(writes.update(NOBODY, 'files', id, { one: upload('a.txt', new Uint8Array([0, 1])) })),
  ).toMatchObject({
    2: { one: 'validation_invalid_mime_type' },
  })
  const less = await writes.update(NOBODY, 'files', id, { 'many-': (changed['many'] as string[])[0], one: '' })
  expect(less).toMatchObject({ one: '', many: [(changed['many'] as string[])[1]] })
  expect(Object.keys((await stored('files'))[id]!['_attachments'] as object)).toEqual(less['many'])
})

test('a rule of a write reads the rows of views as the write sees them', async () => {
  const votes = { name: 'votes', ...PUBLIC, fields: [{ type: 'text', name: 'about' }] }
  const counts = {
    name: 'counts',
    type: 'view',
    viewQuery: 'SELECT about AS id, count(*) AS votes FROM votes GROUP BY about',
  }
  const posts = {
    ...POSTS,
    createRule: '@collection.counts.id ?= @request.body.title && @collection.counts.votes ?> 1',
    deleteRule: '@collection.counts.votes ?> 2',
  }
  const { writes } = await world(votes, counts, posts)
  const refused = ['INVALID', 'Failed to create record.']
  await writes.create(NOBODY, 'votes', { about: 'one' })
  expect(await refusal(writes.create(NOBODY, 'posts', { title: 'one' }))).toEqual(refused)
  await writes.create(NOBODY, 'votes', { about: 'one' })
  const { id } = await writes.create(NOBODY, 'posts', { title: 'one' })
  expect(await refusal(writes.create(NOBODY, 'posts', { title: 'two' }))).toEqual(refused)
  expect(await refusal(writes.delete(NOBODY, 'posts', id as string))).toEqual(['NOT_FOUND', ''])
  const request = { context: 'batch', method: 'POST', query: {}, headers: {} }
  const steps = [
    { action: 'create', collection: 'votes', input: { about: 'two' }, request },
    { action: 'create', collection: 'votes', input: { about: 'two' }, request },
    { action: 'create', collection: 'posts', input: { title: 'two' }, request },
  ] as const
  expect(await writes.batch(NOBODY.principal, steps, { workMsMax: 60_000 })).toHaveLength(3)
})

test('a view that takes a write too long, or that no longer fits, admits nothing', async () => {
  const votes = { name: 'votes', ...PUBLIC, fields: [{ type: 'text', name: 'about' }] }
  const viewQuery = 'SELECT (ROW_NUMBER() OVER()) AS id FROM votes a JOIN votes b ON a.about < b.about'
  const posts = { ...POSTS, createRule: '@collection.pairs.id ?!= ""', updateRule: '@collection.pairs.id ?!= ""' }
  const { writes } = await world(votes, { name: 'pairs', type: 'view', viewQuery }, posts)
  const made = await writes.create(ADMIN, 'posts', { title: 'one' })
  await writes.create(NOBODY, 'votes', { about: 'a' })
  expect(await refusal(writes.create(NOBODY, 'posts', { title: 'two' }))).toEqual([
    'INVALID',
    'Failed to create record.',
  ])
  const many = Array.from({ length: 400 }, (_, at) => ({
    action: 'create' as const,
    collection: 'votes',
    input: { about: `about ${at}` },
    request: NOBODY.request,
  }))
  await writes.batch(NOBODY.principal, many.slice(0, 10), { workMsMax: 60_000 })
  await writes.create(NOBODY, 'posts', { title: 'two' })
  await writes.batch(NOBODY.principal, many.slice(10), { workMsMax: 60_000 })
  expect(await refusal(writes.update(NOBODY, 'posts', made['id'] as string, {}))).toEqual(['NOT_FOUND', ''])
})
