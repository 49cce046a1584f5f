/** Hooks around writes of records. */
import { virtualEnvironment } from 'pannier/testing'
import { expect, test } from 'vitest'
import { invalid, ServiceError } from '../../src/gateway/service-error.ts'
import type { HookEvents, HookName } from '../../src/hooks/hook-events.ts'
import type { HookLog } from '../../src/hooks/hook-log.ts'
import { Hooks, type BoundHook, type HookHandler } from '../../src/hooks/hooks.ts'
import { ADMIN, NOBODY, openWorld, refusal, upload, type World } from '../records/world.ts'

const POSTS = {
  name: 'posts',
  type: 'base',
  listRule: '',
  viewRule: '',
  createRule: 'title != "forbidden"',
  updateRule: 'title != "locked"',
  deleteRule: '',
  fields: [
    { name: 'title', type: 'text', required: true },
    { name: 'slug', type: 'text' },
    { name: 'edits', type: 'number' },
    { name: 'file', type: 'file' },
  ],
}
const PEOPLE = { name: 'people', type: 'auth', createRule: '', fields: [] }

function bound<Name extends HookName>(
  name: Name,
  handler: HookHandler<HookEvents[Name]>,
  ...tags: readonly string[]
): BoundHook {
  return { name, handler, tags, source: 'hooks/test.ts:1' }
}

async function openClosing(collections: readonly object[]): Promise<World & AsyncDisposable> {
  const world = await openWorld(collections as Parameters<typeof openWorld>[0])
  return { ...world, [Symbol.asyncDispose]: () => world.close() }
}

async function withHooks(...hooks: readonly BoundHook[]): Promise<World & AsyncDisposable> {
  const world = await openClosing([POSTS, PEOPLE])
  world.hooks.replace(hooks)
  return world
}

const STEPS = ['Create', 'Update', 'Delete'] as const

test('the events of each write come in the order of PocketBase, around one another', async () => {
  const seen: string[] = []
  const traced = (name: HookName): BoundHook =>
    bound(name, async (e) => {
      seen.push(name)
      await e.next()
      seen.push(`/${name}`)
    })
  const names = STEPS.flatMap((step) => [
    `onRecord${step}Request` as const,
    `onModel${step}` as const,
    `onRecord${step}` as const,
    `onRecord${step}Execute` as const,
    `onRecordAfter${step}Success` as const,
    `onRecordAfter${step}Error` as const,
  ])
  await using world = await withHooks(...[...names, 'onRecordValidate' as const].map(traced))
  const { id } = await world.writes.create(NOBODY, 'posts', { title: 'a' })
  expect(seen.splice(0)).toEqual([
    'onRecordCreateRequest',
    'onModelCreate',
    'onRecordCreate',
    'onRecordValidate',
    '/onRecordValidate',
    'onRecordCreateExecute',
    '/onRecordCreateExecute',
    '/onRecordCreate',
    '/onModelCreate',
    'onRecordAfterCreateSuccess',
    '/onRecordAfterCreateSuccess',
    '/onRecordCreateRequest',
  ])
  await world.writes.update(NOBODY, 'posts', id as string, { title: 'b' })
  expect(seen.filter((name) => !name.startsWith('/'))).toEqual([
    'onRecordUpdateRequest',
    'onModelUpdate',
    'onRecordUpdate',
    'onRecordValidate',
    'onRecordUpdateExecute',
    'onRecordAfterUpdateSuccess',
  ])
  seen.length = 0
  await world.writes.delete(NOBODY, 'posts', id as string)
  expect(seen.filter((name) => !name.startsWith('/'))).toEqual([
    'onRecordDeleteRequest',
    'onModelDelete',
    'onRecordDelete',
    'onRecordDeleteExecute',
    'onRecordAfterDeleteSuccess',
  ])
  seen.length = 0
  await refusal(world.writes.create(NOBODY, 'posts', { title: '' }))
  expect(seen).toContain('onRecordAfterCreateError')
  expect(seen).not.toContain('onRecordAfterCreateSuccess')
})

test('a hook changes what is stored, and sees it afterwards', async () => {
  const after: unknown[] = []
  await using world = await withHooks(
    bound('onRecordCreate', async (e) => {
      expect([e.record.isNew(), e.record.get('title'), e.type]).toEqual([true, 'Hello', 'create'])
      e.record.set('slug', e.record.getString('title').toLowerCase())
      e.record.set('edits+', 2)
      e.record.set('edits+', 3)
      await e.next()
      after.push(e.record.isNew(), e.record.id, e.record.get('edits'))
    }),
  )
  const record = await world.writes.create(NOBODY, 'posts', { title: 'Hello' })
  expect(record).toMatchObject({ title: 'Hello', slug: 'hello', edits: 5 })
  expect(after).toEqual([false, record['id'], 5])
})

