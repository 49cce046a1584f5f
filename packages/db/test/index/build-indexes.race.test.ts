/**
 * Goal: an index that is built while documents are written, in however many chunks, by however many builders, interrupted and
 * resumed, ends up with exactly the entries that the integrity check expects; and the check holds at every moment on the way.
 */
import { expect, test } from 'vitest'
import type { Environment } from '../../src/base/environment.ts'
import { PannierError } from '../../src/base/errors.ts'
import type { Database } from '../../src/database/database.ts'
import { Catalog } from '../../src/document/catalog.ts'
import { buildIndexes } from '../../src/index/build-indexes.ts'
import type { BuildOptions } from '../../src/index/build-indexes.ts'
import { defineIndexes, parseIndexInput, type IndexInput } from '../../src/index/index-definition.ts'
import { selectorTest } from '../../src/query/selector-test.ts'
import type { KeyValueStore } from '../../src/kv/key-value-store.ts'
import { open } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { countingEnvironment, databaseOver } from '../../testing/model-database.ts'
import { modelKeyValueStore } from '../../testing/model-key-value-store.ts'
import { seededRandom } from '../../testing/random.ts'
import type { Random } from '../../testing/random.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

const INDEXES: IndexInput[] = [
  'age',
  { on: ['city', 'name'], text: true },
  ['city', '-age'],
  { on: 'tags', multi: true },
  { on: 'age', where: { city: { $in: ['c1', 'c2', 'new'] } } },
  { on: '_id', unique: true },
]

interface Setting {
  readonly store: KeyValueStore
  readonly catalog: Catalog
  readonly db: Database
  readonly environment: Environment
}

/** Everybody who waits lets `meanwhile` happen first. */
function setting(options: { seed: number; missChance: number }): Setting & { meanwhile: () => Promise<void> } {
  const store = modelKeyValueStore(options)
  const base = countingEnvironment()
  let time = 0
  const result = {
    store,
    catalog: new Catalog(() => base.randomId()),
    db: databaseOver(store, base),
    // Every look at the clock finds that it is time to let others go on.
    environment: { ...base, now: () => (time += 100), yield: () => result.meanwhile() },
    meanwhile: () => Promise.resolve(),
  }
  return result
}

async function define({ store, catalog }: Setting, indexes: readonly IndexInput[]): Promise<void> {
  await store.write((tx) => {
    const state = catalog.collection(tx, 'docs')!
    defineIndexes(tx, catalog, state, indexes.map(parseIndexInput))
  })
}

function build(context: Setting, options: Partial<BuildOptions> = {}): Promise<void> {
  const { store, catalog, environment } = context
  return buildIndexes({ store, catalog, environment, compile: selectorTest, name: 'docs', ...options })
}

function document(random: Random, at: number): Record<string, unknown> {
  return {
    _id: `d${at}`,
    age: random.below(20),
    city: `c${random.below(5)}`,
    tags: [random.below(4), random.below(4)],
    name: `Näme ${random.below(9)} of many`,
  }
}

/** One write of any kind. */
async function writeSomething(db: Database, random: Random): Promise<void> {
  const docs = db.collection('docs')
  const id = `d${random.below(260)}`
  const kind = random.below(3)
  if (kind === 0) await docs.delete(id)
  else if (kind === 1) await docs.upsert({ ...document(random, 0), _id: id })
  else await docs.insert({ age: random.below(20), city: 'new' })
}

