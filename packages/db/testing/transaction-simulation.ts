/**
 * Random transactions whose steps overlap, against a model. Steps take effect in the order in which they are asked for, so the model
 * tells when a step is asked for what it will answer.
 */
import type { Collection } from '../src/database/collection/collection.ts'
import type { Database } from '../src/database/database.ts'
import { isPannierError } from '../src/base/errors.ts'
import { abortedLater, unlessAborted } from './aborted.ts'
import { assertEqual } from './check.ts'
import type { Random } from './random.ts'
import { aMoment } from './suite.ts'

interface Item {
  readonly _id: string
  readonly n: number
  readonly t: readonly number[]
  readonly pad: string
}

type Items = Pick<
  Collection<Item>,
  'get' | 'insert' | 'upsert' | 'update' | 'delete' | 'find' | 'list' | 'putAttachment'
>

/** Balances by id. */
type Model = Map<string, number>

const ITEMS = 900
const TRANSACTIONS = 6
const STEPS_MAX = 14
const ATTACHED = 'attached'

class OnPurpose extends Error {}

export async function simulateTransactions(open: () => Promise<Database>, random: Random): Promise<void> {
  let db = await open()
  try {
    let model: Model = new Map(Array.from({ length: ITEMS }, (_, n) => [itemId(n), 100]))
    await itemsOf(db).insert(Array.from(model, ([id, n]) => item(id, n, random)))
    await db.flush()
    for (let turn = 0; turn < TRANSACTIONS; turn++) {
      if (random.chance(0.7)) {
        await db.close()
        db = await open()
      }
      model = await new Run(db, model, random).transaction()
      await compare(db, model, `transaction ${turn}`)
    }
    await db.close()
    db = await open()
    await compare(db, model, 'opened again')
  } finally {
    await db.close()
  }
}

/** One transaction, with writes of the database itself beside it. */
class Run {
  readonly #db: Database
  readonly #before: Model
  readonly #after: Model
  readonly #random: Random
  readonly #asked: Promise<void>[] = []
  /** Writes that fail as they have to. */
  #refused = 0

  constructor(db: Database, model: Model, random: Random) {
    this.#db = db
    this.#before = model
    this.#after = new Map(model)
    this.#random = random
  }

