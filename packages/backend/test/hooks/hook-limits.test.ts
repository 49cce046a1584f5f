/** Code of the operator can't end the server or hold it: what nobody awaits is logged, and what hooks start has an end. */
import { pause } from 'pannier/internal'
import { expect, test } from 'vitest'
import type { HookEvents, HookName } from '../../src/hooks/hook-events.ts'
import type { HookLog } from '../../src/hooks/hook-log.ts'
import { countCall, innerScope, within } from '../../src/hooks/hook-scope.ts'
import { Hooks, type BoundHook, type HookHandler } from '../../src/hooks/hooks.ts'
import { done, NOBODY, openWorld, refusal, type World } from '../records/world.ts'

const COLLECTIONS = ['notes', 'posts', 'log'].map((name) => ({
  name,
  type: 'base',
  createRule: '',
  updateRule: '',
  deleteRule: '',
  fields: [
    { name: 'text', type: 'text', max: 100 },
    { name: 'edits', type: 'number' },
  ],
}))

type Logged = readonly [message: string, details: Parameters<HookLog>[1]]

interface Hooked extends World {
  readonly logged: Logged[]
}

function bound<Name extends HookName>(
  name: Name,
  handler: HookHandler<HookEvents[Name]>,
  ...tags: readonly string[]
): BoundHook {
  return { name, handler, tags, source: 'hooks/test.ts:1' }
}

async function withHooks(...hooks: readonly BoundHook[]): Promise<Hooked & AsyncDisposable> {
  const logged: Logged[] = []
  const world = await openWorld(COLLECTIONS, { log: (message, details) => logged.push([message, details]) })
  world.hooks.replace(hooks)
  return { ...world, logged, [Symbol.asyncDispose]: () => world.close() }
}

const RECURSIONS: Readonly<Record<string, readonly BoundHook[]>> = {
  'an update that updates its own record': [
    bound(
      'onRecordUpdate',
      async (e) => {
        const record = await e.app.findRecordById('notes', e.record.id)
        record.set('edits+', 1)
        await e.app.save(record)
        await e.next()
      },
      'notes',
    ),
  ],
  'an update that updates its own record afterwards': [
    bound(
      'onRecordAfterUpdateSuccess',
      async (e) => {
        e.record.set('edits+', 1)
        await e.app.save(e.record)
        await e.next()
      },
      'notes',
    ),
  ],
  'hooks of two collections in turn': [
    bound(
      'onRecordUpdate',
      async (e) => {
        await e.app.save(e.app.newRecord('posts', { text: 'a' }))
        await e.next()
      },
      'notes',
    ),
    bound(
      'onRecordCreate',
      async (e) => {
        const [note] = await e.app.findRecordsByFilter('notes', '')
        note!.set('edits+', 1)
        await e.app.save(note!)
        await e.next()
      },
      'posts',
    ),
  ],
  'a hook of all collections that writes a log': [
    bound('onModelUpdate', async (e) => {
      await e.app.save(e.app.newRecord('log', { text: 'updated' }))
      await e.next()
    }),
    bound('onModelCreate', async (e) => {
      await e.app.save(e.app.newRecord('log', { text: 'made' }))
      await e.next()
    }),
  ],
  'a transaction in a transaction': [
    bound('onRecordUpdate', async (e) => {
      await e.app.runInTransaction(async (app) => {
        const record = await app.findRecordById('notes', e.record.id)
        record.set('edits+', 1)
        await app.save(record)
      })
      await e.next()
    }),
  ],
}

test.each(Object.entries(RECURSIONS))('%s ends with an error that names the hook', async (_, hooks) => {
  await using world = await withHooks(...hooks)
  const own = world.hooks
  world.hooks.replace([])
  const { id } = await world.writes.create(NOBODY, 'notes', { text: 'a' })
  own.replace(hooks)
  const error: unknown = await done(world, world.writes.update(NOBODY, 'notes', String(id), { text: 'b' })).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(String(error)).toMatch(/have started one another 16 times: on\w+ in hooks\/test\.ts:1/)
  expect(world.logged.some(([message]) => message === 'hooks start one another without an end')).toBe(true)
})

test('a delete that deletes its own record ends with an error that names the hook', async () => {
  const hook = bound('onRecordDelete', async (e) => {
    await e.app.delete(e.record)
    await e.next()
  })
  await using world = await withHooks(hook)
  const { id } = await world.writes.create(NOBODY, 'notes', { text: 'a' })
  expect(await refusal(done(world, world.writes.delete(NOBODY, 'notes', String(id))))).toEqual([
    'INVALID',
    expect.stringContaining('onRecordDelete in hooks/test.ts:1'),
  ])
})

test('many handlers around one write are not deep', async () => {
  const hooks = Array.from({ length: 40 }, () => bound('onRecordCreate', (e) => e.next()))
  await using world = await withHooks(...hooks)
  expect(await world.writes.create(NOBODY, 'notes', { text: 'a' })).toMatchObject({ text: 'a' })
})

