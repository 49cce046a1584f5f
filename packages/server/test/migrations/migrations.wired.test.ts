/**
 * Goal: migrations are applied whole or not at all, in order, once. Changes over the API make files that bring another server to the
 * same collections. Method: real folders, real files, the real command.
 */
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { open } from 'pannier'
import { ITSELF, startRest } from '../rest/rest-server.ts'
import { startServer } from '../test-server.ts'
import { runCaptured } from '../cli/run-captured.ts'

let dir: string
let data: string
let folder: string

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-migrations-'))
  data = join(dir, 'data')
  folder = join(data, 'migrations')
  await mkdir(folder, { recursive: true })
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const write = (name: string, up: string, down = ''): Promise<void> =>
  writeFile(
    join(folder, name),
    `export async function up(app: unknown) { ${up.replaceAll('app.', '(app as any).')} }\n` +
      `export async function down(app: unknown) { ${down.replaceAll('app.', '(app as any).')} }\n`,
  )
const migrate = async (...parameters: string[]): Promise<readonly [code: number, text: string]> => {
  const { code, err } = await runCaptured(['migrate', ...parameters, '--dir', data])
  return [code, err.trim()]
}
const POSTS = `app.createCollection({ name: 'posts', fields: [{ name: 'title', type: 'text' }] })`

/** Names of collections that are not the system's, and the titles of posts. */
async function state(from = data): Promise<{ readonly names: string[]; readonly titles: string[] }> {
  const { server, close } = await startServer({ dir: from })
  try {
    const { definitions, app } = server.backend
    const names = definitions.all().flatMap(({ name, system }) => (system ? [] : [name]))
    const posts = names.includes('posts') ? await app.findRecordsByFilter('posts', '', 'title') : []
    return { names, titles: posts.map((post) => post.getString('title')) }
  } finally {
    await close()
  }
}

test('applies files in the order of their names, once, and reverts the last ones', async () => {
  await write(
    '2_fill.ts',
    `for (const title of ['a', 'b']) await app.save(app.newRecord('posts', { title }))`,
    `for (const post of await app.findRecordsByFilter('posts', '')) await app.delete(post)`,
  )
  await write('1_posts.ts', `await ${POSTS}`, `await app.deleteCollection('posts')`)
  await writeFile(join(folder, 'notes.txt'), 'no migration')
  await writeFile(join(folder, 'types.d.ts'), 'nothing to run')
  expect(await migrate('up')).toEqual([0, 'Applied 1_posts.ts.\nApplied 2_fill.ts.'])
  expect(await state()).toEqual({ names: ['users', 'posts'], titles: ['a', 'b'] })
  expect(await migrate('up')).toEqual([0, 'No new migrations to apply.'])
  expect(await migrate('down')).toEqual([0, 'Reverted 2_fill.ts.'])
  expect(await state()).toEqual({ names: ['users', 'posts'], titles: [] })
  expect(await migrate('up')).toEqual([0, 'Applied 2_fill.ts.'])
  expect(await migrate('down', '5')).toEqual([0, 'Reverted 2_fill.ts.\nReverted 1_posts.ts.'])
  expect(await state()).toEqual({ names: ['users'], titles: [] })
  expect(await migrate('down')).toEqual([0, 'No migrations to revert.'])
})

test('a start applies what is pending; one that fails changes nothing, and the server does not start', async () => {
  await write('1_posts.ts', `await ${POSTS}; await app.save(app.newRecord('posts', { title: 'kept' }))`)
  const migrations = { dir: folder }
  await (await startServer({ dir: data, app: { migrations } })).close()
  await write(
    '2_more.ts',
    `await app.save(app.newRecord('posts', { title: 'lost' })); await app.updateSettings({ meta: { appName: 'Lost' } })`,
  )
  await write(
    '3_wrong.ts',
    `await app.createCollection({ name: 'tags', fields: [] }); await app.createCollection({ name: 'posts' })`,
  )
  const refused = await startServer({ dir: data, app: { migrations } }).catch((error: unknown) => error)
  expect(String(refused)).toContain(`The migration 3_wrong.ts can't be applied`)
  expect(String(refused)).toContain('validation_collection_name_exists')
  expect(String(refused)).toContain('Nothing was changed.')
  expect(await state()).toEqual({ names: ['users', 'posts'], titles: ['kept'] })
  expect((await readdir(data)).filter((name) => name.includes('unfinished'))).toEqual([])
  const server = await startServer({ dir: data })
  expect(server.server.backend.settings.values.meta.appName).not.toBe('Lost')
  await server.close()

  await rm(join(folder, '3_wrong.ts'))
  await (await startServer({ dir: data, app: { migrations } })).close()
  expect((await state()).titles).toEqual(['kept', 'lost'])
})

test('a file that can not be loaded is named, and changes nothing', async () => {
  await write('1_posts.ts', `await ${POSTS}`)
  await writeFile(join(folder, '2_broken.ts'), 'export const up = (')
  expect(await migrate('up')).toEqual([1, expect.stringContaining("The migration 2_broken.ts can't be applied")])
  expect((await state()).names).toEqual(['users'])
})

