/** The change feed: docs/internals/change-feed.md as tests. */
import { parseSelector } from '../../src/query/ast/parse-selector.ts'
import { evaluate } from '../evaluate-predicate.ts'
import type { ChangesOptions } from '../../src/database/feed/change-feed.ts'
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import type { Identified, Stored } from '../../src/database/collection/document-types.ts'
import type { DocumentChange } from '../../src/document/document-reader.ts'
import { assertDefined, assertEqual, assertRejects, assertThrows, assertTrue } from '../check.ts'
import { seededRandom } from '../random.ts'
import type { Selector } from '../../src/query/field-types.ts'
import { eventually, type SuiteContext } from '../suite.ts'
import { itemCases, type ItemCase } from './database-cases.ts'

/** Each call of `open` gives one more handle on one database. */
export interface ChangeFeedSuiteContext extends SuiteContext<() => { open(): Promise<Database> }> {
  readonly supports: { readonly handles: boolean }
}

interface Item {
  readonly n: number
  readonly city?: string
  readonly tags?: readonly string[]
}

type Items = Collection<Item>
type Row = DocumentChange<Stored<Item>>
type Case = ItemCase<Item>

export function changeFeedSuite({ test, create, supports }: ChangeFeedSuiteContext): void {
  const check = itemCases<Item>(test, create)
  readCases(check)
  filterCases(check)
  revisionCases(check)
  liveCases(check)
  endCases(check)
  if (supports.handles) handleCases(check)
}

const CITIES = ['Oslo', 'Rome', 'Paris']

function insertMany(items: Items, count: number): Promise<unknown> {
  return items.insert(
    Array.from({ length: count }, (_, n) => ({
      _id: `d${String(n).padStart(6, '0')}`,
      n,
      city: CITIES[n % 3]!,
      tags: [`t${n % 50}`, `u${n % 7}`],
    })),
  )
}

function idsOf(changes: readonly Row[]): string[] {
  return changes.map(({ id }) => id)
}

function readCases(check: Case): void {
  check('each document once, in the order of its last change', async (items) => {
    await items.insert(['a', 'b', 'c'].map((_id, n) => ({ _id, n })))
    const a = await items.upsert({ _id: 'a', n: 5 })
    const b = (await items.delete('b'))!
    const c = (await items.get('c'))!
    const feed = items.changes({ docs: true })
    assertEqual(await feed.toArray(), [
      { seq: 3, id: 'c', changes: [{ rev: c._rev }], doc: c },
      { seq: 4, id: 'a', changes: [{ rev: a.rev }], doc: { _id: 'a', _rev: a.rev, n: 5 } },
      { seq: 5, id: 'b', changes: [{ rev: b.rev }], deleted: true, doc: { _id: 'b', _rev: b.rev, _deleted: true } },
    ])
    assertEqual(feed.lastSeq, 5)
    assertEqual(
      (await items.changes({ since: 3 }).toArray()).map(({ seq, doc }) => [seq, doc]),
      [
        [4, undefined],
        [5, undefined],
      ],
    )
  })

  check('since, limit, descending; a feed that resumes misses nothing', async (items) => {
    await insertMany(items, 1000)
    await items.upsert({ _id: 'd000500', n: -1 })
    const all = await items.changes().toArray()
    assertEqual(all.length, 1000)
    assertEqual(
      all.map(({ seq }) => seq),
      all.map(({ seq }) => seq).toSorted((left, right) => left - right),
    )
    const parts: Row[] = []
    for (let since = 0, size = 1; parts.length < 1000; size = (size * 3) % 331) {
      const page = await items.changes({ since, limit: size }).page()
      assertEqual(
        [page.changes.length, page.pending],
        [Math.min(size, 1000 - parts.length), 1000 - parts.length - page.changes.length],
      )
      parts.push(...page.changes)
      since = page.lastSeq
      assertEqual(since, page.changes.at(-1)?.seq ?? since)
    }
    assertEqual(parts, all)
    const newest = items.changes({ descending: true, limit: 3 })
    assertEqual(await newest.toArray(), all.toReversed().slice(0, 3))
    assertEqual(newest.lastSeq, 0, 'what lies below was not read')
    const down = items.changes({ descending: true, since: 990 })
    assertEqual(await down.toArray(), all.filter(({ seq }) => seq > 990).toReversed())
    assertEqual(down.lastSeq, 1001)
    assertEqual(await items.changes({ since: 'now' }).page(), { changes: [], lastSeq: 1001, pending: 0 })
    assertEqual(await items.changes({ limit: 0 }).page(), { changes: [], lastSeq: 0, pending: 1000 })
  })

  check('`now` is when the feed was asked for', async (items) => {
    await items.insert({ _id: 'a', n: 1 })
    const feed = items.changes({ since: 'now' })
    await items.insert({ _id: 'b', n: 2 })
    assertEqual(idsOf(await feed.toArray()), ['b'])
  })

  check('a loop that is left resumes where it was', async (items) => {
    await insertMany(items, 700)
    const seen: string[] = []
    let since = 0
    for (let stop = 1; seen.length < 700; stop += 37) {
      const feed = items.changes({ since })
      let count = 0
      for await (const { id } of feed) {
        seen.push(id)
        if (++count === stop) break
      }
      since = feed.lastSeq
    }
    assertEqual(seen, idsOf(await items.changes().toArray()))
  })

  check('writes while a feed is read: what it gives is new, and what it leaves out comes later', async (items) => {
    await insertMany(items, 1500)
    const seen = new Map<string, number>()
    const feed = items.changes({ docs: true })
    let count = 0
    for await (const { id, doc } of feed) {
      assertTrue(!seen.has(id), 'no document comes twice')
      seen.set(id, (doc as Item).n)
      if (++count % 100 === 0)
        await items.upsert([`d00000${(count / 100) % 10}`, 'd001499', `x${count}`].map((_id) => ({ _id, n: -count })))
    }
    for (const { id, doc } of await items.changes({ since: feed.lastSeq, docs: true }).toArray())
      seen.set(id, (doc as Item).n)
    const all = await items.find().toArray()
    assertEqual(seen.size, all.length)
    for (const { _id, n } of all) assertEqual(seen.get(_id), n, _id)
  })

  check('a collection that does not exist has no changes', async (items) => {
    assertEqual(await items.changes().page(), { changes: [], lastSeq: 0, pending: 0 })
    await assertRejects(items.changes({ since: 1 }).toArray(), 'PANNIER_EPOCH_MISMATCH')
  })

  check('wrong options are TypeErrors', async (items) => {
    const wrong: unknown[] = [
      { since: -1 },
      { since: 'then' },
      { limit: 0.5 },
      { live: true, descending: true },
      { style: 'main' },
      { ids: 'a' },
      { filter: 'design/view' },
      { selector: { $bad: 1 } },
    ]
    for (const options of wrong) assertThrows(() => items.changes(options as ChangesOptions<Item>), TypeError)
    assertThrows(() => items.changes({ live: true }).page(), TypeError)
  })
}