test('all that one write starts has one limit of writes; what a job writes has none', async () => {
  const event = { name: 'onRecordCreate', handler: () => {}, source: 'hooks/test.ts:1' }
  const job = { ...event, name: 'cronAdd nightly' }
  const scope = innerScope(event, true)
  for (let n = 0; n < 5000; n++) countCall(scope, true)
  const inner = within(scope, () => innerScope({ ...event, source: 'hooks/test.ts:2' }, true))
  for (let n = 0; n < 5000; n++) countCall(inner, true)
  countCall(inner, false)
  expect(() => countCall(inner, true)).toThrow(
    'written more than 10000 times, the last one from onRecordCreate in hooks/test.ts:2',
  )
  const free = innerScope(job, false)
  for (let n = 0; n < 20_000; n++) countCall(free, true)
  // Each of its writes begins again.
  const each = within(free, () => [1, 2].map(() => innerScope(event, true)))
  for (const one of each) for (let n = 0; n < 10_000; n++) countCall(one, true)
})

const FORGOTTEN: Readonly<Record<string, HookHandler<HookEvents['onRecordAfterCreateSuccess']>>> = {
  'a call without await': (e) => {
    void e.app.save(e.app.newRecord('log', { text: 'x'.repeat(200) }))
    return e.next()
  },
  'a call of a record that is not there': (e) => {
    void e.app.findRecordById('log', 'nowhere')
    return e.next()
  },
  'a chain without await': (e) => {
    void e.app.findRecordById('log', 'nowhere').then((record) => record.id)
    return e.next()
  },
  'a transaction without await': (e) => {
    void e.app.runInTransaction((app) => app.delete(e.app.newRecord('log')))
    return e.next()
  },
}

test.each(Object.entries(FORGOTTEN))('%s that fails is logged with its line', async (_, handler) => {
  await using world = await withHooks(bound('onRecordAfterCreateSuccess', handler, 'notes'))
  expect(await world.writes.create(NOBODY, 'notes', { text: 'a' })).toMatchObject({ text: 'a' })
  await world.environment.until(() => world.logged.length > 0)
  expect(world.logged).toHaveLength(1)
  const [message, { hook, source }] = world.logged[0]!
  expect(message).toMatch(/^app\.\w+\(\) of a hook has failed, and the hook did not await it$/)
  expect([hook, source]).toEqual([
    'onRecordAfterCreateSuccess',
    expect.stringMatching(/^hooks\/hook-limits\.test\.ts:\d+$/),
  ])
})

test('an error that the hook handles is not logged', async () => {
  const hook = bound('onRecordAfterCreateSuccess', async (e) => {
    await e.app.findRecordById('log', 'nowhere').catch(() => {})
    await Promise.allSettled([e.app.findRecordById('log', 'nowhere')])
    await e.next()
  })
  await using world = await withHooks(hook)
  await world.writes.create(NOBODY, 'notes', { text: 'a' })
  await world.environment.idle()
  expect(world.logged).toEqual([])
})

test('a handler that was given up can use the application no more', async () => {
  const refused: unknown[] = []
  const hook = bound('onRecordAfterCreateSuccess', async (e) => {
    await pause(world.environment, 70_000)
    const calls = [e.app.countRecords('notes'), e.app.save(e.app.newRecord('log')), e.app.delete(e.record)]
    for (const call of calls) await call.catch((error: unknown) => refused.push(String(error)))
    await e.next()
  })
  await using world = await withHooks(hook)
  const write = world.writes.create(NOBODY, 'notes', { text: 'a' })
  const message = 'onRecordAfterCreateSuccess in hooks/test.ts:1 takes too long.'
  expect(await refusal(done(world, write))).toEqual(['UNAVAILABLE', message])
  await world.environment.until(() => refused.length === 3)
  expect(refused).toEqual([1, 2, 3].map(() => `ServiceError: ${message}`))
})

test('an error that nobody waits for belongs to the hook that has begun the work', async () => {
  const logged: Logged[] = []
  await using world = await withHooks()
  const hooks = new Hooks({
    environment: world.environment,
    log: (message, details) => logged.push([message, details]),
  })
  const later = Promise.withResolvers<boolean>()
  const handler = { name: 'cronAdd late', handler: () => {}, source: 'hooks/test.ts:9' }
  await hooks.begin(handler, () => {
    void Promise.resolve().then(() => later.resolve(hooks.noteStray(new Error('late'))))
  })
  expect(await later.promise).toBe(true)
  expect(logged[0]).toMatchObject([
    'a hook has thrown where nobody waits',
    { hook: 'cronAdd late', source: 'hooks/test.ts:9' },
  ])
  expect(hooks.noteStray(new Error('not ours'))).toBe(false)
})
