/**
 * Goal: whatever is written, a collection answers as a Map would, its indexes hold what they should, and revisions go up; also
 * when reads find things missing in memory at random, when indexes come and go, and when another handle goes on.
 */
import * as fc from 'fast-check'
import { MemoryLevel } from 'memory-level'
import { test, expect } from 'vitest'
import { isPannierError } from '../../src/base/errors.ts'
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import { openKeyValueStore } from '../../src/kv/open.ts'
import { level } from '../../src/storage/level/level.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { countingEnvironment, databaseOver } from '../../testing/model-database.ts'
import { modelKeyValueStore } from '../../testing/model-key-value-store.ts'
import { seededRandom } from '../../testing/random.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'
import { openCold } from '../../testing/slow-database.ts'
import { slow } from '../../testing/slow-storage.ts'
import { SimulatedDisk } from '../../testing/simulated-disk.ts'
import { soloCoordinator } from '../kv/solo-coordinator.ts'
import { EVERYWHERE, times } from '../../../../tools/test/seeds.ts'

type Content = Record<string, unknown>

interface ModelDocument {
  readonly content: Content
  readonly generation: number
}

/** Live documents; and the last generation of every document that ever was. */
interface Model {
  readonly live: Map<string, ModelDocument>
  readonly generations: Map<string, number>
}

interface Real {
  db: Database
  reopen(): Promise<void>
}

type Command = fc.AsyncCommand<Model, Real>

const idArbitrary = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 12 }).map((at) => `d${at}`) },
  { weight: 1, arbitrary: fc.constantFrom('constructor', '\u0000', '\ud800', 'ü', '💡', '../', '_design/a') },
)

const contentArbitrary: fc.Arbitrary<Content> = fc.record(
  {
    age: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(null, 0.5, '1', true, {})),
    city: fc.constantFrom('Oslo', 'Rome', 'ü', ''),
    tags: fc.array(fc.constantFrom('a', 'b', 'c', 1, null), { maxLength: 4 }),
    nested: fc.record({ deep: fc.integer({ min: 0, max: 2 }) }, { noNullPrototype: true }),
    constructor: fc.constant('x'),
  },
  { requiredKeys: [], noNullPrototype: true },
)

const documentsArbitrary = fc.uniqueArray(fc.tuple(idArbitrary, contentArbitrary), {
  selector: ([id]) => id,
  minLength: 1,
  maxLength: 6,
})

const INDEXES = [
  'age',
  '-age',
  ['city', '-age'],
  { on: 'tags', multi: true },
  'nested.deep',
  ['constructor', '_id'],
] as const

function collectionOf({ db }: Real): Collection<Content> {
  return db.collection<Content>('docs')
}

class Write implements Command {
  readonly mode: 'insert' | 'upsert' | 'put'
  readonly documents: readonly (readonly [string, Content])[]

  constructor(mode: 'insert' | 'upsert' | 'put', documents: readonly (readonly [string, Content])[]) {
    this.mode = mode
    this.documents = documents
  }

  check(): boolean {
    return true
  }

  async run(model: Model, real: Real): Promise<void> {
    const fails = this.mode !== 'upsert' && this.documents.some(([id]) => model.live.has(id))
    const inputs = this.documents.map(([_id, content]) => ({ ...content, _id }))
    const code = await codeOf(collectionOf(real)[this.mode](inputs))
    expect(code).toStrictEqual(fails ? 'PANNIER_CONFLICT' : undefined)
    if (!fails) for (const [id, content] of this.documents) set(model, id, content)
  }

  toString(): string {
    return `${this.mode}(${JSON.stringify(this.documents)})`
  }
}

class PutCurrent implements Command {
  readonly id: string
  readonly content: Content
  readonly stale: boolean

  constructor(id: string, content: Content, stale: boolean) {
    this.id = id
    this.content = content
    this.stale = stale
  }

  check({ live }: Model): boolean {
    return live.has(this.id)
  }

  async run(model: Model, real: Real): Promise<void> {
    const { id, content, stale } = this
    const docs = collectionOf(real)
    const { _rev } = (await docs.get(id))!
    const code = await codeOf(docs.put({ ...content, _id: id, _rev: stale ? `0${_rev}` : _rev }))
    expect(code).toStrictEqual(stale ? 'PANNIER_CONFLICT' : undefined)
    if (!stale) set(model, id, content)
  }

  toString(): string {
    return `put(${JSON.stringify(this.id)}, ${this.stale ? 'stale' : 'current'}, ${JSON.stringify(this.content)})`
  }
}