/** By index (when there are many changes), by element, by id, by nothing; and with what only tombstones have. */
const SELECTORS: readonly Selector<Identified<Item> & { readonly _deleted?: true }>[] = [
  { city: { $regex: '^(O|B)+s?' }, tags: { $all: ['t3'] } },
  { n: 17 },
  { n: { $gte: 100, $lt: 110 } },
  { tags: 't3' },
  { city: 'Oslo', n: { $lt: 40 } },
  { $or: [{ n: 5 }, { _deleted: true }] },
  { $or: [{ n: { $in: [1, 2, 3] } }, { tags: 't9' }] },
  { _deleted: true },
  { _deleted: { $exists: false }, n: { $lt: 9 } },
  { _id: { $in: ['d000003', 'd000103', 'd000900', 'none'] } },
  { _id: { $gte: 'd000990' } },
  { n: { $exists: false } },
  { $nor: [{ n: { $gte: 3 } }] },
  { n: { $in: [] } },
  {},
]

function filterCases(check: Case): void {
  check('a selector sees what the feed gives, tombstones too, with and without indexes', async (_items, db) => {
    for (const [name, indexes] of [
      ['plain', []],
      ['indexed', ['n', ['city', 'n'], { on: 'tags', multi: true }]],
    ] as const) {
      const items = db.collection<Item>(name, { indexes: [...indexes] })
      await insertMany(items, 1200)
      await items.ready()
      await items.delete(['d000005', 'd000017', 'd000103', 'd000999'])
      await items.upsert(['d000003', 'd000105', 'd000017'].map((_id) => ({ _id, n: 17, tags: ['t3'] })))
      const all = await items.changes({ docs: true }).toArray()
      for (const selector of SELECTORS) {
        const predicate = parseSelector(selector)
        const expected = all.filter(({ doc }) => evaluate(predicate, doc!))
        for (const since of [0, 600, 1190, 1205]) {
          const left = expected.filter(({ seq }) => seq > since)
          const feed = items.changes({ since, selector, docs: true })
          const what = `${name} ${JSON.stringify(selector)} since ${since}`
          assertEqual(await feed.toArray(), left, what)
          assertEqual(feed.lastSeq, 1207, `${what}: lastSeq also goes over what was filtered out`)
          assertEqual(
            await items.changes({ since, selector, descending: true, docs: true }).toArray(),
            left.toReversed(),
            what,
          )
          const first = items.changes({ since, selector, limit: 2, docs: true })
          const two = await first.toArray()
          assertEqual(
            [...two, ...(await items.changes({ since: first.lastSeq, selector, docs: true }).toArray())],
            left,
            what,
          )
        }
      }
    }
  })

  check('ids and functions filter, alone and together', async (items) => {
    await insertMany(items, 1000)
    await items.delete('d000007')
    const ids = ['d000007', 'd000500', 'd000002', 'none', 'x'.repeat(5000), '']
    const few = items.changes({ ids })
    assertEqual(idsOf(await few.toArray()), ['d000002', 'd000500', 'd000007'])
    assertEqual(few.lastSeq, 1001)
    assertEqual(idsOf(await items.changes({ ids, since: 900 }).toArray()), ['d000007'])
    assertEqual(await items.changes({ ids: [] }).page(), { changes: [], lastSeq: 1001, pending: 0 })
    const asked: string[] = []
    const filter = (doc: { _id: string; _deleted?: true; n?: number }): boolean => {
      asked.push(doc._id)
      return doc._deleted === true || doc.n! < 3
    }
    const rows = await items.changes({ filter }).toArray()
    assertEqual(idsOf(rows), ['d000000', 'd000001', 'd000002', 'd000007'])
    assertEqual([asked.length, new Set(asked).size], [1000, 1000])
    assertEqual(rows[0]!.doc, undefined)
    assertEqual(idsOf(await items.changes({ filter, ids, selector: { city: { $exists: true } } }).toArray()), [
      'd000002',
    ])
    const failing = items.changes({
      filter: () => {
        throw new RangeError('on purpose')
      },
    })
    await assertRejects(failing.toArray(), RangeError)
  })
}

