/**
 * Goal: whatever is written through whichever handle, readers that resume at random points, with random options, are given
 * exactly what a naive model by sequence number says; and while several handles write at once nothing is missed, and no
 * state of a document comes twice.
 * Method: handles over a simulated store with random latency and a cache that is too small for the collection.
 */
import { expect, test } from 'vitest'
import type { ChangesOptions } from '../../src/database/feed/change-feed.ts'
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import { parseSelector } from '../../src/query/ast/parse-selector.ts'
import { evaluate } from '../../testing/evaluate-predicate.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import { openHandles } from '../several-handles.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

const INDEXES = ['n', { on: 'tags', multi: true }] as const

type Item = Record<string, unknown>

const { yield: yieldNow } = systemEnvironment()

interface State {
  readonly seq: number
  readonly rev: string
  readonly deleted: boolean
  readonly doc: Item
}

for (const seed of seedsOf('model', 0.3)) {
  test(`a naive model by sequence number, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, () => compareWithModel(seed))
  test(`writers at once, readers that resume, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, () =>
    readWhileWriting(seed))
}

function randomItem(random: Random, _id: string): Item & { _id: string } {
  return { _id, n: random.below(60), tags: [`t${random.below(20)}`, 'all'], filler: 'x'.repeat(random.below(300)) }
}

async function compareWithModel(seed: number): Promise<void> {
  const random = seededRandom(seed)
  const handles = await openHandles(random, `feed model ${seed}`, 2)
  const collections = handles.map((db) => db.collection<Item>('items', { indexes: INDEXES }))
  const model = new Map<string, State>()
  let seq = 0
  const set = (id: string, rev: string, deleted: boolean, content: Item): void => {
    const doc = deleted ? { _id: id, _rev: rev, _deleted: true } : { ...content, _id: id, _rev: rev }
    model.set(id, { seq: ++seq, rev, deleted, doc })
  }
  for (let step = 0; step < 40; step++) {
    const at = random.below(2)
    const items = collections[at]!
    if (random.chance(0.25)) {
      const ids = [...model].filter(([, { deleted }]) => !deleted).map(([id]) => id)
      const some = [...new Set(Array.from({ length: 1 + random.below(20) }, () => random.pick(ids)))]
      if (ids.length > 0) for (const result of await items.delete(some)) set(result!.id, result!.rev, true, {})
    } else {
      const ids = new Set(Array.from({ length: 1 + random.below(120) }, () => `d${random.below(900)}`))
      const batch = Array.from(ids, (id) => randomItem(random, id))
      const results = await items.upsert(batch)
      results.forEach(({ id, rev }, place) => set(id, rev, false, batch[place]!))
    }
    if (random.chance(0.2)) await handles[at]!.flush()
    await items.ready()
    await handles[1 - at]!.refresh()
    await compareReads(random, random.pick(collections), model, seq)
  }
  for (const db of handles) expect((await db.check()).problems).toEqual([])
  for (const db of handles) await db.close()
}

function randomOptions(random: Random): Pick<ChangesOptions<Item>, 'selector' | 'ids' | 'filter'> {
  const odd = (doc: Item): boolean => Number(String(doc['_id']).slice(1)) % 2 === 1
  return {
    ...(random.chance(0.5) && {
      selector: random.pick<Item>([
        { n: random.below(60) },
        { n: { $lt: 3 } },
        { tags: `t${random.below(20)}` },
        { tags: 'all' },
        { _id: { $in: Array.from({ length: 30 }, () => `d${random.below(900)}`) } },
        { _id: { $beginsWith: `d${random.below(90)}` } },
        { $or: [{ n: 5 }, { _deleted: true }] },
        { _deleted: { $exists: false } },
        { filler: { $exists: true }, n: { $gte: 57 } },
      ]),
    }),
    ...(random.chance(0.2) && { ids: Array.from({ length: random.below(40) }, () => `d${random.below(900)}`) }),
    ...(random.chance(0.2) && { filter: odd }),
  }
}

