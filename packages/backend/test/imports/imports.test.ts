/** Goal: rows of a PocketBase become records as they are; only superusers may write them; hashes of bcrypt log in once. */
import type { Database } from 'pannier'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GUEST, SYSTEM } from '../../src/index.ts'
import type { Actor, Backend, ImportedRow } from '../../src/index.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { openTestBackend, passwords } from '../test-backend.ts'

/** Made by PocketBase, of `1234567890`. */
const BCRYPT = '$2a$13$uULN32dHTkWQIALJP1N54.22HW/K9/qkXqcmsfz2hOA1wGeuUDbfG'
const TOKEN_KEY = 'a key of thirty characters or more'
const guest: Actor = { principal: GUEST, request: { context: 'default', method: 'POST', query: {}, headers: {} } }
let database: Database
let backend: Backend

beforeEach(async () => {
  ;({ database, backend } = await openTestBackend())
  await backend.definitions.create(SYSTEM, {
    name: 'posts',
    fields: [
      { name: 'title', type: 'text', required: true },
      { name: 'votes', type: 'number', max: 10 },
      { name: 'open', type: 'bool' },
      { name: 'meta', type: 'json' },
      { name: 'tags', type: 'select', maxSelect: 2, values: ['a', 'b'] },
      { name: 'files', type: 'file', maxSelect: 3 },
      { name: 'created', type: 'autodate', onCreate: true },
    ],
    indexes: ['CREATE UNIQUE INDEX title ON posts (title)'],
  })
})
afterEach(async () => {
  await backend.close()
  await database.close()
})

function write(
  collection: string,
  rows: readonly ImportedRow[],
  files?: readonly File[],
): ReturnType<Backend['imports']['write']> {
  return backend.imports.write(SYSTEM, collection, rows, files?.map(uploadOf))
}

function uploadOf(file: File): { name: string; size: number; stream: () => ReadableStream<Uint8Array> } {
  return { name: file.name, size: file.size, stream: () => file.stream() }
}

function stored(collection: string, id: string): Promise<JsonObject | undefined> {
  return backend.definitions.records(backend.definitions.get(collection)).get(id)
}

function account(id: string, more: ImportedRow = {}): ImportedRow {
  return { id, email: `${id}@example.com`, password: BCRYPT, tokenKey: `${id}: ${TOKEN_KEY}`, ...more }
}

test('cells become values, whether they come as texts or as numbers', async () => {
  const created = '2001-02-03 04:05:06.789Z'
  const row = { id: 'one', title: 'One', votes: '1.5', open: '1', meta: '{"b":1,"a":[2]}', tags: '["b","a"]', created }
  const other = { id: 'two', title: 'Two', votes: 99, open: 0, meta: null, tags: '', files: '[]', created: '' }
  expect(await write('posts', [row, other])).toEqual({
    created: 2,
    changed: 0,
    same: 0,
    refused: [],
    // Ids have 15 characters since later.
    unfit: [
      { id: 'one', fields: ['id'] },
      { id: 'two', fields: ['id', 'votes'] },
    ],
  })
  expect(await stored('posts', 'one')).toMatchObject({
    votes: 1.5,
    open: true,
    meta: { b: 1, a: [2] },
    tags: ['b', 'a'],
    files: [],
    created,
  })
  expect(await stored('posts', 'two')).toMatchObject({ votes: 99, open: false, meta: null, tags: [], created: '' })
})

test('one row that is refused leaves the others in', async () => {
  await write('posts', [{ id: 'one', title: 'One' }])
  const rows = ['a', 'One', 'b'].map((title, at) => ({ id: `id${at}`, title }))
  expect(await write('posts', [...rows, { id: '', title: 'none' }])).toMatchObject({
    created: 2,
    refused: [{ id: 'id1' }, { id: '' }],
  })
})

test('only superusers may, and only of collections that have records', async () => {
  const { imports } = backend
  await expect(imports.write(GUEST, 'posts', [])).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(imports.lacking(GUEST, 'posts', [])).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(imports.check(GUEST, [])).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
  await expect(write('nope', [])).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await backend.definitions.create(SYSTEM, { name: 'all', type: 'view', viewQuery: 'SELECT id FROM posts' })
  await expect(write('all', [])).rejects.toMatchObject({ code: 'INVALID' })
})

test('files keep their names, and come once', async () => {
  const row = { id: 'one', title: 'One', files: '["a_1.txt","b_2.txt"]' }
  const file = (name: string): File => new File(['content'], name)
  expect(await backend.imports.lacking(SYSTEM, 'posts', [row])).toEqual({ one: ['a_1.txt', 'b_2.txt'] })
  expect(await write('posts', [row], [file('a_1.txt'), file('nobody names it.txt')])).toMatchObject({ created: 1 })
  expect(await backend.imports.lacking(SYSTEM, 'posts', [row])).toEqual({ one: ['b_2.txt'] })
  expect(await write('posts', [row], [file('b_2.txt')])).toMatchObject({ changed: 1 })
  expect(await backend.imports.lacking(SYSTEM, 'posts', [row])).toEqual({})
  expect(Object.keys((await stored('posts', 'one'))!['_attachments'] as object)).toEqual(['a_1.txt', 'b_2.txt'])
  expect(await write('posts', [{ ...row, files: '["b_2.txt"]' }])).toMatchObject({ changed: 1 })
  expect(Object.keys((await stored('posts', 'one'))!['_attachments'] as object)).toEqual(['b_2.txt'])
  await expect(write('posts', [row, row], [file('a_1.txt')])).rejects.toThrow('Files come with one row, got 2.')
  for (const name of ['../out.txt', 'a/b.txt', '_own.txt', '..'])
    await expect(write('posts', [{ ...row, files: JSON.stringify([name]) }], [file(name)])).rejects.toThrow(
      "A file can't be stored under",
    )
})