/** Beside the first revision; one is a tombstone. */
const LEAVES = ['2-zz', '2-b', '1-a', '3-gone']

async function addConflicts(items: Items, _id: string): Promise<void> {
  const replicate = (rev: string, content: object): Promise<unknown> =>
    items.put({ _id, _rev: rev, n: 1, ...content } as never, { newEdits: false })
  for (const rev of ['1-a', '2-b', '2-zz']) await replicate(rev, {})
  await replicate('3-gone', { _deleted: true, city: 'Oslo' })
}

function revisionCases(check: Case): void {
  check('every leaf revision, and conflicts', async (items) => {
    await insertMany(items, 300)
    await addConflicts(items, 'd000100')
    const revsOf = (row: Row | undefined): string[] => row!.changes.map(({ rev }) => rev)
    const own = (await items.get('d000101'))!._rev
    for (const options of [{}, { ids: ['d000100', 'd000101'] }, { descending: true }]) {
      const rows = await items.changes({ ...options, style: 'all' }).toArray()
      const byId = new Map(rows.map((row) => [row.id, row]))
      assertEqual(byId.get('d000100')!.seq, 304, 'a new leaf is a change, also one that does not win')
      const first = (await items.get('d000100'))!
      assertEqual(revsOf(byId.get('d000100'))[0], first._rev)
      const leaves = await items.getRevisions('d000100', 'all')
      assertEqual(
        revsOf(byId.get('d000100')),
        leaves.map((read) => ('ok' in read ? read.ok._rev : read.missing)),
      )
      for (const rev of LEAVES) assertTrue(revsOf(byId.get('d000100')).includes(rev), rev)
      assertEqual(revsOf(byId.get('d000101')), [own])
    }
    assertEqual(revsOf((await items.changes({ ids: ['d000100'] }).toArray())[0]).length, 1)
    const [change] = await items.changes({ ids: ['d000100'], docs: true, conflicts: true }).toArray()
    const { _conflicts } = (await items.get('d000100', { conflicts: true }))!
    assertEqual((change!.doc as { _conflicts?: readonly string[] })._conflicts, _conflicts)
    assertEqual(_conflicts?.length, 3)
    const [listed, other] = await items.list({ gte: 'd000100', limit: 2, docs: true, conflicts: true }).toArray()
    assertEqual((listed!.doc as { _conflicts?: readonly string[] })._conflicts, _conflicts)
    assertEqual('_conflicts' in other!.doc!, false)
    const [plain] = await items.list({ ids: ['d000100'], docs: true }).toArray()
    assertEqual('_conflicts' in (plain as { doc: object }).doc, false)
  })

  check('a thousand leaves: one row, in their order', async (items) => {
    const revs = Array.from({ length: 1000 }, (_, n) => `1-${String(n).padStart(4, '0')}`)
    for (let from = 0; from < 1000; from += 250)
      await items.put(revs.slice(from, from + 250).map((_rev, n) => ({ _id: 'a', _rev, n: from + n })) as never, {
        newEdits: false,
      })
    const [row, ...others] = await items.changes({ style: 'all' }).toArray()
    assertEqual(others, [])
    assertEqual(
      row!.changes.map(({ rev }) => rev),
      revs.toReversed(),
    )
  })

  check('a tombstone with content passes by its content', async (items) => {
    await insertMany(items, 600)
    await items.put({
      _id: 'd000004',
      _rev: (await items.get('d000004'))!._rev,
      _deleted: true,
      city: 'Bergen',
    } as never)
    const rows = await items.changes({ selector: { city: 'Bergen' }, docs: true }).toArray()
    assertEqual(
      rows.map(({ id, deleted, doc }) => [id, deleted, (doc as Item).city]),
      [['d000004', true, 'Bergen']],
    )
  })

  check('what was purged is in no feed, and its numbers are not used again', async (items) => {
    await items.insert(['a', 'b'].map((_id, n) => ({ _id, n })))
    await items.purge('b')
    const { changes, lastSeq } = await items.changes().page()
    assertEqual(idsOf(changes), ['a'])
    assertTrue(lastSeq >= 2 && lastSeq === (await items.info()).lastSeq, 'the numbers stay given')
    await items.insert({ _id: 'b', n: 3 })
    assertEqual(
      (await items.changes({ since: lastSeq }).toArray()).map(({ seq, id }) => [seq, id]),
      [[lastSeq + 1, 'b']],
    )
  })
}