test('rules are asked about what was sent, not about what hooks make of it; fields about both', async () => {
  await using world = await withHooks(
    bound('onRecordCreate', (e) => {
      e.record.set('title', e.record.getString('slug') === 'empty' ? '' : 'forbidden')
      return e.next()
    }),
  )
  expect(await world.writes.create(NOBODY, 'posts', { title: 'a' })).toMatchObject({ title: 'forbidden' })
  expect(await refusal(world.writes.create(NOBODY, 'posts', { title: 'a', slug: 'empty' }))).toEqual([
    'INVALID',
    'Failed to create record.',
    { title: 'validation_required' },
  ])
})

test('no hook runs for what the rule, the lock or the record refuses', async () => {
  let runs = 0
  const count = (name: HookName): BoundHook => bound(name, (e) => (runs++, e.next()))
  await using world = await withHooks(
    ...STEPS.flatMap((step) => [count(`onRecord${step}Request`), count(`onRecord${step}`)]),
  )
  const { id } = await world.writes.create(ADMIN, 'posts', { title: 'locked' })
  runs = 0
  expect(await refusal(world.writes.create(NOBODY, 'posts', { title: 'forbidden' }))).toBeDefined()
  expect(await refusal(world.writes.update(NOBODY, 'posts', id as string, { title: 'x' }))).toBeDefined()
  expect(await refusal(world.writes.update(NOBODY, 'posts', 'nope', { title: 'x' }))).toBeDefined()
  expect(await refusal(world.writes.delete(NOBODY, 'people', 'nope'))).toEqual([
    'FORBIDDEN',
    'Only superusers can perform this action.',
  ])
  expect(runs).toBe(0)
})

test('a hook refuses by throwing: an error of the domain as it is, any other as INVALID, logged with its place', async () => {
  const logged: unknown[] = []
  const world = await openWorld([POSTS])
  world.hooks.replace([
    bound('onRecordCreate', (e) => {
      throw e.record.get('slug') === 'bug' ? new TypeError('x is not a function') : invalid('Not today.')
    }),
  ])
  expect(await refusal(world.writes.create(NOBODY, 'posts', { title: 'a' }))).toEqual(['INVALID', 'Not today.'])
  expect(await refusal(world.writes.create(NOBODY, 'posts', { title: 'a', slug: 'bug' }))).toEqual(['INVALID', ''])
  expect(await world.stored('posts')).toEqual({})
  await world.close()
  const log: HookLog = (message, details) => logged.push([message, details.hook, details.source])
  const hooks = new Hooks({ environment: world.environment, log })
  hooks.replace([
    bound('onRecordValidate', () => {
      throw new TypeError('x is not a function')
    }),
  ])
  await expect(hooks.trigger('onRecordValidate', {} as never, [])).rejects.toThrow(ServiceError)
  expect(logged).toEqual([['a hook has thrown', 'onRecordValidate', 'hooks/test.ts:1']])
})

test('a hook that does not wait for the rest is waited for; one that calls it twice writes once', async () => {
  let order = ''
  await using world = await withHooks(
    bound('onRecordCreate', (e) => {
      void e.next().then(() => (order += 'written '))
      void e.next()
    }),
    bound('onRecordAfterCreateSuccess', () => void (order += 'after')),
  )
  await world.writes.create(NOBODY, 'posts', { title: 'a' })
  expect(Object.keys(await world.stored('posts'))).toHaveLength(1)
  expect(order).toBe('written after')
})

test('a hook that does not call the rest stops the write', async () => {
  await using world = await withHooks(
    bound('onRecordDeleteRequest', async (e) => {
      const record = await e.app.findRecordById('posts', e.record.id)
      record.set('slug', 'deleted')
      await e.app.save(record)
    }),
    bound('onRecordCreateRequest', (e) => (e.record.get('slug') === 'stop' ? undefined : e.next())),
  )
  const { id } = await world.writes.create(NOBODY, 'posts', { title: 'a' })
  await world.writes.delete(NOBODY, 'posts', id as string)
  expect(await world.stored('posts')).toMatchObject({ [id as string]: { slug: 'deleted' } })
  expect(await refusal(world.writes.create(NOBODY, 'posts', { title: 'a', slug: 'stop' }))).toEqual([
    'INVALID',
    'A hook has stopped the request: it has not called next().',
  ])
})

