/** Goal: whoever lets `open` choose meets each database where it is, and no database is ever hidden by another one. */
import { expect, test } from 'vitest'
import { PannierError } from '../../src/base/errors.ts'
import { destroyByChoice, openByChoice, type Choice, type Place } from '../../src/database/lifecycle/choose-storage.ts'
import type { Database } from '../../src/database/database.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { assertRejects } from '../../testing/check.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'
import { deviceKey } from '../storage/encrypted/fixture.ts'

const NAME = 'notes'

/** A storage that knows which databases were opened in it, and that can be made to refuse. */
class TestPlace implements Place {
  readonly storage: DatabaseStorage
  readonly made = new Set<string>()
  refuses: string | undefined
  refusesToDestroy = false

  constructor(inner: DatabaseStorage) {
    this.storage = {
      kind: inner.kind,
      scope: inner.scope,
      identify: (name) => inner.identify(name),
      open: async (name) => {
        if (this.refuses !== undefined) throw new PannierError(this.refuses as 'PANNIER_UNAVAILABLE', 'no')
        const store = await inner.open(name)
        this.made.add(name)
        return store
      },
      destroy: async (name) => {
        if (this.refusesToDestroy) throw new PannierError('PANNIER_IO', 'no')
        await inner.destroy(name)
        this.made.delete(name)
      },
    }
  }

  async has(name: string): Promise<boolean> {
    return this.made.has(name)
  }
}

interface TestChoice extends Choice {
  readonly preferred: TestPlace
  readonly fallback: TestPlace
}

function newChoice(): TestChoice {
  return { preferred: new TestPlace(new RawFileStorage()), fallback: new TestPlace(memory()) }
}

async function put(db: Database, id: string): Promise<void> {
  await db.collection('notes').put({ _id: id })
}

async function idsOf(db: Database): Promise<string[]> {
  return (await db.collection('notes').list().toArray()).map(({ id }) => id)
}

/** What those who let `open` choose find. */
async function found(choice: Choice, options = {}): Promise<[string, string[]]> {
  const db = await openByChoice(choice, NAME, options)
  const ids = await idsOf(db)
  await db.close()
  return [db.storage, ids]
}

test('a new one goes to the preferred storage, also when two open it at once', async () => {
  const choice = newChoice()
  const both = await Promise.all([openByChoice(choice, NAME, {}), openByChoice(choice, NAME, {})])
  await Promise.all(both.map((db, n) => put(db, `n${n}`)))
  for (const db of both) {
    await db.refresh()
    expect([db.storage, await idsOf(db)]).toEqual(['raw files', ['n0', 'n1']])
  }
  for (const db of both) await db.close()
  expect(choice.fallback.made.size).toBe(0)
})

test('it stays where it was made: in the fallback if the preferred storage was not available', async () => {
  const choice = newChoice()
  choice.preferred.refuses = 'PANNIER_UNAVAILABLE'
  const db = await openByChoice(choice, NAME, {})
  await put(db, 'a')
  await db.close()
  choice.preferred.refuses = undefined
  expect(await found(choice)).toEqual(['memory', ['a']])
  const again = await openByChoice(choice, NAME, {})
  await again.moveTo(choice.preferred.storage)
  expect(await found(choice)).toEqual(['raw files', ['a']])
})

test('where it is and can not be opened is told, and nothing is made elsewhere', async () => {
  const choice = newChoice()
  await (await openByChoice(choice, NAME, {})).close()
  choice.preferred.refuses = 'PANNIER_UNAVAILABLE'
  await assertRejects(openByChoice(choice, NAME, {}), 'PANNIER_UNAVAILABLE')
  choice.preferred.refuses = 'PANNIER_QUOTA_EXCEEDED'
  await assertRejects(openByChoice(choice, 'another', {}), 'PANNIER_QUOTA_EXCEEDED')
  expect(choice.fallback.made.size).toBe(0)
})

test.each([
  ['to the preferred storage', 'fallback', 'preferred', {}],
  ['to the fallback', 'preferred', 'fallback', {}],
  ['to the preferred storage, encrypted', 'fallback', 'preferred', { encryption: { key: deviceKey } }],
] as const)('of a move %s that was cut off the copy goes, and the original is opened', async (_, from, to, options) => {
  const choice = newChoice()
  const db = await open(NAME, { storage: choice[from].storage, ...options })
  await put(db, 'a')
  choice[from].refusesToDestroy = true
  await assertRejects(db.moveTo(choice[to].storage, options), 'PANNIER_IO')
  choice[from].refusesToDestroy = false
  await put(db, 'b')
  await db.close()
  expect([...choice[to].made]).toEqual([NAME])
  expect(await found(choice, options)).toEqual([choice[from].storage.kind, ['a', 'b']])
  expect([...choice[to].made]).toEqual([])
})

test('a copy that somebody has written to is a database of its own: neither is chosen, or deleted', async () => {
  const choice = newChoice()
  for (const [place, id] of [
    [choice.preferred, 'a'],
    [choice.fallback, 'b'],
  ] as const) {
    const db = await open(NAME, { storage: place.storage })
    await put(db, id)
    await db.close()
  }
  await assertRejects(openByChoice(choice, NAME, {}), 'PANNIER_EXISTS')
  for (const { storage } of [choice.preferred, choice.fallback]) {
    const db = await open(NAME, { storage })
    expect(await idsOf(db)).toHaveLength(1)
    await db.close()
  }
  await destroyByChoice(choice, NAME)
  expect([choice.preferred.made.size, choice.fallback.made.size]).toEqual([0, 0])
})

test('wrong arguments are told at once', () => {
  const choice = newChoice()
  expect(() => openByChoice(choice, '', {})).toThrow(TypeError)
  expect(() => openByChoice(choice, NAME, { cacheBytesMax: 1 })).toThrow(TypeError)
  expect(() => destroyByChoice(choice, '')).toThrow(TypeError)
})

test('an empty shell in either storage is no database', async () => {
  for (const [full, empty] of [
    ['preferred', 'fallback'],
    ['fallback', 'preferred'],
  ] as const) {
    const choice = newChoice()
    const db = await open(NAME, { storage: choice[full].storage })
    await put(db, 'a')
    await db.close()
    await (await choice[empty].storage.open(NAME)).close()
    expect(await found(choice)).toEqual([choice[full].storage.kind, ['a']])
  }
})

test('a handle that opens it while it is moved waits, and finds it moved', async () => {
  const choice = newChoice()
  const db = await open(NAME, { storage: choice.fallback.storage })
  await put(db, 'a')
  const begun = Promise.withResolvers<void>()
  const moving = db.moveTo(choice.preferred.storage, { onProgress: () => begun.resolve() })
  await begun.promise
  const abort = new AbortController()
  const given = assertRejects(openByChoice(choice, NAME, { signal: abort.signal }), 'PANNIER_ABORTED')
  abort.abort()
  await given
  expect(await found(choice)).toEqual(['raw files', ['a']])
  await moving
})