function liveCases(check: Case): void {
  check('a live feed goes on with what is committed', async (items) => {
    await items.insert({ _id: 'a', n: 0 })
    const seen: unknown[] = []
    const feed = items.changes({ live: true, docs: true })
    let next: Promise<unknown> = Promise.resolve()
    for await (const { id, deleted } of feed) {
      seen.push(deleted === true ? [id] : id)
      if (seen.length === 1) next = items.insert(['b', 'c'].map((_id) => ({ _id, n: 1 })))
      if (seen.length === 3) next = items.delete('a')
      if (seen.length === 4) break
    }
    await next
    assertEqual(seen, ['a', 'b', 'c', ['a']])
    assertEqual(feed.lastSeq, 4)
  })

  check('a live feed of a collection that does not exist waits for it', async (items, db) => {
    const first = items.changes({ live: true, limit: 1 }).toArray()
    await db.collection('others').insert({ _id: 'x' })
    await items.insert({ _id: 'a', n: 0 })
    assertEqual(idsOf(await first), ['a'])
  })

  check('lastSeq of a live feed also goes over what is filtered out', async (items) => {
    const feed = items.changes({ live: true, ids: ['z'], limit: 1 })
    const rows = feed.toArray()
    for (let n = 0; n < 5; n++) await items.insert({ _id: `a${n}`, n })
    await items.insert({ _id: 'z', n: 9 })
    assertEqual(idsOf(await rows), ['z'])
    assertEqual(feed.lastSeq, 6)
  })

  check('a slow consumer gets the newest state of each document once', async (items) => {
    await insertMany(items, 600)
    let count = 0
    let last: Row | undefined
    for await (const change of items.changes({ live: true })) {
      if (++count === 1) for (let n = 0; n < 30; n++) await items.upsert({ _id: 'busy', n })
      last = change
      if (change.id === 'busy') break
    }
    assertEqual([last?.id, count], ['busy', 601])
    assertEqual(last?.seq, 630)
  })

  check('writers at once and a live reader: nothing is missed', async (items) => {
    const state = new Map<string, string>()
    const reading = (async () => {
      for await (const { id, changes, seq } of items.changes({ live: true })) {
        assertTrue(seq > 0, 'numbers start at 1')
        state.set(id, changes[0]!.rev)
        if (id === 'end') return
      }
    })()
    const random = seededRandom(20)
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let round = 0; round < 25; round++) {
          const _id = `d${random.below(30)}`
          if (random.chance(0.2)) await items.delete(_id)
          else await items.upsert({ _id, n: random.below(1000) })
        }
      }),
    )
    await items.insert({ _id: 'end', n: 0 })
    await reading
    for (const { id, changes } of await items.changes().toArray()) assertEqual(state.get(id), changes[0]!.rev, id)
  })
}

