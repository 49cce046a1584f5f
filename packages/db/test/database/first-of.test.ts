/** Goal: `firstOf` opens each database where it is, and no database is ever hidden by another one. */
import { expect, test } from 'vitest'
import { PannierError } from '../../src/base/errors.ts'
import { repair } from '../../src/database/check/repair.ts'
import type { Database } from '../../src/database/database.ts'
import { destroy } from '../../src/database/lifecycle/destroy.ts'
import { firstOf } from '../../src/database/lifecycle/first-of.ts'
import { open, type OpenOptions } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'
import { deviceKey } from '../storage/encrypted/fixture.ts'

const NAME = 'notes'

/** A storage that knows which databases were opened in it, and that can be made to refuse. */
class TestPlace {
  readonly storage: DatabaseStorage
  readonly made = new Set<string>()
  refuses: string | undefined
  refusesToDestroy = false
  canKnow = true

  constructor(inner: DatabaseStorage) {
    this.storage = {
      kind: inner.kind,
      scope: inner.scope,
      identify: (name) => inner.identify(name),
      has: async (name) => (this.canKnow ? this.made.has(name) : undefined),
      open: async (name) => {
        if (this.refuses !== undefined) throw new PannierError(this.refuses as 'PANNIER_UNAVAILABLE', 'no')
        const store = await inner.open(name)
        this.made.add(name)
        return store
      },
      destroy: async (name) => {
        if (this.refusesToDestroy) throw new PannierError('PANNIER_IO_FAILED', 'no')
        await inner.destroy(name)
        this.made.delete(name)
      },
    }
  }
}

interface Choice {
  readonly first: TestPlace
  readonly second: TestPlace
  readonly storage: DatabaseStorage
}

function newChoice(): Choice {
  const [first, second] = [new TestPlace(new RawFileStorage()), new TestPlace(memory())]
  return { first, second, storage: firstOf(first.storage, second.storage) }
}

function openFirst({ storage }: Choice, name: string, options: OpenOptions = {}): Promise<Database> {
  return open(name, { ...options, storage })
}

async function put(db: Database, id: string): Promise<void> {
  await db.collection('notes').put({ _id: id })
}

async function idsOf(db: Database): Promise<string[]> {
  return (await db.collection('notes').list().toArray()).map(({ id }) => id)
}

/** What is found by `firstOf`. */
async function found(choice: Choice, options = {}): Promise<[string, string[]]> {
  const db = await openFirst(choice, NAME, options)
  const ids = await idsOf(db)
  await db.close()
  return [db.storage, ids]
}

test('a new one goes to the first storage, also when two handles open it at once', async () => {
  const choice = newChoice()
  const both = await Promise.all([openFirst(choice, NAME), openFirst(choice, NAME)])
  await Promise.all(both.map((db, n) => put(db, `n${n}`)))
  for (const db of both) {
    await db.refresh()
    expect([db.storage, await idsOf(db)]).toEqual(['raw files', ['n0', 'n1']])
  }
  for (const db of both) await db.close()
  expect(choice.second.made.size).toBe(0)
})

test('it stays where it was made: in the second storage if the first was not available', async () => {
  const choice = newChoice()
  choice.first.refuses = 'PANNIER_UNAVAILABLE'
  const db = await openFirst(choice, NAME)
  await put(db, 'a')
  await db.close()
  choice.first.refuses = undefined
  expect(await found(choice)).toEqual(['memory', ['a']])
  const again = await openFirst(choice, NAME)
  await again.moveTo(choice.first.storage)
  expect(await found(choice)).toEqual(['raw files', ['a']])
})

test('a database that cannot be opened where it is fails, and no database is created elsewhere', async () => {
  const choice = newChoice()
  await (await openFirst(choice, NAME)).close()
  choice.first.refuses = 'PANNIER_UNAVAILABLE'
  await expect(openFirst(choice, NAME)).rejects.toMatchObject({ code: 'PANNIER_UNAVAILABLE' })
  choice.first.refuses = 'PANNIER_QUOTA_EXCEEDED'
  await expect(openFirst(choice, 'another')).rejects.toMatchObject({ code: 'PANNIER_QUOTA_EXCEEDED' })
  expect(choice.second.made.size).toBe(0)
})

test.each([
  ['to the first storage', 'second', 'first', {}],
  ['to the second storage', 'first', 'second', {}],
  ['to the first storage, encrypted', 'second', 'first', { encryption: { key: deviceKey } }],
] as const)(
  'after an interrupted move %s the original is opened, and the copy is deleted',
  async (_, from, to, options) => {
    const choice = newChoice()
    const db = await open(NAME, { storage: choice[from].storage, ...options })
    await put(db, 'a')
    choice[from].refusesToDestroy = true
    await expect(db.moveTo(choice[to].storage, options)).rejects.toMatchObject({ code: 'PANNIER_IO_FAILED' })
    choice[from].refusesToDestroy = false
    await put(db, 'b')
    await db.close()
    expect([...choice[to].made]).toEqual([NAME])
    expect(await found(choice, options)).toEqual([choice[from].storage.kind, ['a', 'b']])
    expect([...choice[to].made]).toEqual([])
  },
)

test('a copy that somebody has written to is a database of its own: neither is chosen, or deleted', async () => {
  const choice = newChoice()
  for (const [place, id] of [
    [choice.first, 'a'],
    [choice.second, 'b'],
  ] as const) {
    const db = await open(NAME, { storage: place.storage })
    await put(db, id)
    await db.close()
  }
  await expect(openFirst(choice, NAME)).rejects.toMatchObject({ code: 'PANNIER_EXISTS' })
  for (const { storage } of [choice.first, choice.second]) {
    const db = await open(NAME, { storage })
    expect(await idsOf(db)).toHaveLength(1)
    await db.close()
  }
  await destroy(NAME, { storage: choice.storage })
  expect([choice.first.made.size, choice.second.made.size]).toEqual([0, 0])
})