async function compareReads(
  random: Random,
  items: Collection<Item>,
  model: ReadonlyMap<string, State>,
  last: number,
): Promise<void> {
  const byItself = [...model.values()].toSorted((left, right) => left.seq - right.seq)
  for (let round = 0; round < 4; round++) {
    const options = randomOptions(random)
    const { selector, ids, filter } = options
    const predicate = selector && parseSelector(selector)
    const passes = ({ doc }: State): boolean =>
      (predicate === undefined || evaluate(predicate, doc)) &&
      (ids === undefined || ids.includes(doc['_id'] as string)) &&
      (filter === undefined || Boolean(filter(doc as never)))
    let since = random.below(last + 1)
    const expected = byItself.filter((state) => state.seq > since && passes(state))
    const rows: State[] = []
    // Any number of reads, each of which goes on where the one before has stopped.
    for (let isEnd = false; !isEnd;) {
      const limit = random.chance(0.5) ? 1 + random.below(100) : Infinity
      const feed = items.changes({ ...options, since, limit, docs: true })
      let count = 0
      let left = false
      for await (const { seq, changes, deleted = false, doc } of feed) {
        expect(feed.lastSeq).toBe(seq)
        rows.push({ seq, rev: changes[0]!.rev, deleted, doc: doc as Item })
        count++
        left = random.chance(0.01)
        if (left) break
      }
      since = feed.lastSeq
      isEnd = !left && count < limit
    }
    expect(since).toBe(last)
    expect(rows).toEqual(expected)
    const down = await items.changes({ ...options, descending: true, limit: 7 }).toArray()
    expect(down.map(({ seq }) => seq)).toEqual(
      byItself
        .filter(passes)
        .toReversed()
        .slice(0, 7)
        .map(({ seq }) => seq),
    )
  }
}

interface Reader {
  readonly items: Collection<Item>
  readonly options: Pick<ChangesOptions<Item>, 'selector' | 'ids' | 'filter'>
  readonly revisions: Map<string, string>
  readonly states: Set<string>
  since: number
}

async function readWhileWriting(seed: number): Promise<void> {
  const random = seededRandom(seed)
  const handles = await openHandles(random, `feed model ${seed}`, 3)
  const collections = handles.map((db) => db.collection<Item>('items', { indexes: INDEXES }))
  let writing = true
  const write = async (items: Collection<Item>, db: Database, own: Random): Promise<void> => {
    for (let round = 0; round < 25; round++) {
      const ids = [...new Set(Array.from({ length: own.chance(0.2) ? 60 : 2 }, () => `d${own.below(300)}`))]
      if (own.chance(0.25)) await items.delete(ids)
      else await items.upsert(ids.map((id) => randomItem(own, id)))
      if (own.chance(0.1)) await db.flush()
    }
  }
  const readers = Array.from({ length: 6 }, (_, at): Reader => ({
    items: collections[at % 3]!,
    options: at < 2 ? {} : randomOptions(random),
    revisions: new Map(),
    states: new Set(),
    since: 0,
  }))
  const read = async (reader: Reader, own: Random): Promise<void> => {
    while (writing) {
      await readOnce(reader, own)
      // What is in memory is read without ever waiting, and the store has to get its turn.
      await yieldNow()
    }
  }
  const reading = Promise.all(readers.map((reader) => read(reader, random.fork())))
  await Promise.all(handles.map((db, at) => write(collections[at]!, db, random.fork())))
  writing = false
  await reading
  for (const db of handles) await db.refresh()
  const all = await collections[0]!.changes({ docs: true }).toArray()
  for (const reader of readers) {
    const { selector, ids, filter } = reader.options
    for (let before = -1; before !== reader.since;) {
      before = reader.since
      await readOnce(reader, random, Infinity)
    }
    const predicate = selector && parseSelector(selector)
    for (const { id, changes, doc } of all) {
      if (predicate !== undefined && !evaluate(predicate, doc!)) continue
      if ((ids !== undefined && !ids.includes(id)) || (filter !== undefined && !filter(doc as never))) continue
      expect([id, reader.revisions.get(id)]).toEqual([id, changes[0]!.rev])
    }
  }
  for (const db of handles) expect((await db.check()).problems).toEqual([])
  for (const db of handles) await db.close()
}

async function readOnce(reader: Reader, random: Random, limit: number = 1 + random.below(200)): Promise<void> {
  const feed = reader.items.changes({ ...reader.options, since: reader.since, limit })
  let last = reader.since
  for await (const { seq, id, changes } of feed) {
    expect(seq).toBeGreaterThan(last)
    last = seq
    const state = `${id} ${changes[0]!.rev}`
    expect(reader.states.has(state), `${state} came twice`).toBe(false)
    reader.states.add(state)
    reader.revisions.set(id, changes[0]!.rev)
    if (limit < Infinity && random.chance(0.02)) break
  }
  expect(feed.lastSeq).toBeGreaterThanOrEqual(last)
  reader.since = feed.lastSeq
}
