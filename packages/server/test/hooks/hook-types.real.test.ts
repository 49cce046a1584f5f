/**
 * Goal: hooks are typed by the collections: what is right compiles and runs, a wrong name does not compile, and a change of a
 * collection is seen. Method: a server with hooks, and the compiler on the file that the server writes beside them.
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startRest, type RestServer } from '../rest/rest-server.ts'
import { until } from '../test-server.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc')
/** The example of the page on hooks. */
const GUIDE = readFileSync(join(ROOT, 'docs/guide/hooks.md'), 'utf8').match(
  /```ts signature\n(import type \{ Hooks, RecordOf.*?)```/s,
)![1]!
const OPEN = { listRule: '', viewRule: '', createRule: '', updateRule: '', deleteRule: '' }

const POSTS = {
  name: 'posts',
  type: 'base',
  ...OPEN,
  fields: [
    { name: 'title', type: 'text' },
    { name: 'slug', type: 'text', autogeneratePattern: '[a-z]{8}' },
    { name: 'edits', type: 'number' },
    { name: 'isOpen', type: 'bool' },
    { name: 'state', type: 'select', values: ['new', 'done'] },
    { name: 'kinds', type: 'select', values: ['a', 'b'], maxSelect: 2 },
    { name: 'papers', type: 'file', maxSelect: 5 },
    { name: 'secret', type: 'text', hidden: true },
  ],
}
const NOTES = { name: 'notes', type: 'base', ...OPEN, fields: [{ name: 'text', type: 'text' }] }
const TITLES = { name: 'titles', type: 'view', listRule: '', viewQuery: 'SELECT id, title FROM posts' }

/** It runs, and it compiles. */
const HOOKS = `
import type { Hooks, RecordOf } from './types.d.ts'

function slugOf(post: RecordOf<'posts'>): string {
  return post.get('title').toLowerCase()
}

export default ({ onRecordCreateRequest, onRecordEnrich, onRecordAfterCreateSuccess, onRecordUpdate, routerAdd, app }: Hooks): void => {
  onRecordCreateRequest(async (e) => {
    const kinds: ('a' | 'b')[] = e.record.get('kinds')
    const edits: number = e.record.get('edits')
    e.record.set('slug', slugOf(e.record))
    e.record.set('kinds+', kinds.length === 0 ? 'a' : 'b')
    e.record.set('edits', edits + 1)
    await e.next()
  }, 'posts')
  onRecordAfterCreateSuccess(async (e) => {
    const note = e.app.newRecord('notes', { text: e.record.get('slug') })
    await e.app.save(note)
    await e.next()
  }, 'posts')
  onRecordEnrich(async (e) => {
    e.record.set('shout', e.record.get('title') + '!')
    e.record.withCustomData(true)
    await e.next()
  }, 'posts')
  onRecordUpdate(async (e) => {
    e.record.set('anything', e.record.get('at all'))
    await e.next()
  })
  routerAdd('GET', '/last', async (e) => {
    const [post] = await app.findRecordsByFilter('posts', '', '-edits', 1)
    e.json(200, post?.get('title') ?? (await e.app.findFirstRecordByData('notes', 'text', '')).get('text'))
  })
}
`

