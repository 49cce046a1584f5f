/**
 * Goal: `pannier types` makes types that the real SDK is used with: they compile, say what records have, and refuse what is wrong.
 * Method: the compiler, on a program that imports the types and the SDK. Each line that is wrong is expected to be an error.
 */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SYSTEM } from '@pannier/backend'
import { EXIT } from '../../src/cli/outcome.ts'
import { EMAIL, PASSWORD, startRest } from '../rest/rest-server.ts'
import { runCaptured } from './run-captured.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc')

/** Every type of field, names that are no identifiers or look alike, relations both ways, hidden and ruled fields, a view. */
const COLLECTIONS = [
  { name: 'tags', fields: [{ name: 'label', type: 'text', required: true }] },
  {
    name: 'posts',
    fields: [
      { name: 'title', type: 'text', required: true },
      { name: 'slug', type: 'text', required: true, autogeneratePattern: '[a-z]{8}' },
      { name: 'body', type: 'editor' },
      { name: 'rank', type: 'number' },
      { name: 'isOpen', type: 'bool' },
      { name: 'contact', type: 'email' },
      { name: 'link', type: 'url' },
      { name: 'due', type: 'date' },
      { name: 'created', type: 'autodate', onCreate: true },
      { name: 'state', type: 'select', values: ['new', 'it\'s "done" \\ `'] },
      { name: 'kinds', type: 'select', values: ['a', 'b'], maxSelect: 2 },
      { name: 'photo', type: 'file' },
      { name: 'papers', type: 'file', maxSelect: 5 },
      { name: 'meta', type: 'json' },
      { name: 'place', type: 'geoPoint' },
      { name: 'author', type: 'relation', collectionId: '_pb_users_auth_', required: true },
      { name: 'tags', type: 'relation', collectionId: 'TAGS', maxSelect: 9 },
      { name: 'secret', type: 'text', hidden: true },
      { name: 'ruled', type: 'text', viewRule: '@request.auth.id != ""' },
    ],
  },
  { name: 'my_posts', fields: [{ name: 'x', type: 'text' }] },
  { name: 'MyPosts', fields: [{ name: 'y', type: 'text' }] },
  {
    name: 'profiles',
    fields: [{ name: 'user', type: 'relation', collectionId: '_pb_users_auth_' }],
    indexes: ['CREATE UNIQUE INDEX idx_profiles ON profiles (user)'],
  },
  { name: 'titles', type: 'view', viewQuery: 'SELECT id, title, author FROM posts' },
]

const PROGRAM = `
import PocketBase from 'pocketbase'
import type { CollectionName, RecordOf, TypedPocketBase } from './types'

const client = new PocketBase('http://localhost') as TypedPocketBase

export async function uses(): Promise<unknown[]> {
  const posts = client.collection('posts')
  const post = await posts.getOne('x', { expand: 'author,tags' })
  const title: string = post.title
  const rank: number = post.rank
  const isOpen: boolean = post.isOpen
  const state: '' | 'new' | 'it\\'s "done" \\\\ \`' = post.state
  const kinds: ('a' | 'b')[] = post.kinds
  const photo: string = post.photo
  const papers: string[] = post.papers
  const { lon, lat }: { lon: number; lat: number } = post.place
  const author: string | undefined = post.expand?.author?.name
  const label: string | undefined = post.expand?.tags?.[0]?.label
  const back: string[] | undefined = post.expand?.author?.expand?.posts_via_author?.map((one) => one.title)
  const profile: string | undefined = post.expand?.author?.expand?.profiles_via_user?.user
  const secret: string | undefined = post.secret
  // @ts-expect-error hidden from most
  const shown: string = post.secret
  // @ts-expect-error ruled
  const ruled: string = post.ruled
  // @ts-expect-error JSON may be anything
  const meta: string = post.meta
  // @ts-expect-error no such field
  void post.titel
  // @ts-expect-error no such collection
  client.collection('post')
  // @ts-expect-error nobody reads passwords
  void (await client.collection('users').getOne('x')).password

  await posts.create({ title: 'a', author: 'u', kinds: ['a'], photo: new File([], 'a.png'), due: new Date() })
  await posts.create(new FormData())
  // @ts-expect-error the author is required
  await posts.create({ title: 'a' })
  // @ts-expect-error no such choice
  await posts.create({ title: 'a', author: 'u', state: 'old' })
  // @ts-expect-error set by itself
  await posts.create({ title: 'a', author: 'u', created: '' })
  await posts.update('x', { 'rank+': 1, 'kinds-': 'a', '+tags': 't', 'slug:autogenerate': '', 'papers-': ['a.pdf'] })
  // @ts-expect-error text has no such modifier
  await posts.update('x', { 'title+': 'a' })
  // @ts-expect-error ids stay
  await posts.update('x', { id: 'y' })
  await client.collection('users').create({ email: 'a@b.cd', password: 'a', passwordConfirm: 'a' })
  // @ts-expect-error a password is required
  await client.collection('users').create({ email: 'a@b.cd' })
  // @ts-expect-error views are not written
  await client.collection('titles').create({ title: 'a' })
  const { items } = await client.collection('titles').getList(1, 5)
  const user = (await client.collection('users').authWithPassword('a', 'b')).record
  await posts.subscribe('*', ({ record }) => void record.title.length)
  const names: CollectionName[] = ['posts', '_superusers', 'my_posts', 'MyPosts']
  const one: RecordOf<'my_posts'>['x'] = '' as RecordOf<'MyPosts'>['y']
  return [title, rank, isOpen, state, kinds, photo, papers, lon, lat, author, label, back, profile, secret, shown, ruled, meta,
    items[0]?.title.length, user.name, names, one]
}
`