test('an error names the line, and what to do with a collection that was found', async () => {
  await writeFile(
    join(folder, '1_role.ts'),
    `export const up = async (app: any) => {\n  await 1\n  app.findCollectionByNameOrId('users').fields.push({ name: 'role', type: 'text' })\n}`,
  )
  const change = 'A collection that was found is read-only. Change it by app.updateCollection(). Nothing was changed.'
  expect(await migrate('up')).toEqual([
    1,
    expect.stringMatching(/1_role.ts can't be applied \(migrations\/1_role.ts:3\): TypeError: .*\. /),
  ])
  expect((await migrate('up'))[1]).toContain(change)
  await rm(join(folder, '1_role.ts'))
  await writeFile(
    join(folder, '2_role.ts'),
    `export const up = async (app: any) => {\n  const users = app.findCollectionByNameOrId('users')\n\n  await app.save(users)\n}`,
  )
  expect((await migrate('up'))[1]).toContain('TypeError: app.save(): record must be one of a find')
  await rm(join(folder, '2_role.ts'))
  await writeFile(
    join(folder, '3_role.ts'),
    `export const up = (app: any) =>\n  app.updateCollection('users', {}, { put: [{ field: { name: 'role', type: 'text' } }] })`,
  )
  expect(await migrate('up')).toEqual([0, 'Applied 3_role.ts.'])
  const { server, close } = await startServer({ dir: data })
  expect(server.backend.definitions.get('users').fields.at(-1)).toMatchObject({ name: 'role' })
  await close()
})

test('nobody opens the database while migrations run, and a database that is open is not migrated', async () => {
  await write('1_slow.ts', `await ${POSTS}; await globalThis['pannierMigrating']()`)
  let locked: unknown
  Object.assign(globalThis, {
    pannierMigrating: async () => {
      locked = await open(join(data, 'pannier.sqlite')).catch((error: unknown) => error)
    },
  })
  expect(await migrate('up')).toEqual([0, 'Applied 1_slow.ts.'])
  expect(locked).toMatchObject({ code: 'PANNIER_LOCKED' })
  await write('2_tags.ts', `await app.createCollection({ name: 'tags', fields: [] })`)
  const server = await startServer({ dir: data })
  expect(await migrate('up')).toEqual([1, expect.stringContaining('Another process has the database file')])
  await server.close()
  expect((await state()).names).toEqual(['users', 'posts'])
})

test('an encrypted database stays encrypted', async () => {
  const encryption = { password: 'the password' }
  await write('1_posts.ts', `await ${POSTS}`)
  await (await startServer({ dir: data, encryption, app: { migrations: { dir: folder } } })).close()
  const server = await startServer({ dir: data, encryption })
  expect(server.server.backend.definitions.find('posts')).toBeDefined()
  await server.close()
  await expect(open(join(data, 'pannier.sqlite'))).rejects.toMatchObject({ code: 'PANNIER_ENCRYPTED' })
})

test('changes over the API write files that make the same collections elsewhere, and can be reverted', async () => {
  const server = await startRest({ dir: data, app: { migrations: { dir: folder, automigrate: true } } })
  const { definitions } = server.server.backend
  const fields = [
    { name: 'title', type: 'text', required: true },
    { name: 'old', type: 'number' },
    { name: 'state', type: 'select', values: ['new', 'done'] },
  ]
  await server.call('POST /collections', { name: 'posts', type: 'base', fields, listRule: '' })
  await server.call('POST /collections', { name: 'members', type: 'auth', fields: [] })
  const posts = definitions.get('posts')
  const changed = [...posts.fields.filter(({ name }) => name !== 'old'), { name: 'rank', type: 'number' }].map(
    (field) => (field.name === 'title' ? { ...field, name: 'heading' } : field),
  )
  await server.call('PATCH /collections/posts', {
    name: 'articles',
    fields: changed,
    viewRule: "@request.auth.id != ''",
  })
  await server.call('PATCH /collections/articles', {})
  await server.call('POST /collections', {
    name: 'headings',
    type: 'view',
    viewQuery: 'SELECT id, heading FROM articles',
  })
  await server.call('POST /collections', { name: 'gone', fields: [] })
  await server.call('DELETE /collections/gone')
  expect((await server.call('POST /collections', { name: 'articles', fields: [] })).status).toBe(400)
  const names = (await readdir(folder)).sort()
  expect(names.map((name) => name.replace(/^\d+_/, ''))).toEqual([
    'created_posts.ts',
    'created_members.ts',
    'updated_posts.ts',
    'created_headings.ts',
    'created_gone.ts',
    'deleted_gone.ts',
  ])
  const shape = (): unknown =>
    ['articles', 'members'].map((name) => {
      const { created: _c, updated: _u, ...rest } = JSON.parse(JSON.stringify(definitions.get(name)))
      return JSON.stringify(rest).replaceAll(/"secret":"\w+"/g, '')
    })
  const made = shape()
  await server.close()
  expect(await readFile(join(folder, names[1]!), 'utf8')).not.toContain('secret')
  expect(await migrate('up'), 'they count as applied here').toEqual([0, 'No new migrations to apply.'])

  const second = join(dir, 'second')
  const other = await startServer({ dir: second, app: { migrations: { dir: folder } } })
  const copied = other.server.backend.definitions
  const shapeThere = ['articles', 'members'].map((name) => {
    const { created: _c, updated: _u, ...rest } = JSON.parse(JSON.stringify(copied.get(name)))
    return JSON.stringify(rest).replaceAll(/"secret":"\w+"/g, '')
  })
  expect(shapeThere).toEqual(made)
  expect(copied.get('headings').fields.map(({ name }) => name)).toEqual(['id', 'heading'])
  await other.close()
  await cp(folder, join(second, 'migrations'), { recursive: true })
  const down = await runCaptured(['migrate', 'down', '4', '--dir', second])
  expect(down.code).toBe(0)
  const reverted = await startServer({ dir: second })
  expect(reverted.server.backend.definitions.get('posts').fields.map(({ name }) => name)).toEqual([
    'id',
    'title',
    'old',
    'state',
  ])
  await reverted.close()
})

test('fields that others have added stay when a migration changes fields', async () => {
  const server = await startRest({ dir: data, app: { migrations: { dir: folder, automigrate: true } } })
  await server.call('POST /collections', { name: 'posts', fields: [{ name: 'title', type: 'text' }] })
  const { fields } = server.server.backend.definitions.get('posts')
  await server.call('PATCH /collections/posts', { fields: [...fields, { name: 'mine', type: 'text' }] })
  await server.close()
  const names = (await readdir(folder)).sort()
  const second = join(dir, 'second')
  await mkdir(join(second, 'migrations'), { recursive: true })
  await copyFile(join(folder, names[0]!), join(second, 'migrations', names[0]!))
  const other = await startRest({
    dir: second,
    app: { migrations: { dir: join(second, 'migrations'), automigrate: true } },
  })
  const theirs = other.server.backend.definitions.get('posts').fields
  await other.call('PATCH /collections/posts', { fields: [...theirs, { name: 'theirs', type: 'text' }] })
  await other.close()
  // Files that are made in one second may have one name.
  await copyFile(join(folder, names[1]!), join(second, 'migrations', '9999999999_mine.ts'))
  const merged = await startServer({ dir: second, app: { migrations: { dir: join(second, 'migrations') } } })
  const all = merged.server.backend.definitions.get('posts').fields.map(({ name }) => name)
  expect(all.toSorted()).toEqual(['id', 'mine', 'theirs', 'title'])
  await merged.close()
})

test('a change that can not be stored leaves no file, and a file that can not be written keeps the change from happening', async () => {
  const server = await startRest({ dir: data, app: { migrations: { dir: folder, automigrate: true } } })
  const { definitions, records } = server.server.backend
  await server.call('POST /collections', { name: 'posts', fields: [{ name: 'title', type: 'text' }] })
  for (const title of ['a', 'a']) await records.create(ITSELF, 'posts', { title })
  const before = await readdir(folder)
  const indexes = ['CREATE UNIQUE INDEX idx_title ON posts (title)']
  expect((await server.call('PATCH /collections/posts', { indexes })).status).toBe(400)
  expect(await readdir(folder)).toEqual(before)
  await rm(folder, { recursive: true })
  await writeFile(folder, 'a file, no folder')
  const refused = await server.call('POST /collections', { name: 'tags', fields: [] })
  expect([refused.status, refused.json['message']]).toEqual([
    400,
    expect.stringContaining("The migration file can't be written"),
  ])
  expect(definitions.find('tags')).toBeUndefined()
  await server.close()
})

test('a snapshot makes all collections elsewhere, and history-sync forgets files that are gone', async () => {
  await write('1_posts.ts', `await ${POSTS}`)
  await migrate('up')
  const [code, text] = await migrate('collections')
  expect([code, text]).toEqual([0, expect.stringMatching(/\d+_collections_snapshot\.ts was made\.$/)])
  expect(await migrate('up')).toEqual([0, 'No new migrations to apply.'])
  await rm(join(folder, '1_posts.ts'))
  expect(await migrate('history-sync')).toEqual([0, 'Forgot 1_posts.ts.'])
  expect(await migrate('history-sync')).toEqual([0, 'Every applied migration has its file.'])
  const second = join(dir, 'second')
  await (await startServer({ dir: second, app: { migrations: { dir: folder } } })).close()
  expect((await state(second)).names.toSorted()).toEqual(['posts', 'users'])
})

test('an empty migration is made, and wrong arguments are refused', async () => {
  expect(await migrate('create', 'add_tags')).toEqual([0, expect.stringMatching(/\d+_add_tags\.ts was made\.$/)])
  expect(await migrate('up')).toEqual([0, expect.stringMatching(/^Applied \d+_add_tags\.ts\.$/)])
  expect((await migrate('create', '../up'))[0]).toBe(2)
  expect((await migrate('down', 'all'))[0]).toBe(2)
})
