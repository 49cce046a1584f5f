/**
 * Simulates concurrent use: writers that read while they write, on one or two handles, beside everything else that an
 * app may do, much of it cancelled at a random moment. Each writer has its own documents, so it always knows what a
 * read may return.
 */
import { isPannierError, type ErrorCode } from '../src/base/errors.ts'
import type { Collection } from '../src/database/collection/collection.ts'
import type { Database } from '../src/database/database.ts'
import type { Transaction } from '../src/database/collection/transaction.ts'
import type { IndexInput } from '../src/index/index-definition.ts'
import type { Emit } from '../src/view/view-definition.ts'
import { ABORT_TURNS_MAX, abortedLater, unlessAborted } from './aborted.ts'
import { assertEqual, assertTrue } from './check.ts'
import { eventually, Follower } from './live-rows.ts'
import type { Random } from './random.ts'
import { pause } from './slow-storage.ts'

export interface Item {
  readonly _id: string
  readonly writer: string
  /** The step of its writer that wrote it. */
  readonly step: number
  readonly n: number
  readonly tags: readonly string[]
  readonly text: string
  readonly pad: string
}

export interface ConcurrencyOptions {
  /** Opens another handle of the same database. */
  readonly open: () => Promise<Database>
  /** Makes a database of a snapshot, where `open` gives databases that have them. */
  readonly copy?: (snapshot: ReadableStream<Uint8Array>) => Promise<Database>
  readonly random: Random
}

const WRITERS = 3
const STEPS = 16
const READS_MAX = 4
const IDS = 150
const BATCH_MAX = 12
const LARGE_BATCH_MAX = 120
const CLOSE_TURNS_MAX = 1500

const INDEXES: Readonly<Record<string, IndexInput<keyof Item>>> = {
  writer: 'writer',
  n: { on: ['writer', '-n'], name: 'n' },
  tags: { on: 'tags', multi: true, name: 'tags' },
  late: { on: 'step', where: { n: { $gt: 0 } }, name: 'late' },
}
const WORDS: IndexInput<keyof Item> = { on: 'text', text: true, name: 'words' }

const BY_WRITER = {
  map: ({ writer, step }: Item, emit: Emit<string, number>) => emit(writer, step),
  reduce: '_sum' as const,
}

const OTHERS = new TextEncoder().encode(
  Array.from({ length: 300 }, (_, n) => JSON.stringify({ _id: `o${n}`, n })).join('\n'),
)

/** Steps by id. */
type Model = ReadonlyMap<string, number>

class OnPurpose extends Error {}

export async function simulateConcurrency(options: ConcurrencyOptions): Promise<void> {
  await new Simulation(options).run()
}

function itemsOf(db: Database): Collection<Item> {
  return db.collection<Item>('items', { indexes: [...Object.values(INDEXES), WORDS] })
}

class Simulation {
  readonly #options: ConcurrencyOptions
  readonly #random: Random
  readonly #handles: Database[] = []
  /** Codes of failures that the end of the handles explains. */
  readonly #ends: readonly ErrorCode[]
  #over = false

  constructor(options: ConcurrencyOptions) {
    this.#options = options
    this.#random = options.random
    this.#ends = this.#random.chance(0.3) ? ['PANNIER_CLOSED'] : []
  }