test('changes of a hook join the newest record, whatever was written meanwhile', async () => {
  await using world = await withHooks(
    bound('onRecordUpdate', async (e) => {
      e.record.set('edits+', 1)
      await new Promise((resolve) => setImmediate(resolve))
      await e.next()
    }),
  )
  const { id } = await world.writes.create(NOBODY, 'posts', { title: 'a' })
  const slugs = Array.from({ length: 20 }, (_, index) => `s${index}`)
  await Promise.all(slugs.map((slug) => world.writes.update(NOBODY, 'posts', id as string, { slug })))
  expect(await world.stored('posts')).toMatchObject({ [id as string]: { edits: 20 } })
})

test('hooks of a batch run before it, and end when it is whole or refused', async () => {
  const seen: string[] = []
  await using world = await withHooks(
    bound('onRecordCreate', async (e) => {
      e.record.set('slug', `${e.record.getString('title')}!`)
      await e.next()
      seen.push(`created ${e.record.getString('slug')}`)
    }),
    bound('onRecordAfterCreateError', (e) => (seen.push('failed'), e.next())),
  )
  const { request } = NOBODY
  const create = (title: string) => ({ action: 'create', collection: 'posts', input: { title }, request }) as const
  const { principal } = NOBODY
  const written = await world.writes.batch(principal, [create('a'), create('b')], { workMsMax: 60_000 })
  expect(written).toMatchObject([{ slug: 'a!' }, { slug: 'b!' }])
  expect(seen.splice(0)).toEqual(['created a!', 'created b!'])
  expect(await refusal(world.writes.batch(principal, [create('c'), create('')], { workMsMax: 60_000 }))).toBeDefined()
  expect(seen.splice(0).sort()).toEqual(['failed', 'failed'])
  expect(Object.keys(await world.stored('posts'))).toHaveLength(2)
})

test('hooks set passwords and files, which are hashed, stored and never shown', async () => {
  await using world = await withHooks(
    bound('onRecordCreate', (e) => {
      if (e.record.collection().name === 'people') e.record.set('password', 'from-the-hook')
      return e.next()
    }),
    bound('onRecordCreateRequest', (e) => {
      if (e.record.collection().name === 'posts') expect(e.record.getString('file')).toMatch(/^a\w+\.txt$/)
      return e.next()
    }),
  )
  const form = { email: 'ann@example.com', password: '1234567890', passwordConfirm: '1234567890' }
  const { id } = await world.writes.create(NOBODY, 'people', form)
  const [user] = Object.values(await world.stored('people'))
  expect(await world.passwords.verify(user!['password'] as string, 'from-the-hook')).toBe(true)
  expect((await world.app.findRecordById('people', id as string)).get('password')).toBe('')
  const post = await world.writes.create(NOBODY, 'posts', { title: 'a', file: upload('a.txt', 'hello') })
  expect(Object.keys((await world.stored('posts'))[post['id'] as string]!['_attachments'] as object)).toEqual([
    post['file'],
  ])
})