test('an account logs in with its old password, and its hash is made again', async () => {
  await write('users', [account('ann')])
  const logIn = (password: string): Promise<unknown> =>
    backend.accounts.authWithPassword(guest, 'users', { identity: 'ann@example.com', password })
  await expect(logIn('123456789')).rejects.toThrow('Failed to authenticate.')
  expect((await stored('users', 'ann'))!['password']).toBe(BCRYPT)
  expect(await logIn('1234567890')).toMatchObject({ token: expect.any(String) })
  const { password, tokenKey } = (await stored('users', 'ann'))!
  expect([passwords.isOutdated(String(password)), tokenKey]).toEqual([false, `ann: ${TOKEN_KEY}`])
  expect(await logIn('1234567890')).toMatchObject({ token: expect.any(String) })
  expect(await write('users', [account('ann')])).toMatchObject({ same: 1 })
})

test('an account keeps its id only if no other collection has it', async () => {
  await backend.definitions.create(SYSTEM, { name: 'clients', type: 'auth' })
  await write('users', [account('ann')])
  const { refused } = await write('clients', [account('ann'), account('bob')])
  expect(refused).toEqual([
    { id: 'ann', message: 'Failed to create record. id: Invalid or duplicated auth record id.' },
  ])
  expect(await stored('clients', 'bob')).toBeDefined()
})

test.each(['plain text', '$2a$31$uULN32dHTkWQIALJP1N54.22HW/K9/qkXqcmsfz2hOA1wGeuUDbfG', '$2x$10$short'])(
  'a hash that nobody can check logs nobody in: %s',
  async (password) => {
    expect(await write('users', [account('ann', { password })])).toMatchObject({
      created: 1,
      unfit: [{ id: 'ann', fields: ['id', 'password'] }],
    })
    const found = String((await stored('users', 'ann'))!['password'])
    expect([found === password, passwords.isReadable(found)]).toEqual([false, true])
  },
)

test('bcrypt ignores what follows 72 bytes, so no longer password is tried', async () => {
  const { hash } = await import('@node-rs/bcrypt')
  const password = 'x'.repeat(72)
  const record = await hash(password, 4)
  expect(await passwords.verify(record, password)).toBe(true)
  expect(await passwords.verify(record, `${password}y`)).toBe(false)
  expect(await passwords.verify(record, 'x'.repeat(71))).toBe(false)
})

test('imports.check names all definitions that are wrong', async () => {
  const view = { type: 'view', viewQuery: 'SELECT id, nope FROM posts' }
  const problems = await backend.imports.check(SYSTEM, [
    { name: 'one', ...view },
    { name: 'right', type: 'base' },
    { name: 'two', type: 'base', listRule: 'nope = 1' },
  ])
  expect(problems).toMatchObject([
    { name: 'two', message: expect.stringContaining('nope') },
    { name: 'one', message: expect.stringContaining('Invalid query') },
  ])
})

test('an id that no field admits is refused, whatever its pattern; a short one stays', async () => {
  const odd = [
    '.',
    '..',
    'a/b',
    'a\\b',
    'a.b',
    'a b',
    "a'b",
    'a\nb',
    'a\0b',
    'a%2fb',
    'a?b',
    'con',
    '_x',
    '__proto__',
    '',
  ]
  const rows = [...odd, 'constructor', 'é'].map((id) => ({ id, title: id }))
  const { created, refused } = await write('posts', rows)
  expect({ created, refused: refused.map(({ id }) => id) }).toEqual({ created: 2, refused: odd })
  expect((await backend.imports.examine(SYSTEM, 'posts', rows)).refused).toEqual(refused)
  expect(Object.keys(await backend.imports.lacking(SYSTEM, 'posts', [{ id: '..', files: '["a.txt"]' }]))).toEqual([
    '..',
  ])
})

test('a collection with the name of a prototype is one like others', async () => {
  const names = ['__proto__', 'constructor']
  const list = names.map((name) => ({ name, fields: [{ name: 'title', type: 'text' }] }))
  expect(await backend.imports.check(SYSTEM, list)).toEqual([])
  await backend.definitions.import(SYSTEM, list, false)
  for (const name of names) {
    expect(await write(name, [{ id: 'constructor', title: name }])).toMatchObject({ created: 1, refused: [] })
    expect(await stored(name, 'constructor')).toMatchObject({ title: name })
  }
  expect(({} as JsonObject)['title']).toBeUndefined()
  const wrong = [{ name: '__proto__', type: 'constructor', fields: [] }]
  expect((await backend.imports.check(SYSTEM, wrong)).map(({ name }) => name)).toEqual(['__proto__'])
})
