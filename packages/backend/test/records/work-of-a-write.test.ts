/** Goal: a write does each piece of its work once, whatever hooks there are. Method: count calls of the parts that do it. */
import { afterEach, expect, test, vi } from 'vitest'
import { TEXT } from '../../src/fields/types/text.ts'
import { openWorld, ADMIN, NOBODY, type World } from './world.ts'

const POSTS = {
  name: 'posts',
  createRule: "title != 'secret'",
  updateRule: 'size < 9',
  fields: [
    { type: 'text', name: 'title', required: true },
    { type: 'text', name: 'slug', autogeneratePattern: '[a-z]{9}' },
    { type: 'number', name: 'size' },
    { type: 'autodate', name: 'updated', onCreate: true, onUpdate: true },
  ],
}

let world: World
afterEach(() => {
  vi.restoreAllMocks()
  return world.close()
})

/** The texts that are checked, and how often the definition of the collection is looked up. */
async function counted(
  write: () => Promise<unknown>,
): Promise<{ readonly checked: unknown[]; readonly found: number }> {
  const checks = vi.spyOn(TEXT, 'check')
  const finds = vi.spyOn(world.definitions, 'find')
  await write()
  const found = finds.mock.calls.filter(([name]) => name === 'posts').length
  return { checked: checks.mock.calls.map(([{ name }]) => name), found }
}

const hook = (set?: (record: { set(name: string, value: unknown): void }) => void) => (name: string) => ({
  name: name as 'onRecordCreate',
  tags: ['posts'],
  source: 'hooks/test.ts:1',
  handler: async (e: { readonly record: never; next(): Promise<void> }): Promise<void> => {
    set?.(e.record)
    await e.next()
  },
})
const CHANGING = hook((record) => record.set('title', 'by the hook'))

test.each([
  ['no hook', [], ['id', 'title', 'slug']],
  ['hooks', ['onRecordCreateRequest', 'onRecordCreate', 'onRecordValidate'].map(hook()), ['id', 'title', 'slug']],
  ['a hook that changes a field', ['onRecordCreate'].map(CHANGING), ['id', 'title', 'slug', 'title']],
])('a create with %s looks its definition up once, and checks what is new', async (_name, hooks, checked) => {
  world = await openWorld([POSTS])
  world.hooks.replace(hooks)
  const made = await counted(() => world.writes.create(NOBODY, 'posts', { title: 'one' }))
  expect(made).toEqual({ checked, found: 1 })
})

test.each([
  ['no hook', [], ['id', 'title', 'slug']],
  ['hooks', ['onRecordUpdateRequest', 'onRecordUpdate', 'onRecordValidate'].map(hook()), ['id', 'title', 'slug']],
])('an update with %s looks its definition up once, and checks each field once', async (_name, hooks, checked) => {
  world = await openWorld([POSTS])
  const { id } = await world.writes.create(ADMIN, 'posts', { title: 'one' })
  world.hooks.replace(hooks)
  const made = await counted(() => world.writes.update(NOBODY, 'posts', String(id), { title: 'two' }))
  expect(made).toEqual({ checked, found: 1 })
})

test('what hooks have seen is stored, with the date of the write', async () => {
  world = await openWorld([POSTS])
  const seen: unknown[] = []
  const slow = hook()('onRecordCreate')
  const handler = async (e: {
    readonly record: { get(name: string): unknown }
    next(): Promise<void>
  }): Promise<void> => {
    seen.push(e.record.get('slug'))
    await world.environment.advance(5000)
    await e.next()
  }
  world.hooks.replace([{ ...slow, handler }] as never)
  const { slug, updated } = await world.writes.create(NOBODY, 'posts', { title: 'one' })
  expect([slug]).toEqual(seen)
  expect(Date.parse(String(updated))).toBe(world.environment.wallClock())
})

test('another write while a hook runs is seen by the write: it drafts the record again', async () => {
  world = await openWorld([POSTS])
  const { id } = await world.writes.create(ADMIN, 'posts', { title: 'one', size: 1 })
  let isFirst = true
  const handler = async (e: { next(): Promise<void> }): Promise<void> => {
    if (isFirst) {
      isFirst = false
      await world.writes.update(ADMIN, 'posts', String(id), { 'size+': 3 })
    }
    await e.next()
  }
  world.hooks.replace([{ ...hook()('onRecordUpdate'), handler }] as never)
  expect(await world.writes.update(NOBODY, 'posts', String(id), { 'size+': 1 })).toMatchObject({ size: 5 })
})