test('the application reads and writes without rules, and its writes run hooks but those of requests', async () => {
  const seen: string[] = []
  await using world = await withHooks(
    bound('onRecordCreateRequest', (e) => (seen.push('request'), e.next())),
    bound('onRecordCreate', (e) => (seen.push('create'), e.next())),
  )
  const { app } = world
  for (const title of ['a', "b'\\", 'forbidden']) {
    const record = app.newRecord('posts', { title, edits: title.length })
    await app.save(record)
    expect(record.id).toMatch(/^[a-z0-9]{15}$/)
  }
  expect(seen).toEqual(['create', 'create', 'create'])
  const user = app.newRecord('people', { email: 'ann@example.com', password: '1234567890' })
  await app.save(user)
  expect((await app.findAuthRecordByEmail('people', 'ann@example.com')).id).toBe(user.id)
  expect((await app.findFirstRecordByData('posts', 'title', "b'\\")).getInt('edits')).toBe(3)
  expect(
    (await app.findRecordsByFilter('posts', 'title ~ {:part}', '-title', 1, 0, { part: 'b' })).map((one) =>
      one.get('title'),
    ),
  ).toEqual(['forbidden'])
  expect(await app.countRecords('posts', 'edits > {:least}', { least: 1 })).toBe(2)
  await app.delete(await app.findFirstRecordByFilter('posts', 'title = "a"'))
  expect(await app.countRecords('posts')).toBe(2)
  await expect(app.findRecordById('posts', 'nope')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(app.findRecordsByFilter('posts', 'nope = 1')).rejects.toMatchObject({ code: 'INVALID' })
})

test('a handler is given up after its time, with its file and line in the log, and writes nothing then', async () => {
  const logged: unknown[] = []
  const environment = virtualEnvironment()
  const hooks = new Hooks({
    environment,
    log: (message, { hook, source }) => logged.push([message, hook, source]),
  })
  let wrote = false
  const later = Promise.withResolvers<void>()
  hooks.replace([
    bound('onRecordValidate', async (e) => {
      await later.promise
      await e.next()
    }),
  ])
  const run = hooks.trigger('onRecordValidate', {} as never, [], async () => void (wrote = true))
  const refused = expect(run).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await environment.advance(59_999)
  expect(logged).toEqual([])
  await environment.advance(1)
  await refused
  expect(logged).toEqual([['a hook takes too long', 'onRecordValidate', expect.stringMatching(/:\d+$/)]])
  later.resolve()
  await environment.idle()
  expect(wrote).toBe(false)
})

test('tags choose collections, by name or id', async () => {
  const seen: unknown[] = []
  await using world = await withHooks(
    bound('onRecordCreate', (e) => (seen.push(e.record.collection().name), e.next()), 'posts'),
  )
  await world.writes.create(NOBODY, 'posts', { title: 'a' })
  await world.writes.create(NOBODY, 'people', {
    password: '1234567890',
    passwordConfirm: '1234567890',
    email: 'a@b.cd',
  })
  expect(seen).toEqual(['posts'])
})

test('a text that is made of a pattern is made once: what hooks see is stored', async () => {
  const slug = { name: 'slug', type: 'text', autogeneratePattern: '[a-z]{8}' }
  await using world = await openClosing([{ ...POSTS, fields: [{ name: 'title', type: 'text' }, slug] }])
  const seen: string[][] = []
  const see: HookHandler<HookEvents['onRecordCreate']> = async (e) => {
    if (e.record.get('title') === 'by a hook') e.record.set('slug:autogenerate', 'x-')
    seen.push([e.record.id, e.record.getString('slug')])
    await e.next()
    seen.push([e.record.id, e.record.getString('slug')])
  }
  world.hooks.replace([bound('onRecordCreate', see), bound('onRecordUpdate', see)])
  const write = async (title: string, more: object = {}, id?: string): Promise<unknown[]> => {
    const { writes } = world
    const input = { title, ...more }
    const made = await (id === undefined
      ? writes.create(NOBODY, 'posts', input)
      : writes.update(NOBODY, 'posts', id, input))
    return [made['id'], made['slug']]
  }
  const [id] = await write('plain')
  const stored = [
    [id, (await world.stored('posts'))[String(id)]!['slug']],
    await write('by a hook'),
    await write('by a request', { 'slug:autogenerate': 'y-' }),
    await write('again', { 'slug:autogenerate': 'z-' }, String(id)),
    await write('by a hook', {}, String(id)),
  ]
  expect(seen).toEqual(stored.flatMap((pair) => [pair, pair]))
  expect(stored.map(([, text]) => String(text).replace(/[a-z]{8}$/, ''))).toEqual(['', 'x-', 'y-', 'z-', 'x-'])
})

test('a hook can store no half of a surrogate pair, as no request can; one that is stored hinders no other change', async () => {
  const half = '\ud83d'
  const values: Readonly<Record<string, unknown>> = {
    title: `a${half}`,
    page: `<p>${half}</p>`,
    kinds: [half],
    facts: { a: [{ [half]: 1 }] },
    link: `https://example.com/${half}`,
  }
  await using world = await openClosing([
    {
      ...POSTS,
      fields: [
        { name: 'title', type: 'text' },
        { name: 'page', type: 'editor' },
        { name: 'kinds', type: 'select', maxSelect: 2, values: ['a', half] },
        { name: 'facts', type: 'json' },
        { name: 'link', type: 'url' },
        { name: 'other', type: 'text' },
      ],
    },
  ])
  for (const [name, value] of Object.entries(values)) {
    world.hooks.replace([
      bound('onRecordCreate', async (e) => {
        e.record.set(name, value)
        await e.next()
      }),
    ])
    expect(await refusal(world.writes.create(NOBODY, 'posts', {})), name).toMatchObject([
      'INVALID',
      expect.anything(),
      { [name]: 'validation_not_unicode' },
    ])
  }
  world.hooks.replace([])
  expect(await world.writes.create(NOBODY, 'posts', { title: '😀', facts: '"\\\\ud83d"' })).toMatchObject({
    title: '😀',
  })
  const definition = world.definitions.get('posts')
  const stored = world.definitions.records(definition)
  const { id } = await world.writes.create(NOBODY, 'posts', { title: 'old' })
  await stored.update(String(id), { title: `old${half}`, facts: { half } })
  expect(await world.writes.update(NOBODY, 'posts', String(id), { other: 'new' })).toMatchObject({ other: 'new' })
})