test('wrong arguments fail at once', () => {
  const { storage } = newChoice()
  expect(() => open('', { storage })).toThrow(TypeError)
  expect(() => open(NAME, { storage, cacheBytesMax: 1 })).toThrow(TypeError)
  expect(() => destroy('', { storage })).toThrow(TypeError)
  expect(() => firstOf()).toThrow(TypeError)
  expect(() => firstOf(memory(), storage)).toThrow(TypeError)
  expect(() => firstOf({} as DatabaseStorage)).toThrow(TypeError)
  expect(() => firstOf(memory(), { onSevral: () => undefined } as object)).toThrow(/did you mean 'onSeveral'/)
})

test('where none of them works the last one says why', async () => {
  const choice = newChoice()
  choice.first.refuses = choice.second.refuses = 'PANNIER_UNAVAILABLE'
  await expect(openFirst(choice, NAME)).rejects.toMatchObject({ code: 'PANNIER_UNAVAILABLE' })
  expect(await choice.storage.has(NAME)).toBe(false)
})

test('one that is opened by its storage alone shares the database: lease, commits and all', async () => {
  const choice = newChoice()
  const [one, other] = [await openFirst(choice, NAME), await open(NAME, { storage: choice.first.storage })]
  await Promise.all([put(one, 'a'), put(other, 'b')])
  expect([await idsOf(one), await idsOf(other)]).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ])
  for (const db of [one, other]) await db.close()
})

test('it is repaired where it is, and can only be moved to one storage', async () => {
  const choice = newChoice()
  const db = await open(NAME, { storage: choice.second.storage })
  await put(db, 'a')
  await expect(db.moveTo(choice.storage)).rejects.toThrow(TypeError)
  await db.close()
  await repair(NAME, { to: 'repaired', storage: choice.storage })
  expect([...choice.second.made].sort()).toEqual([NAME, 'repaired'])
  await db.close()
})

test('an empty shell in either storage is no database', async () => {
  for (const [full, empty] of [
    ['first', 'second'],
    ['second', 'first'],
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
  const db = await open(NAME, { storage: choice.second.storage })
  await put(db, 'a')
  const begun = Promise.withResolvers<void>()
  const moving = db.moveTo(choice.first.storage, { onProgress: () => begun.resolve() })
  await begun.promise
  const abort = new AbortController()
  const given = expect(openFirst(choice, NAME, { signal: abort.signal })).rejects.toMatchObject({
    code: 'PANNIER_ABORTED',
  })
  abort.abort()
  await given
  expect(await found(choice)).toEqual(['raw files', ['a']])
  await moving
})

test.each(['first', 'second'] as const)(
  'a %s storage that can not know whether it has a database is asked by opening it',
  async (place) => {
    const choice = newChoice()
    const { storage, ...places } = choice
    places[place].canKnow = false
    const db = await open(NAME, { storage: places[place].storage })
    await put(db, 'a')
    await db.close()
    expect(await storage.has(NAME)).toBeUndefined()
    expect(await found(choice)).toEqual([places[place].storage.kind, ['a']])
    const other = await openFirst(choice, 'other')
    expect(other.storage).toBe('raw files')
    await other.close()
    await destroy(NAME, { storage })
    expect(places[place].made.has(NAME)).toBe(false)
  },
)

test('where a storage can neither know nor open, no database is made elsewhere, and one that is elsewhere is opened', async () => {
  const choice = newChoice()
  choice.first.canKnow = false
  choice.first.refuses = 'PANNIER_UNAVAILABLE'
  await expect(openFirst(choice, NAME)).rejects.toMatchObject({ code: 'PANNIER_UNAVAILABLE' })
  expect(choice.second.made.size).toBe(0)
  const db = await open(NAME, { storage: choice.second.storage })
  await put(db, 'a')
  await db.close()
  expect(await found(choice)).toEqual(['memory', ['a']])
})

test.each([
  ['plain', {}],
  ['encrypted', { encryption: { key: deviceKey } }],
] as const)(
  'of several databases the error says how full each is, and onSeveral opens one and leaves the other: %s',
  async (_, options) => {
    const choice = newChoice()
    const { first, second } = choice
    for (const [place, count] of [
      [first, 2],
      [second, 20],
    ] as const) {
      const db = await open(NAME, { storage: place.storage, ...options })
      for (let n = 0; n < count; n++) await put(db, `${place.storage.kind} ${n}`)
      await db.close()
    }
    await expect(openFirst(choice, NAME, options)).rejects.toMatchObject({
      code: 'PANNIER_EXISTS',
      message: expect.stringMatching(/in memory \(commits: 20\) and raw files \(commits: 2\)/) as string,
      details: {
        found: [
          { storage: 'memory', commits: 20 },
          { storage: 'raw files', commits: 2 },
        ],
      },
    })
    const storage = firstOf(first.storage, second.storage, { onSeveral: ([fullest]) => fullest! })
    const [kind, ids] = await found({ ...choice, storage }, options)
    expect([kind, ids.length]).toEqual(['memory', 20])
    const other = await open(NAME, { storage: first.storage, ...options })
    expect(await idsOf(other)).toHaveLength(2)
    await other.close()
    const wrong = firstOf(first.storage, second.storage, {
      onSeveral: async ([fullest]: readonly never[]) => fullest!,
    } as never)
    await expect(open(NAME, { storage: wrong, ...options })).rejects.toThrow(
      /onSeveral must be synchronous, got a Promise/,
    )
  },
)