for (const seed of seedsOf('race', 2)) {
  test(`builds while others write, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, async () => {
    const random = seededRandom(seed)
    const context = setting({ seed, missChance: random.pick([0, 0.3, 1]) })
    const { db } = context
    await db.collection('docs').insert(Array.from({ length: 200 }, (_, at) => document(random, at)))
    for (let count = 0; count < 30; count++) await writeSomething(db, random)
    await define(context, INDEXES.slice(0, 2))
    const keyBytesMax = random.pick([1, 500, 5000, 1_000_000])
    const writes: Promise<void>[] = []
    const chance = random.fork()
    context.meanwhile = async () => {
      // Not waited for: the builder may hold the lease.
      if (writes.length < 100 && chance.chance(0.5)) writes.push(writeSomething(db, chance))
      if (chance.chance(0.05)) expect((await db.check()).problems).toEqual([])
    }
    const builder = new AbortController()
    const first = build(context, { keyBytesMax, signal: builder.signal }).catch((error: unknown) => {
      if (!(error instanceof PannierError && error.code === 'PANNIER_ABORTED')) throw error
    })
    for (let turn = random.below(60); turn > 0; turn--) await Promise.resolve()
    if (random.chance(0.5)) builder.abort()
    if (random.chance(0.5)) await define(context, INDEXES)
    await first
    const progress: number[] = []
    await Promise.all([
      build(context, { keyBytesMax, onProgress: (done) => progress.push(done) }),
      build(context, { keyBytesMax }),
    ])
    await Promise.all(writes)
    await build(context)
    const state = await context.store.read((snapshot) => context.catalog.collection(snapshot, 'docs'))
    expect(state!.indexes.every(({ builtTo }) => builtTo === undefined)).toBe(true)
    expect((await db.check()).problems).toEqual([])
    expect(progress.every((done, at) => done >= 0 && done <= 1 && (at === 0 || done >= progress[at - 1]! - 0.5))).toBe(
      true,
    )
  })
}

test('values that are mostly different, some of them equal, of documents that were written again', async () => {
  const random = seededRandom(1)
  await using db = await open('x', { storage: memory() })
  const docs = db.collection<{ _id: string; group: string; value: number | string }>('docs')
  const one = (at: number): { _id: string; group: string; value: number | string } => {
    const number = random.below(20_000)
    return { _id: `d${at}`, group: `g${random.below(3)}`, value: random.chance(0.5) ? number : `text ${number}` }
  }
  await docs.insert(Array.from({ length: 8000 }, (_, at) => one(at)))
  await docs.upsert(Array.from({ length: 2000 }, () => one(random.below(8000))))
  await db.collection('docs', { indexes: ['value', ['group', '-value'], ['value', 'group']] }).ready()
  expect((await db.check()).problems).toEqual([])
})

test('progress ends with 1', async () => {
  const context = setting({ seed: 1, missChance: 0 })
  const random = seededRandom(1)
  await context.db.collection('docs').insert(Array.from({ length: 200 }, (_, at) => document(random, at)))
  await define(context, INDEXES)
  const progress: number[] = []
  await build(context, { keyBytesMax: 2000, onProgress: (done) => progress.push(done) })
  expect(progress.length).toBeGreaterThan(3)
  expect([...progress].sort((a, b) => a - b)).toEqual(progress)
  expect(progress.at(-1)).toBe(1)
})

test('a cancelled build keeps what it has done, and another continues from there', async () => {
  const context = setting({ seed: 1, missChance: 0 })
  const random = seededRandom(1)
  await context.db.collection('docs').insert(Array.from({ length: 200 }, (_, at) => document(random, at)))
  await define(context, ['age'])
  const controller = new AbortController()
  const aborted = build(context, {
    keyBytesMax: 2000,
    signal: controller.signal,
    onProgress: (done) => done > 0.4 && controller.abort('enough'),
  })
  await expect(aborted).rejects.toMatchObject({ code: 'PANNIER_ABORTED', cause: 'enough' })
  const read = () => context.store.read((snapshot) => context.catalog.collection(snapshot, 'docs')!.indexes[0]!.builtTo)
  expect(await read()).toBeGreaterThan(50)
  expect((await context.db.check()).problems).toEqual([])
  await build(context)
  expect(await read()).toBeUndefined()
  expect((await context.db.check()).problems).toEqual([])
})

test('a collection that is dropped while its index is built', async () => {
  const context = setting({ seed: 1, missChance: 0 })
  const random = seededRandom(1)
  await context.db.collection('docs').insert(Array.from({ length: 200 }, (_, at) => document(random, at)))
  await define(context, ['age'])
  let dropped: Promise<boolean> | undefined
  context.meanwhile = async () => {
    dropped ??= context.db.dropCollection('docs')
  }
  await build(context, { keyBytesMax: 500 })
  expect(await dropped).toBe(true)
  expect(await context.db.collections()).toEqual([])
  expect(context.store.snapshot().treeNames()).toEqual(['catalog'])
})