class Update implements Command {
  readonly ids: readonly string[]
  readonly age: number

  constructor(ids: readonly string[], age: number) {
    this.ids = ids
    this.age = age
  }

  check(): boolean {
    return true
  }

  async run(model: Model, real: Real): Promise<void> {
    const { ids, age } = this
    const fails = ids.some((id) => !model.live.has(id))
    const code = await codeOf(collectionOf(real).update(ids, (document) => ({ ...document, age })))
    expect(code).toStrictEqual(fails ? 'PANNIER_NOT_FOUND' : undefined)
    if (!fails) for (const id of new Set(ids)) set(model, id, { ...model.live.get(id)!.content, age })
  }

  toString(): string {
    return `update(${JSON.stringify(this.ids)}, ${this.age})`
  }
}

class Delete implements Command {
  readonly ids: readonly string[]

  constructor(ids: readonly string[]) {
    this.ids = ids
  }

  check(): boolean {
    return true
  }

  async run(model: Model, real: Real): Promise<void> {
    const results = await collectionOf(real).delete(this.ids)
    expect(results.map((result) => result !== undefined)).toStrictEqual(this.ids.map((id) => model.live.has(id)))
    for (const id of new Set(this.ids)) {
      if (!model.live.delete(id)) continue
      model.generations.set(id, model.generations.get(id)! + 1)
    }
  }

  toString(): string {
    return `delete(${JSON.stringify(this.ids)})`
  }
}

class DeclareIndex implements Command {
  readonly at: number
  readonly wait: boolean

  constructor(at: number, wait: boolean) {
    this.at = at
    this.wait = wait
  }

  check(): boolean {
    return true
  }

  async run(_model: Model, real: Real): Promise<void> {
    const docs = real.db.collection('docs', { indexes: [INDEXES[this.at]!] })
    if (this.wait) await docs.ready()
  }

  toString(): string {
    return `index(${JSON.stringify(INDEXES[this.at])}, ${this.wait ? 'wait' : 'go on'})`
  }
}

class DropIndex implements Command {
  readonly at: number

  constructor(at: number) {
    this.at = at
  }

  check(): boolean {
    return true
  }

  async run(_model: Model, real: Real): Promise<void> {
    const names = ['age', '-age', 'city,-age', 'tags', 'nested.deep', 'constructor,_id']
    await collectionOf(real).dropIndex(names[this.at]!)
  }

  toString(): string {
    return `dropIndex(${this.at})`
  }
}

class FailingTransaction implements Command {
  readonly documents: readonly (readonly [string, Content])[]

  constructor(documents: readonly (readonly [string, Content])[]) {
    this.documents = documents
  }

  check(): boolean {
    return true
  }

  async run(_model: Model, real: Real): Promise<void> {
    const failure = real.db.transaction(async (tx) => {
      const docs = tx.collection('docs')
      await docs.upsert(
        this.documents.map(([_id, content]) => ({ ...content, [`new${this.documents.length}`]: 1, _id })),
      )
      await docs.delete(this.documents.map(([id]) => id))
      throw new RangeError('on purpose')
    })
    await failure.catch((error: unknown) => expect(error instanceof RangeError).toBe(true))
  }

  toString(): string {
    return `failingTransaction(${JSON.stringify(this.documents)})`
  }
}

class DropCollection implements Command {
  check(): boolean {
    return true
  }

  async run(model: Model, real: Real): Promise<void> {
    await real.db.dropCollection('docs')
    model.live.clear()
    model.generations.clear()
  }

  toString(): string {
    return 'dropCollection()'
  }
}

/** Goes on with another handle, in the midst of whatever is being built. */
class Reopen implements Command {
  check(): boolean {
    return true
  }

  async run(_model: Model, real: Real): Promise<void> {
    await real.reopen()
  }

  toString(): string {
    return 'reopen()'
  }
}

class Compare implements Command {
  check(): boolean {
    return true
  }

  async run(model: Model, real: Real): Promise<void> {
    const docs = collectionOf(real)
    const ids = [...model.live.keys(), 'nobody']
    const found = await docs.get(ids)
    found.forEach((document, at) => {
      const expected = model.live.get(ids[at]!)
      if (expected === undefined || document === undefined) return expect(document).toStrictEqual(expected)
      const { _id, _rev, ...content } = document
      expect(content).toStrictEqual(expected.content)
      expect([_id, Number.parseInt(_rev, 10)]).toStrictEqual([ids[at]!, expected.generation])
    })
    expect(await docs.find().count()).toStrictEqual(model.live.size)
    expect((await real.db.check()).problems).toStrictEqual([])
  }