/** Each line after a mark is wrong. */
const WRONG = `
import type { Hooks } from '../types.d.ts'

export const register = ({ onRecordCreateRequest, onRecordUpdate, onRecordEnrich, onFileTokenRequest, routerAdd, app }: Hooks): void => {
  onRecordCreateRequest(async (event) => {
    // @ts-expect-error no such field
    event.record.get('titel')
    // @ts-expect-error no such field
    event.record.set('titel', 'a')
    // @ts-expect-error no number
    event.record.set('edits', 'a')
    // @ts-expect-error a text has no such modifier
    event.record.set('title+', 'a')
    // @ts-expect-error no such choice
    event.record.set('state', 'old')
    // @ts-expect-error a number
    const title: string = event.record.get('edits')
    // @ts-expect-error no such field
    event.record.load({ titel: title })
    // @ts-expect-error no such field
    event.record.original().getString('titel')
    // @ts-expect-error no such collection
    await event.app.findRecordById('post', 'x')
    // @ts-expect-error no such field
    ;(await event.app.findRecordById('notes', 'x')).get('title')
    // @ts-expect-error no such field
    event.app.newRecord('notes', { title })
  }, 'posts')
  onRecordUpdate((event) => {
    event.record.get('id')
    // @ts-expect-error only one of the two has it
    event.record.get('title')
  }, 'posts', 'notes')
  onRecordEnrich((event) => {
    // @ts-expect-error no such field
    event.record.get('titel')
    // @ts-expect-error no number
    event.record.set('edits', 'a')
  }, 'posts')
  onRecordUpdate((event) => {
    // @ts-expect-error views are not written
    event.record.set('title', 'a')
  }, 'titles')
  // @ts-expect-error no such collection
  onRecordUpdate(() => {}, 'post')
  // @ts-expect-error no such collection
  onFileTokenRequest(() => {}, 'user')
  // @ts-expect-error no such collection
  routerAdd('GET', '/x', (e) => e.app.countRecords('post'))
  // @ts-expect-error no such field
  void app.findFirstRecordByData('notes', 'title', 'a')
}
`

let dir: string
let hooks: string
let server: RestServer

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-hook-types-'))
  hooks = join(dir, 'hooks')
  await mkdir(join(hooks, 'lib'), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
  await writeFile(
    join(dir, 'tsconfig.json'),
    JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), include: ['hooks'] }),
  )
  await writeFile(join(dir, 'package.json'), JSON.stringify({ type: 'module' }))
  await writeFile(join(hooks, 'posts.ts'), HOOKS)
  await writeFile(join(hooks, 'lib/wrong.ts'), WRONG)
  await writeFile(join(hooks, '_guide.ts'), GUIDE)
})
afterEach(async () => {
  await server.close()
  await rm(dir, { recursive: true, force: true })
})

function compile(): Promise<string> {
  return promisify(execFile)(process.execPath, [COMPILER, '-p', dir], { cwd: dir }).then(
    () => 'compiled',
    (error: { readonly stdout: string }) => error.stdout,
  )
}

test(
  'hooks compile with the types of the collections and run; wrong names and values do not compile',
  { timeout: 240_000 },
  async () => {
    server = await startRest({ dir: join(dir, 'data'), app: { hooks: { dir: hooks } } })
    for (const collection of [POSTS, NOTES, TITLES])
      expect((await server.call('POST /collections', collection)).status).toBe(200)
    await until(async () => (await readFile(join(hooks, 'types.d.ts'), 'utf8')).includes('titles'))
    expect(await compile()).toBe('compiled')
    const { json } = await server.call('POST /collections/posts/records', { title: 'HELLO' }, '')
    expect(json).toMatchObject({ slug: 'hello', kinds: ['a'], edits: 1, shout: 'HELLO!' })
    const { json: notes } = await server.call('GET /collections/notes/records')
    expect(notes['items']).toMatchObject([{ text: 'hello' }])

    const fields = POSTS.fields.map((field) => (field.name === 'title' ? { ...field, name: 'headline' } : field))
    await server.call('PATCH /collections/posts', { fields })
    await until(async () => (await readFile(join(hooks, 'types.d.ts'), 'utf8')).includes('headline'))
    expect(await compile()).toMatch(/posts\.ts\(\d+,\d+\): error .*"title"/)
  },
)

test('a file of that name that the server has not made stays as it is', async () => {
  const own = 'export interface Mine {}\n'
  await writeFile(join(hooks, 'types.d.ts'), own)
  server = await startRest({ dir: join(dir, 'data'), app: { hooks: { dir: hooks } } })
  await server.call('POST /collections', NOTES)
  await server.close()
  expect(await readFile(join(hooks, 'types.d.ts'), 'utf8')).toBe(own)
})

test('a folder that is not watched gets no file', async () => {
  server = await startRest({ dir: join(dir, 'data'), app: { hooks: { dir: hooks, watch: false } } })
  await expect(readFile(join(hooks, 'types.d.ts'))).rejects.toThrow('ENOENT')
})