/** An app that works offline. `types`: what it imports. */
const APP = (types: string): string => `
import { connect } from '@pannier/client'
import type { Collections } from './${types}'

export async function uses(): Promise<unknown[]> {
  const client = await connect<Collections>('http://localhost', {
    collections: { posts: { indexes: ['rank'], merge: 'fields' }, tags: {} },
  })
  const posts = client.collection('posts')
  const post = await posts.get('x')
  const title: string | undefined = post?.title
  // @ts-expect-error no such field
  void post?.titel
  await posts.create({ title: 'a', author: 'u', kinds: ['a'] })
  // @ts-expect-error the author is required
  await posts.create({ title: 'a' })
  await posts.update('x', { 'rank+': 1, 'kinds-': 'a' })
  // @ts-expect-error text has no such modifier
  await posts.update('x', { 'title+': 'a' })
  const may: boolean | undefined = await posts.can('update', 'x', { title: 'b' })
  if (post !== undefined) await client.can('delete', post)
  // @ts-expect-error views are not written
  await client.collection('titles').create({ title: 'a' })
  // @ts-expect-error no such collection
  await connect<Collections>('http://localhost', { collections: ['post'] })
  // @ts-expect-error no such collection
  await connect<Collections>('http://localhost', { collections: { post: {} } })
  return [title, may]
}
`

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-types-'))
  await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

/** What the types for `@pannier/client` have of their own. */
const CLIENT_APP = `
import type { AppClient, RecordOf } from './client-types'

export async function usesTypes(client: AppClient, file: File): Promise<unknown> {
  const post: RecordOf<'posts'> = await client.collection('posts').create({ title: 'a', author: 'u', photo: file, papers: [file] })
  // @ts-expect-error nothing is expanded
  void post.expand
  // @ts-expect-error the client takes dates as they are read
  await client.collection('posts').update('x', { due: new Date() })
  return await client.collection('posts').find({ rank: 1 }).toArray()
}
`

async function compile(): Promise<string> {
  await writeFile(join(dir, 'program.ts'), PROGRAM)
  await writeFile(join(dir, 'app.ts'), APP('types'))
  await writeFile(join(dir, 'client-app.ts'), APP('client-types') + CLIENT_APP)
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'preserve',
    '--target',
    'es2024',
    '--lib',
    'esnext,dom,dom.asynciterable',
  ]
  const sources = ['--customConditions', 'pannier-source', '--allowImportingTsExtensions']
  const parameters = [
    COMPILER,
    ...options,
    ...sources,
    '--types',
    '',
    '--skipLibCheck',
    'false',
    'program.ts',
    'app.ts',
    'client-app.ts',
  ]
  const run = promisify(execFile)(process.execPath, parameters, { cwd: dir })
  return run.then(
    () => 'compiled',
    ({ stdout }: { readonly stdout: string }) => {
      // The sources of the client are compiled with other options elsewhere.
      const wrong = stdout.split('\n').filter((line) => /^\w/.test(line))
      return wrong.length === 0 ? 'compiled' : stdout
    },
  )
}

test('the types of a server that runs, and of its file, compile with the SDK and refuse what is wrong', async () => {
  const folder = join(dir, 'data')
  const [out, clientOut] = [join(dir, 'types.d.ts'), join(dir, 'client-types.d.ts')]
  const server = await startRest({ dir: folder })
  try {
    const { definitions } = server.server.backend
    for (const { fields, ...input } of COLLECTIONS) {
      const tags = definitions.find('tags')?.id
      const linked = fields?.map((field) =>
        'collectionId' in field && field.collectionId === 'TAGS' ? { ...field, collectionId: tags } : field,
      )
      await definitions.create(SYSTEM, { ...input, ...(linked && { fields: linked }) })
    }
    const url = server.url.replace('//', `//${encodeURIComponent(EMAIL)}:${encodeURIComponent(PASSWORD)}@`)
    for (const [file, ...options] of [[out], [clientOut, '--client']])
      expect(await runCaptured(['types', '--url', url, '--out', file!, ...options])).toMatchObject({
        code: EXIT.done,
        out: '',
      })
  } finally {
    await server.close()
  }
  expect(await compile()).toBe('compiled')
  const printed = await runCaptured(['types', '--dir', folder])
  expect(printed.out).toBe(await readFile(out, 'utf8'))
  const forClient = await runCaptured(['types', '--dir', folder, '--client'])
  expect(forClient.out).toBe(await readFile(clientOut, 'utf8'))
  expect(forClient.out).not.toContain('pocketbase')
})

test('what is missing is said', async () => {
  expect(await runCaptured(['types'])).toMatchObject({ code: EXIT.usage, err: 'Where? Give --dir or --url.\n' })
  await mkdir(join(dir, 'empty'))
  expect((await runCaptured(['types', '--dir', join(dir, 'empty')])).err).toContain('There is no database at')
})