  /** Gives the model after it. */
  async transaction(): Promise<Model> {
    const random = this.#random
    const fails = random.chance(0.2)
    const beside = random.chance(0.5) ? this.#beside() : undefined
    try {
      await this.#db.transaction(async (tx) => {
        const items: Items = tx.collection<Item>('items')
        for (let step = random.below(STEPS_MAX); step >= 0; step--) {
          this.#ask(items)
          if (random.chance(0.25)) await Promise.all(this.#asked)
          else if (random.chance(0.1)) await aMoment()
        }
        if (random.chance(0.5)) await Promise.all(this.#asked)
        if (fails) throw new OnPurpose()
      })
      await Promise.all(this.#asked)
      assertEqual(fails, false, 'whether it failed')
      return this.#after
    } catch (error) {
      // A write that fails and that nobody waited for takes the transaction with it.
      if (!(error instanceof OnPurpose) && !(this.#refused > 0 && isRefusal(error))) throw error
      await Promise.all(this.#asked)
      return this.#before
    } finally {
      await beside
    }
  }

  /** The database itself waits for the end of the transaction; its reads see nothing of it. */
  async #beside(): Promise<void> {
    const id = itemId(this.#random.below(ITEMS))
    const beside = this.#db.collection<{ n: number }>('beside')
    const [found] = await Promise.all([
      this.#db.collection<Item>('items').get(id),
      beside.upsert({ _id: 'a', n: this.#random.below(1000) }),
    ])
    if (found !== undefined && found.n !== this.#before.get(id))
      assertEqual(found.n, this.#after.get(id), 'before or after it, and nothing between')
  }

  #ask(items: Items): void {
    const random = this.#random
    const model = this.#after
    const id = itemId(random.below(ITEMS + 100))
    const there = model.get(id)
    const expect = async (what: string, asked: Promise<unknown>, expected: unknown): Promise<void> =>
      assertEqual(await asked, expected, what)
    const ask = (outcome: Promise<void>): void => {
      this.#asked.push(outcome)
      // Whoever waits for all hears of it.
      outcome.catch(() => {})
    }
    const refuse = (asked: Promise<unknown>): void => {
      this.#refused++
      ask(
        asked.then(
          () => assertEqual('written', 'refused'),
          (error: unknown) => {
            if (!isRefusal(error)) throw error
          },
        ),
      )
    }
    const done = (asked: Promise<unknown>): void => ask(asked.then(() => {}))
    switch (random.below(11)) {
      case 0:
      case 1:
        return ask(
          expect(
            `get ${id}`,
            items.get(id).then((found) => found?.n),
            there,
          ),
        )
      case 2: {
        const asked = items.insert(item(id, 5, random))
        if (there !== undefined) return refuse(asked)
        model.set(id, 5)
        return done(asked)
      }
      case 3:
      case 4: {
        const asked = items.update(id, (found) => ({ ...found, n: found.n + 1 }))
        if (there === undefined) return refuse(asked)
        model.set(id, there + 1)
        return done(asked)
      }
      case 5:
        model.delete(id)
        return ask(
          expect(
            `delete ${id}`,
            items.delete(id).then((result) => result !== undefined),
            there !== undefined,
          ),
        )
      case 6: {
        const ids = Array.from({ length: 1 + random.below(40) }, () => itemId(random.below(ITEMS + 100)))
        const asked = items.upsert(ids.map((one, at) => item(one, at, random)))
        ids.forEach((one, at) => model.set(one, at))
        return done(asked)
      }
      case 7:
        return ask(expect('count', items.find({ n: { $gt: 99 } }).count(), above(model, 99)))
      case 8: {
        const query = items.find({ n: { $lt: 50 } })
        const expected = model.size - above(model, 49)
        const aborted = random.chance(0.3) ? query.signal(abortedLater(random)) : query
        const rows = unlessAborted(aborted.toArray())
        return ask(
          expect(
            'rows',
            rows.then((found) => found?.length ?? expected),
            expected,
          ),
        )
      }
      case 9: {
        const walk = async (): Promise<void> => {
          let rows = 0
          const rowsMax = model.size
          const stopAt = random.chance(0.5) ? random.below(rowsMax) : Infinity
          for await (const _ of items.find({ t: 1 })) if (++rows >= stopAt) return
        }
        return done(walk().catch(passOver))
      }
      default:
        return done(
          random.chance(0.5)
            ? items.putAttachment(ATTACHED, 'a', new Uint8Array(random.below(5000))).then(() => {}, passOver)
            : items
                .list({ limit: 10 })
                .page()
                .then(() => {}, passOver),
        )
    }
  }
}

/** Loops and lists that nobody waits for may be cut off by the end, attachments by the failure of the transaction. */
function passOver(error: unknown): void {
  if (!isPannierError(error, 'PANNIER_TRANSACTION_ENDED')) throw error
}

function isRefusal(error: unknown): boolean {
  return isPannierError(error, 'PANNIER_CONFLICT') || isPannierError(error, 'PANNIER_NOT_FOUND')
}

async function compare(db: Database, model: Model, what: string): Promise<void> {
  const items = itemsOf(db)
  const found = (await items.find().toArray()).filter(({ _id }) => _id !== ATTACHED)
  const sorted = (entries: Iterable<[string, number]>): [string, number][] =>
    [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
  const entries = found.map(({ _id, n }): [string, number] => [_id, n])
  assertEqual(sorted(entries), sorted(model), what)
  assertEqual(await items.find({ n: { $gt: 99 } }).count(), above(model, 99), `${what}: the count of an index`)
  assertEqual((await db.check()).problems, [], what)
}

function above(model: Model, limit: number): number {
  let count = 0
  for (const n of model.values()) if (n > limit) count++
  return count
}

function itemsOf(db: Database): Collection<Item> {
  return db.collection<Item>('items', { indexes: ['n', { on: 't', multi: true }] })
}

function itemId(n: number): string {
  return `item-${String(n).padStart(60, '0')}`
}

function item(_id: string, n: number, random: Random): Item {
  return { _id, n, t: [random.below(3), 3 + random.below(3)], pad: 'x'.repeat(random.below(150)) }
}