  toString(): string {
    return 'compare()'
  }
}

const commandArbitraries: fc.Arbitrary<Command>[] = [
  fc
    .tuple(fc.constantFrom('insert', 'upsert', 'put'), documentsArbitrary)
    .map(([mode, documents]) => new Write(mode, documents)),
  documentsArbitrary.map((documents) => new Write('upsert', documents)),
  fc
    .tuple(idArbitrary, contentArbitrary, fc.boolean())
    .map(([id, content, stale]) => new PutCurrent(id, content, stale)),
  fc
    .tuple(fc.array(idArbitrary, { minLength: 1, maxLength: 3 }), fc.integer({ min: -3, max: 3 }))
    .map(([ids, age]) => new Update(ids, age)),
  fc.array(idArbitrary, { minLength: 1, maxLength: 4 }).map((ids) => new Delete(ids)),
  fc.tuple(fc.nat(INDEXES.length - 1), fc.boolean()).map(([at, wait]) => new DeclareIndex(at, wait)),
  fc.nat(INDEXES.length - 1).map((at) => new DropIndex(at)),
  documentsArbitrary.map((documents) => new FailingTransaction(documents)),
  fc.constant(new DropCollection()),
  fc.constant(new Reopen()),
  fc.constant(new Compare()),
]

const RUNS = times(20)

/** Opens another handle on the same database; the one before is left as a crash would leave it, or closed. */
type Open = () => Promise<Database>

runModel('over the model of a store in which more than half of the places miss', async (seed) => {
  const store = modelKeyValueStore({ missChance: 0.6, seed })
  const environment = countingEnvironment()
  return async () => databaseOver(store, environment)
})

/** What each opening takes place in. Collections ask for nothing of it but its contract. */
const STORAGES: Readonly<Record<string, () => () => DatabaseStorage>> = {
  'in memory': () => always(memory()),
  ...(EVERYWHERE && {
    'in memory-level': () => always(level(new MemoryLevel())),
    'on raw files, which are read again': () => {
      const disk = new SimulatedDisk(seededRandom(1))
      return () => new RawFileStorage(disk)
    },
  }),
}

function always(storage: DatabaseStorage): () => DatabaseStorage {
  return () => storage
}

for (const [where, prepareStorage] of Object.entries(STORAGES)) {
  for (const cacheBytesMax of [0, 10_000_000]) {
    runModel(`over the engine ${where} with ${cacheBytesMax} bytes of cache`, async () => {
      const storage = prepareStorage()
      const environment = countingEnvironment()
      let before: Database | undefined
      return async () => {
        await before?.flush()
        await before?.close()
        const store = await openKeyValueStore({
          store: await storage().open('x'),
          coordinator: soloCoordinator(),
          environment,
          cacheBytesMax,
          durability: 'relaxed',
        })
        return (before = databaseOver(store, environment, () => store.check()))
      }
    })
  }
}

runModel('over a storage that answers later, without a cache', async (seed) => {
  const random = seededRandom(seed)
  const storage = slow(memory(), random)
  let before: Database | undefined
  return async () => {
    await before?.close()
    return (before = await openCold('x', storage, { checkpoints: random }))
  }
})

function runModel(where: string, prepare: (seed: number) => Promise<Open>): void {
  test(`a collection is a Map with indexes, ${where}`, async () => {
    const property = fc.asyncProperty(
      fc.commands(commandArbitraries, { maxCommands: 60, size: 'max' }),
      fc.nat(),
      async (commands, seed) => {
        const openAnother = await prepare(seed)
        const real: Real = {
          db: await openAnother(),
          async reopen() {
            real.db = await openAnother()
            await real.db.begin({}, {})
          },
        }
        const model: Model = { live: new Map(), generations: new Map() }
        await fc.asyncModelRun(() => ({ model, real }), commands)
        await new Compare().run(model, real)
        await real.db.close()
      },
    )
    await fc.assert(property, { numRuns: RUNS })
  })
}

async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  try {
    await promise
    return undefined
  } catch (error) {
    if (isPannierError(error)) return error.code
    throw error
  }
}

function set(model: Model, id: string, content: Content): void {
  const generation = (model.generations.get(id) ?? 0) + 1
  model.generations.set(id, generation)
  model.live.set(id, { content, generation })
}