  async run(): Promise<void> {
    const { open } = this.#options
    for (let count = 1 + this.#random.below(2); count > 0; count--) this.#handles.push(await open())
    const writers = Array.from(
      { length: WRITERS },
      (_, at) => new Writer(`w${at}`, this.#handles, this.#ends, this.#random.fork()),
    )
    for (const db of this.#handles) await itemsOf(db).ready()
    const live = this.#handles.flatMap((db) =>
      writers.map(({ name }) => {
        const query = itemsOf(db).find({ writer: name }).sort('_id')
        return { query, follower: new Follower(query.live()), count: query.liveCount() }
      }),
    )
    try {
      const written = allOf(writers.map((writer) => writer.run())).finally(() => (this.#over = true))
      const closed = this.#ends.length > 0 ? this.#closeEarly() : undefined
      await allOf([written, this.#besides(this.#random.fork()), this.#besides(this.#random.fork())])
      await closed
      if (closed === undefined) {
        for (const db of this.#handles) await compare(db, writers)
        for (const { query, follower, count } of live) {
          const rows = await query.toArray()
          await follower.reach(rows)
          await eventually(() => count.value === rows.length)
          assertEqual(count.value, rows.length, 'a live count')
        }
      }
    } finally {
      this.#over = true
      for (const db of this.#handles) await db.close()
    }
    // In a moment, if its code was still being loaded.
    await eventually(() => live.every(({ follower }) => follower.ended))
    assertTrue(
      live.every(({ follower }) => follower.ended),
      'live queries end with their database',
    )
    const again = await open()
    await compare(again, writers)
    await again.close()
  }

  /** In the midst of everything; what is under way then ends, one way or the other. */
  async #closeEarly(): Promise<void> {
    await pause(this.#random, CLOSE_TURNS_MAX)
    await Promise.all(this.#handles.map((db) => db.close()))
  }

  async #besides(random: Random): Promise<void> {
    while (!this.#over) {
      await unless(['PANNIER_ABORTED', ...this.#ends], this.#beside(random))
      await pause(random)
    }
  }

  /** Something that changes none of the writers' documents. */
  async #beside(random: Random): Promise<unknown> {
    const db = random.pick(this.#handles)
    const items = db.collection<Item>('items')
    const signal = random.chance(0.7) ? abortedLater(random) : undefined
    const aborting = { ...(signal && { signal }) }
    switch (random.below(13)) {
      case 0:
        return db.flush()
      case 1:
        await items.dropIndex(random.pick(Object.keys(INDEXES)))
        return itemsOf(random.pick(this.#handles)).ready()
      case 2: {
        const indexes = [{ on: 'pad', name: `pad${random.below(3)}` }] as const
        return db.collection<Item>('items', { indexes, ...aborting }).ready()
      }
      case 3:
        return items.dropIndex(`pad${random.below(3)}`)
      case 4:
        return this.#abandoned(items, random)
      case 5:
        return items.changes({ docs: true, ...aborting }).toArray()
      case 6:
        return items.changes({ live: true, limit: 1e6, signal: abortedLater(random) }).toArray()
      case 7:
        return items.find({ $or: [{ tags: 'a1' }, { n: { $gt: 40 } }] }).live({ signal: abortedLater(random) }).ready
      case 8:
        return items.view('byWriter', BY_WRITER).update(aborting)
      case 9:
        return db.collection('others').import(OTHERS, { mode: 'upsert', ...aborting })
      case 10:
        return db.dropCollection('others')
      case 11:
        return this.#snapshot(db)
      default:
        return db.encryption === undefined ? items.compact() : db.encryption.rotateKey(aborting)
    }
  }

  async #abandoned(items: Collection<Item>, random: Random): Promise<void> {
    for await (const _ of items.find({ tags: 'a1' })) {
      if (random.chance(0.1)) return
      if (random.chance(0.1)) await pause(random)
    }
  }

  async #snapshot(db: Database): Promise<void> {
    const { copy } = this.#options
    if (copy === undefined) return assertEqual((await db.check()).problems, [])
    const other = await copy(db.snapshot())
    assertEqual((await other.check()).problems, [], 'the copy that a snapshot makes')
    await other.close()
  }
}

class Writer {
  readonly name: string
  /** What is acknowledged. */
  model: Model = new Map()
  /** As it is with a write that is not acknowledged. */
  perhaps: Model | undefined
  readonly #handles: readonly Database[]
  readonly #ends: readonly ErrorCode[]
  readonly #random: Random
  #step = 0

  constructor(name: string, handles: readonly Database[], ends: readonly ErrorCode[], random: Random) {
    this.name = name
    this.#handles = handles
    this.#ends = ends
    this.#random = random
  }

  async run(): Promise<void> {
    while (++this.#step <= STEPS && this.perhaps === undefined) {
      const before = this.model
      const after = new Map(before)
      const reads = (): Promise<unknown>[] =>
        Array.from({ length: this.#random.below(READS_MAX) }, () => this.#readEither(before, after))
      const first = reads()
      this.perhaps = after
      const write = this.#write(after).then(() => {
        this.model = after
        this.perhaps = undefined
      })
      // A database that is closed takes no more; whether it took the last write is not known.
      await allOf([...first, write, ...reads()].map((promise) => unless(this.#ends, promise)))
    }
  }

  /** Changes `model` as it changes the documents. */
  async #write(model: Map<string, number>): Promise<void> {
    const random = this.#random
    const db = random.pick(this.#handles)
    const items = db.collection<Item>('items')
    const ids = this.#someIds()
    switch (random.below(8)) {
      case 0:
      case 1:
        for (const id of ids) model.set(id, this.#step)
        return void (await items.upsert(ids.map((id) => this.#item(id))))
      case 2:
        for (const id of ids) model.delete(id)
        return void (await items.delete(ids))
      case 3: {
        const there = ids.filter((id) => model.has(id))
        for (const id of there) model.set(id, this.#step)
        return void (await items.update(there, (found) => ({ ...found, step: this.#step })))
      }
      case 4: {
        const id = ids.find((one) => model.has(one))
        if (id === undefined) return
        const aborting = random.chance(0.5) ? { signal: abortedLater(random) } : {}
        return void (await unlessAborted(items.putAttachment(id, 'a', new Uint8Array(random.below(60_000)), aborting)))
      }
      case 5:
        return this.#failingTransaction(db)
      default:
        return this.#transaction(db, model)
    }
  }

  /** Its reads, some of them aborted, change nothing of what it writes. */
  async #transaction(db: Database, model: Map<string, number>): Promise<void> {
    const ids = this.#someIds()
    const [first, rest] = [ids.slice(0, 1), ids.slice(1)]
    const before = new Map(model)
    for (const id of ids) model.set(id, this.#step)
    await db.transaction(async (tx) => {
      const items = tx.collection<Item>('items')
      await allOf([
        this.#readIn(tx, before),
        items.upsert(first.map((id) => this.#item(id))),
        this.#readIn(tx, new Map([...before, ...first.map((id) => [id, this.#step] as const)])),
        items.upsert(rest.map((id) => this.#item(id))),
        tx.collection('side').upsert({ _id: this.name, step: this.#step }),
        this.#readIn(tx, model),
      ])
    })
  }

  /** It throws at a random moment, while its steps are under way. */
  async #failingTransaction(db: Database): Promise<void> {
    const failed = db.transaction(async (tx) => {
      const items = tx.collection<Item>('items')
      const steps = [
        items.upsert(this.#someIds().map((id) => this.#item(id))),
        items.delete(this.#someIds()),
        this.#readIn(tx),
      ]
      for (const step of steps) step.catch(() => {})
      await pause(this.#random, ABORT_TURNS_MAX)
      throw new OnPurpose()
    })
    await failed.then(
      () => assertTrue(false, 'a transaction that throws is not committed'),
      (error: unknown) => {
        if (!(error instanceof OnPurpose)) throw error
      },
    )
  }

  async #readIn(tx: Transaction, expected?: Model): Promise<void> {
    const { name } = this
    const signal = this.#random.chance(0.4) ? abortedLater(this.#random) : undefined
    const query = tx.collection<Item>('items').find({ writer: name })
    const found = await unlessAborted((signal ? query.signal(signal) : query).toArray())
    if (found !== undefined && expected !== undefined)
      assertEqual(sorted(stepsOf(found)), sorted(expected), `${name} as its transaction sees it`)
  }

  /** What is read while a write is under way is as before it or as after it. */
  async #readEither(before: Model, after: Model): Promise<void> {
    const random = this.#random
    const { name: writer } = this
    const items = random.pick(this.#handles).collection<Item>('items')
    const signal = random.chance(0.4) ? abortedLater(random) : undefined
    const aborting = { ...(signal && { signal }) }
    const plain = items.find({ writer })
    const query = signal ? plain.signal(signal) : plain
    const either = async (
      what: string,
      asked: Promise<unknown>,
      expected: (model: Model) => unknown,
    ): Promise<void> => {
      const answer = await unlessAborted(asked)
      const isOne = [before, after].some((model) => JSON.stringify(expected(model)) === JSON.stringify(answer))
      if (answer !== undefined && !isOne)
        assertEqual([answer], [expected(before), expected(after)], `${what} of ${writer}`)
    }
    const rowsOf = (asked: Promise<readonly Item[]>): Promise<unknown> => asked.then((rows) => sorted(stepsOf(rows)))
    switch (random.below(9)) {
      case 0:
        return either('rows', rowsOf(query.toArray()), sorted)
      case 1:
        return either('sorted rows', rowsOf(query.sort('-n').toArray()), sorted)
      case 2:
        return either('count', query.count(), ({ size }) => size)
      case 3: {
        const summed = query.aggregate({ steps: { $sum: 'step' } })
        return either(
          'aggregate',
          summed.then(({ steps }) => steps ?? 0),
          sum,
        )
      }
      case 4:
        return either('words', items.search(writer).count(), ({ size }) => size)
      case 5: {
        const rows = items.changes({ docs: true, selector: { writer }, ...aborting }).toArray()
        const live = rows.then((changes) => changes.flatMap(({ deleted, doc }) => (deleted ? [] : [doc as Item])))
        return either('feed', rowsOf(live), sorted)
      }
      case 6: {
        const summed = items.view('byWriter', BY_WRITER).query({ key: writer, ...aborting })
        return either(
          'sum',
          summed.then(({ rows }) => rows[0]?.value ?? 0),
          sum,
        )
      }
      case 7: {
        const listed = items.list({ prefix: `${writer}-` }).toArray()
        return either(
          'list',
          listed.then((rows) => rows.map(({ id }) => id)),
          (model) => [...model.keys()].sort(),
        )
      }
      default: {
        const id = itemId(writer, random)
        return either(
          'get',
          items.get(id).then((found) => found?.step ?? null),
          (model) => model.get(id) ?? null,
        )
      }
    }
  }

  #someIds(): string[] {
    const count = 1 + this.#random.below(this.#random.chance(0.2) ? LARGE_BATCH_MAX : BATCH_MAX)
    return [...new Set(Array.from({ length: count }, () => itemId(this.name, this.#random)))]
  }

  #item(_id: string): Item {
    const random = this.#random
    return {
      _id,
      writer: this.name,
      step: this.#step,
      n: random.below(100) - 50,
      tags: [`a${random.below(4)}`, `b${random.below(4)}`],
      text: `${random.pick(['quick', 'brown'])} ${this.name}`,
      pad: 'x'.repeat(random.below(300)),
    }
  }
}

/** Whatever way it is read, the database has what was acknowledged and nothing else. */
async function compare(db: Database, writers: readonly Writer[]): Promise<void> {
  const items = itemsOf(db)
  await items.ready()
  const all = await items.find().toArray()
  for (const { name, model, perhaps } of writers) {
    const found = sorted(stepsOf(all.filter(({ writer }) => writer === name)))
    const isPerhaps = perhaps !== undefined && JSON.stringify(found) === JSON.stringify(sorted(perhaps))
    if (!isPerhaps) assertEqual(found, sorted(model), `documents of ${name}`)
  }
  const feed = await items.changes().toArray()
  assertEqual(new Set(feed.map(({ seq }) => seq)).size, feed.length, 'sequence numbers of the feed')
  assertEqual(feed.filter(({ deleted }) => !deleted).length, all.length, 'live documents of the feed')
  for (const tag of ['a0', 'b1'])
    assertEqual(await items.find({ tags: tag }).count(), all.filter(({ tags }) => tags.includes(tag)).length, tag)
  const late = all.filter(({ n, step }) => n > 0 && step > 4).length
  assertEqual(await items.find({ n: { $gt: 0 }, step: { $gt: 4 } }).count(), late, 'a partial index')
  const { rows } = await items.view('byWriter', BY_WRITER).query()
  assertEqual(rows[0]?.value ?? 0, sum(stepsOf(all)), 'the view')
  assertEqual((await db.check()).problems, [])
}

function itemId(writer: string, random: Random): string {
  return `${writer}-${String(random.below(IDS)).padStart(20, '0')}`
}

function stepsOf(items: readonly Item[]): Model {
  return new Map(items.map(({ _id, step }) => [_id, step]))
}

function sorted(model: Model): [string, number][] {
  return [...model].sort(([a], [b]) => (a < b ? -1 : 1))
}

function sum(model: Model): number {
  return [...model.values()].reduce((total, step) => total + step, 0)
}

/** `codes`: of failures that are none. */
async function unless(codes: readonly ErrorCode[], promise: Promise<unknown>): Promise<void> {
  try {
    await promise
  } catch (error) {
    if (!codes.some((code) => isPannierError(error, code))) throw error
  }
}

/** As `Promise.all`, but nothing is under way any more when it fails. */
async function allOf(promises: readonly Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(promises)
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}