function endCases(check: Case): void {
  check('a signal ends a feed with PANNIER_ABORTED, also while it waits', async (items) => {
    await insertMany(items, 10)
    const controller = new AbortController()
    const reading = (async () => {
      let count = 0
      for await (const _ of items.changes({ live: true, signal: controller.signal })) count++
      return count
    })()
    await items.insert({ _id: 'x', n: 1 })
    controller.abort(new RangeError('enough'))
    const error = (await assertRejects(reading, 'PANNIER_ABORTED')) as Error
    assertTrue(error.cause instanceof RangeError, 'the reason is kept')
    await assertRejects(items.changes({ signal: controller.signal }).toArray(), 'PANNIER_ABORTED')
    const early = new AbortController()
    const some: string[] = []
    const stopped = (async () => {
      for await (const { id } of items.changes({ signal: early.signal })) {
        some.push(id)
        if (some.length === 3) early.abort()
      }
    })()
    await assertRejects(stopped, 'PANNIER_ABORTED')
    assertEqual(some.length, 3)
  })

  check('return() ends an iterator that waits', async (items) => {
    const iterator = items.changes({ live: true })[Symbol.asyncIterator]()
    const waiting = iterator.next()
    assertEqual(await iterator.return!(), { done: true, value: undefined })
    assertEqual(await waiting, { done: true, value: undefined })
  })

  check('a live feed ends when the collection is dropped, another rejects', async (items, db) => {
    await insertMany(items, 600)
    let count = 0
    const live = (async () => {
      for await (const _ of items.changes({ live: true })) count++
    })()
    const short = items.changes()[Symbol.asyncIterator]()
    await short.next()
    await eventually(async () => {
      await db.refresh()
      return count === 600
    })
    await db.dropCollection('items')
    await live
    const rest = (async () => {
      while ((await short.next()).done !== true);
    })()
    await assertRejects(rest, 'PANNIER_NOT_FOUND')
  })

  check('a collection that is made again is another one', async (items, db) => {
    await insertMany(items, 300)
    const { epoch } = await items.info()
    assertDefined(epoch)
    const { lastSeq } = await items.changes({ epoch }).page()
    await db.dropCollection('items')
    await assertRejects(items.changes({ since: lastSeq }).toArray(), 'PANNIER_EPOCH_MISMATCH')
    await items.insert({ _id: 'a', n: 1 })
    await assertRejects(items.changes({ since: lastSeq }).toArray(), 'PANNIER_EPOCH_MISMATCH')
    await assertRejects(items.changes({ since: 1, epoch }).toArray(), 'PANNIER_EPOCH_MISMATCH')
    assertEqual(idsOf(await items.changes().toArray()), ['a'])
  })

  check('closing ends a live feed; another rejects', async (items, db) => {
    await insertMany(items, 600)
    const feed = items.changes({ live: true })
    let count = 0
    const live = (async () => {
      for await (const _ of feed) count++
    })()
    const short = items.changes()[Symbol.asyncIterator]()
    await short.next()
    await eventually(async () => {
      await db.refresh()
      return count === 600
    })
    await db.close()
    await live
    const rest = (async () => {
      while ((await short.next()).done !== true);
    })()
    await assertRejects(rest, 'PANNIER_CLOSED')
    await assertRejects(items.changes().toArray(), 'PANNIER_CLOSED')
    await assertRejects(items.changes({ since: 'now' }).toArray(), 'PANNIER_CLOSED')
  })
}

function handleCases(check: Case): void {
  check('a live feed hears of other handles', async (items, _db, open) => {
    await items.insert({ _id: 'a', n: 0 })
    const other = (await open()).collection<Item>('items')
    const rows: Row[] = []
    for await (const change of items.changes({ live: true })) {
      rows.push(change)
      if (rows.length === 1) await other.insert(['b', 'c'].map((_id) => ({ _id, n: 1 })))
      if (rows.length === 3) await other.delete('b')
      if (rows.length === 4) break
    }
    assertEqual(idsOf(rows), ['a', 'b', 'c', 'b'])
  })

  check('a sequence number from another handle that is ahead is no mismatch', async (items, _db, open) => {
    await items.insert({ _id: 'a', n: 0 })
    const other = (await open()).collection<Item>('items')
    for (let n = 0; n < 20; n++) {
      await other.insert({ _id: `b${n}`, n })
      const { lastSeq } = await other.info()
      assertEqual(await items.changes({ since: lastSeq }).toArray(), [])
    }
  })

  check('a live feed ends when another handle drops the collection', async (items, _db, open) => {
    await items.insert({ _id: 'a', n: 0 })
    const other = await open()
    let count = 0
    for await (const _ of items.changes({ live: true })) if (++count === 1) void other.dropCollection('items')
    assertEqual(count, 1)
  })
}
