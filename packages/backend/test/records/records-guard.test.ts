/** Goal: documents that come through another door are ruled and validated as records are. */
import { readSnapshot } from 'pannier/internal'
import { afterEach, expect, test } from 'vitest'
import type { Databases } from '../../src/gateway/databases.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { GuardedWriter, type PutOptions } from '../../src/gateway/guarded-writer.ts'
import { GUEST, SYSTEM, type Principal } from '../../src/gateway/principal.ts'
import { ServiceError } from '../../src/gateway/service-error.ts'
import { GuardChain } from '../../src/gateway/guard-chain.ts'
import { recordsGuard } from '../../src/records/records-guard.ts'
import { openWorld, upload, ADMIN, NOBODY, type World } from './world.ts'

const POSTS = {
  name: 'posts',
  createRule: "title != 'secret'",
  updateRule: 'open = true',
  deleteRule: null,
  fields: [
    { type: 'text', name: 'title', required: true },
    { type: 'bool', name: 'open' },
    { type: 'number', name: 'size', max: 10 },
    { type: 'text', name: 'hidden', hidden: true },
    { type: 'file', name: 'file' },
    { type: 'autodate', name: 'created', onCreate: true },
    { type: 'autodate', name: 'updated', onCreate: true, onUpdate: true },
  ],
}

let world: World
afterEach(() => world.close())

type Put = (document: JsonObject, options?: PutOptions, principal?: Principal) => Promise<unknown>

/** Puts a document, and gives its revision, or why it is refused. */
async function door(posts: JsonObject = POSTS): Promise<Put> {
  world = await openWorld([posts])
  const { database, environment, definitions, access, views } = world
  const records = definitions.records(definitions.get('posts'))
  const room = { admit: async (documents: unknown) => documents }
  const databases = { write: (_name: string, run: (...parameters: unknown[]) => unknown) => run(records, room) }
  const guards = new GuardChain([recordsGuard({ database, environment, definitions, access, views })], {
    write: () => {},
  })
  const writer = new GuardedWriter(environment, databases as unknown as Databases, { guards })
  return async (document, options = {}, principal = SYSTEM) => {
    const [outcome] = await writer.put({ principal, database: 'posts' }, records, [document], options)
    if (!('error' in outcome!)) return outcome!.rev
    const { error } = outcome
    return error instanceof ServiceError ? [error.code, error.data ?? error.message] : error.code
  }
}

const ID = 'abcdefghij12345'

test('an edit becomes a whole record: dates and empty values are filled in', async () => {
  const put = await door()
  const rev = await put({ _id: ID, title: 'one', created: 'yesterday' })
  expect(rev).toMatch(/^1-/)
  const first = (await world.stored('posts'))[ID]!
  expect(first).toMatchObject({ title: 'one', open: false, size: 0, hidden: '', created: expect.stringMatching(/^\d/) })
  expect(await put({ _id: ID, _rev: rev, title: 'two', size: '3' })).toMatch(/^2-/)
  const second = (await world.stored('posts'))[ID]!
  expect(second).toMatchObject({ title: 'two', size: 3, created: first['created'] })
  expect((second['updated'] as string) >= (first['updated'] as string)).toBe(true)
  expect(await put({ _id: ID, _rev: rev, title: 'three' })).toBe('PANNIER_CONFLICT')
})

test('what fields refuse is refused, also in revisions that were made elsewhere', async () => {
  const put = await door()
  const required = ['INVALID', { title: expect.objectContaining({ code: 'validation_required' }) }]
  expect(await put({ _id: ID })).toEqual(required)
  expect(await put({ _id: ID, _rev: '1-a', open: true }, { newEdits: false })).toEqual(required)
  expect(await put({ _id: ID, title: 'x', size: 11 })).toMatchObject(['INVALID', { size: {} }])
  expect(await put({ _id: ID, _rev: '1-a', title: 'x', size: '3' }, { newEdits: false })).toMatchObject([
    'INVALID',
    { size: { code: 'validation_invalid_value' } },
  ])
  expect(await put({ _id: ID, title: 'x', other: 1 })).toMatchObject(['INVALID', { other: {} }])
  expect(await put({ _id: 'short', title: 'x' })).toMatchObject(['INVALID', { id: {} }])
  expect(await put({ _id: '_design/view', views: {} })).toMatchObject(['FORBIDDEN', {}])
  expect(await world.stored('posts')).toEqual({})
  expect(await put({ _id: ID, _rev: '1-a', title: 'x' }, { newEdits: false })).toBe('1-a')
})

test('rules hold for those who are no superusers', async () => {
  const put = await door()
  const edit = (document: JsonObject, options: PutOptions = {}): Promise<unknown> => put(document, options, GUEST)
  expect(await edit({ _id: ID, title: 'secret' })).toEqual(['FORBIDDEN', "The createRule of 'posts' refuses this."])
  for (const title of ['secret', 'one'])
    expect(await edit({ _id: ID, _rev: '1-a', title }, { newEdits: false })).toEqual([
      'FORBIDDEN',
      expect.stringContaining('new_edits=false'),
    ])
  const rev = await edit({ _id: ID, title: 'one', open: true })
  const closed = await edit({ _id: ID, _rev: rev, title: 'two', open: false, hidden: 'x' })
  expect((await world.stored('posts'))[ID]).toMatchObject({ title: 'two', hidden: '' })
  expect(closed).toMatch(/^2-/)
  expect(await edit({ _id: ID, _rev: closed, title: 'three' })).toEqual([
    'FORBIDDEN',
    "The updateRule of 'posts' refuses this.",
  ])
  expect(await edit({ _id: ID, _rev: closed, _deleted: true })).toMatchObject(['FORBIDDEN', {}])
  expect(await put({ _id: ID, _rev: closed, _deleted: true })).toMatch(/^3-/)
})

test('a file names an attachment of the document', async () => {
  const put = await door()
  const attachments = { 'a.txt': { data: 'aGVsbG8=', contentType: 'text/plain' } }
  expect(await put({ _id: ID, title: 'x', file: 'b.txt', _attachments: attachments })).toMatchObject(['INVALID', {}])
  const rev = await put({ _id: ID, title: 'x', file: 'a.txt', _attachments: attachments })
  const stubs = { 'a.txt': { stub: true } }
  expect(await put({ _id: ID, _rev: rev, title: 'y', file: 'a.txt', _attachments: stubs })).toMatch(/^2-/)
  const changed = await world.writes.update(ADMIN, 'posts', ID, { file: upload('c.txt', 'c') })
  expect(Object.keys((await world.stored('posts'))[ID]!['_attachments'] as object)).toEqual([changed['file']])
})

test('a value of a wrong type refuses its document, whatever the type of the field: nothing is thrown', async () => {
  const types = [
    'text',
    'editor',
    'number',
    'bool',
    'email',
    'url',
    'date',
    'select',
    'file',
    'relation',
    'json',
    'geoPoint',
    'password',
  ]
  const more = { select: { values: ['a'] }, relation: { collectionId: 'pbc_things' }, text: { pattern: '^a*$' } }
  const fields = types.map((type) => ({ type, name: type, ...more[type as keyof typeof more] }))
  world = await openWorld([{ name: 'things', id: 'pbc_things', fields }])
  const guard = recordsGuard(world)
  const definition = world.definitions.get('things')
  const stored = { name: 'things', get: async () => undefined, leaves: async () => [], wasDeleted: async () => false }
  const write = { principal: SYSTEM, database: 'things', newEdits: false, stored }
  const judge = guard.decide!(write)!
  const wrong: string[] = []
  for (const type of types)
    for (const value of [5, true, {}, [], ['b'], [5], { lon: 'x' }, null, 'b', '', 1e300]) {
      const document = { _id: ID, _rev: '1-a', [type]: value }
      await guard.prepare!({ ...write, documents: [document] })
      const refusal = await readSnapshot(world.database, (snapshot) =>
        snapshot.read((reader) => judge({ old: undefined, document, reader })),
      )
      if (refusal !== undefined && !(refusal instanceof ServiceError && refusal.data?.[type] !== undefined))
        wrong.push(type)
      if (refusal === undefined && type !== 'json' && value === 5 && type !== 'number') wrong.push(`${type} takes 5`)
    }
  expect([definition.name, wrong]).toEqual(['things', []])
})

test('fields that are named as what every object has are judged as others are', async () => {
  const named = ['constructor', 'toString', 'valueOf', 'hasOwnProperty']
  const relation = (name: string): JsonObject => ({ type: 'relation', name, collectionId: 'pbc_posts', maxSelect: 1 })
  const text = (name: string): JsonObject => ({ type: 'text', name: `${name}`, max: 3 })
  const posts = { id: 'pbc_posts', name: 'posts', createRule: '', updateRule: '' }
  for (const [field, value, code] of [
    [text, 'long', 'validation_max_text_constraint'],
    [relation, 'nobody000000000', 'validation_missing_rel_records'],
  ] as const) {
    const put = await door({ ...posts, fields: named.map(field) })
    for (const name of named) {
      const refused = ['INVALID', { [name]: expect.objectContaining({ code }) }]
      expect(await put({ _id: ID, [name]: value })).toEqual(refused)
      const made = world.writes.create(NOBODY, 'posts', { [name]: value })
      await expect(made).rejects.toMatchObject({ code: 'INVALID', data: refused[1] })
    }
    expect(await put({ _id: ID })).toMatch(/^1-/)
    const stored = (await world.stored('posts'))[ID]!
    expect(named.map((name) => stored[name])).toEqual(named.map(() => ''))
    if (field === text) await world.close()
  }
})
