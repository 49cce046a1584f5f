/** Ordered reads, `_local/` documents and `info()`: what every database guarantees of them. */
import type { Database } from '../../src/database/database.ts'
import type { ListOptions } from '../../src/database/collection/document-list.ts'
import { assertDefined, assertEqual, assertRejects, assertThrows, assertTrue } from '../check.ts'
import { seededRandom } from '../random.ts'
import type { SuiteContext } from '../suite.ts'
import { checkedCases, type CheckedCase } from './database-cases.ts'

type Context = SuiteContext<() => Promise<Database>>
export function documentListSuite({ test, create }: Context): void {
  const check = checkedCases({ test, create })
  listCases(check)
  nastyCases(check)
  localCases(check)
  infoCases(check)
}

const NASTY_IDS: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  '../',
  '%2e%2e',
  '_design/x',
  '\u0000',
  'a\u0000',
  'a\u0000b',
  'a',
  'aa',
  'ä',
  '\ud800',
  '\udfff',
  '\ud83d\ude00',
  '\ufb01',
  '\uffff',
  '\u{10000}',
  '\u{10ffff}',
  ' ',
  '\n',
  'x'.repeat(4096),
]

/** By code point, which is not how strings compare in JavaScript. */
function compareIds(left: string, right: string): number {
  const [a, b] = [left, right].map((id) => Array.from(id, (char) => char.codePointAt(0)!)) as [number[], number[]]
  const at = a.findIndex((point, index) => point !== b[index])
  if (at < 0) return a.length - b.length
  return b[at] === undefined ? 1 : a[at]! - b[at]
}

/** What a list must give, as plainly as it can be said. */
function naiveList(ids: readonly string[], options: ListOptions): { total: number; offset: number; ids: string[] } {
  const { gte, gt, lte, lt, prefix = '', descending = false, skip = 0, limit = Infinity } = options
  const ordered = ids.toSorted(compareIds)
  if (descending) ordered.reverse()
  const isAfterStart = (id: string): boolean =>
    (gte === undefined || compareIds(id, gte) >= 0) &&
    (gt === undefined || compareIds(id, gt) > 0) &&
    (prefix === '' || compareIds(id, prefix) >= 0)
  const isBeforeEnd = (id: string): boolean =>
    (lte === undefined || compareIds(id, lte) <= 0) &&
    (lt === undefined || compareIds(id, lt) < 0) &&
    (prefix === '' || compareIds(id, prefix) < 0 || hasPrefix(id, prefix))
  const found = ordered.filter((id) => isAfterStart(id) && isBeforeEnd(id))
  const before = ordered.filter((id) => !(descending ? isBeforeEnd(id) : isAfterStart(id))).length
  return {
    total: ids.length,
    offset: before + Math.min(skip, found.length),
    ids: found.slice(skip, skip + limit),
  }
}

function hasPrefix(id: string, prefix: string): boolean {
  const points = Array.from(id)
  return Array.from(prefix).every((char, at) => points[at] === char)
}

function listCases(check: CheckedCase): void {
  check('a list has the documents in the order of their ids, with revisions', async (db) => {
    const people = db.collection<{ n: number }>('people')
    const written = await people.insert(['b', 'a', 'c', 'd'].map((_id, n) => ({ _id, n })))
    await people.upsert({ _id: 'a', n: 7 })
    await people.delete('c')
    const a = (await people.get('a'))!
    const { total, offset, seq, rows } = await people.list().page()
    assertEqual([total, offset, seq], [3, 0, 6])
    assertEqual(rows, [
      { id: 'a', rev: a._rev },
      { id: 'b', rev: written[0]!.rev },
      { id: 'd', rev: written[3]!.rev },
    ])
    assertEqual(await people.list({ gte: 'a', lt: 'b', docs: true }).toArray(), [{ id: 'a', rev: a._rev, doc: a }])
  })

  check('a list by ids tells which are deleted or not there', async (db) => {
    const people = db.collection<{ n: number }>('people')
    await people.insert(['b', 'a', 'c'].map((_id, n) => ({ _id, n })))
    const gone = (await people.delete('b'))!
    const a = (await people.get('a'))!
    const ids = ['zz', 'a', 'b', '', '_x', 'a', 'y'.repeat(5000)]
    const { total, offset, rows } = await people.list({ ids, docs: true }).page()
    assertEqual([total, offset], [2, undefined])
    const row = { id: 'a', rev: a._rev, doc: a }
    const missing = ids.map((id) => ({ id, error: 'not_found' as const }))
    const deleted = { id: 'b', rev: gone.rev, deleted: true as const }
    assertEqual(rows, [missing[0]!, row, deleted, missing[3]!, missing[4]!, row, missing[6]!])
    assertEqual(await people.list({ ids, skip: 1, limit: 2 }).toArray(), [{ id: 'a', rev: a._rev }, deleted])
    assertEqual(await people.list({ ids: ['a', 'zz'], descending: true, limit: 1 }).toArray(), [missing[0]!])
    assertEqual(await people.list({ ids: [] }).toArray(), [])
  })

  check('a collection that does not exist has an empty list', async (db) => {
    const none = db.collection('none')
    assertEqual(await none.list().page(), { total: 0, offset: 0, seq: 0, rows: [] })
    assertEqual(await none.list({ ids: ['a'] }).toArray(), [{ id: 'a', error: 'not_found' }])
  })

  check('a loop over a list holds one snapshot, and may be left', async (db) => {
    const people = db.collection<{ n: number }>('people')
    const ids = Array.from({ length: 3000 }, (_, n) => `p${String(n).padStart(5, '0')}`)
    await people.insert(ids.map((_id, n) => ({ _id, n })))
    const seen: string[] = []
    for await (const { id, doc } of people.list({ docs: true })) {
      if (seen.length === 10) await people.delete(ids.slice(20, 1500))
      assertEqual(doc?.n, seen.length)
      seen.push(id)
    }
    assertEqual(seen, ids)
    for await (const { id } of people.list({ descending: true })) {
      assertEqual(id, ids.at(-1))
      break
    }
    assertEqual((await people.list({ skip: 20, limit: 1 }).page()).rows[0]!.id, ids[1500])
  })

  check('a list in a transaction has what the transaction wrote', async (db) => {
    const people = db.collection('people')
    await people.insert({ _id: 'a' })
    await db.transaction(async (tx) => {
      await tx.collection('people').insert({ _id: 'b' })
      assertEqual((await tx.collection('people').list().page()).total, 2)
      assertEqual((await people.list().page()).total, 1)
    })
  })

  check('wrong options of a list are TypeErrors', async (db) => {
    const people = db.collection('people')
    const wrong: unknown[] = [
      { skip: -1 },
      { limit: 1.5 },
      { gte: 1 },
      { keys: 'a' },
      { keys: [1] },
      { keys: [], prefix: 'a' },
    ]
    for (const options of wrong) assertThrows(() => people.list(options as ListOptions), TypeError)
  })
}

function nastyCases(check: CheckedCase): void {
  check('lists of nasty ids are as a naive list has them', async (db) => {
    const random = seededRandom(31)
    const docs = db.collection<{ n: number }>('docs')
    const all = [
      ...NASTY_IDS,
      ...Array.from({ length: 150 }, (_, n) => random.pick(NASTY_IDS).slice(0, 3) + random.below(40) + (n % 3)),
    ]
    const ids = [...new Set(all)]
      .filter((id) => id[0] !== '_' || id.startsWith('_design/') || id === '__proto__')
      .filter((id) => !id.startsWith('__proto__'))
    await docs.insert(ids.map((_id, n) => ({ _id, n })))
    const deleted = ids.filter((_, at) => at % 7 === 3)
    await docs.delete(deleted)
    const live = ids.filter((id) => !deleted.includes(id))
    for (let round = 0; round < 120; round++) {
      const options: Record<string, unknown> = { descending: random.chance(0.5) }
      for (const name of ['gte', 'gt', 'lte', 'lt', 'prefix'])
        if (random.chance(0.25)) options[name] = random.pick(ids).slice(0, random.chance(0.5) ? undefined : 1)
      if (random.chance(0.5)) options['skip'] = random.below(live.length + 5)
      if (random.chance(0.5)) options['limit'] = random.below(20)
      const expected = naiveList(live, options)
      const { total, offset, rows } = await docs.list(options).page()
      assertEqual({ total, offset: offset!, ids: rows.map(({ id }) => id) }, expected, JSON.stringify(options))
    }
    const wanted = Array.from({ length: 60 }, () => random.pick(all))
    const rows = await docs.list({ ids: wanted }).toArray()
    rows.forEach((row, at) => {
      const id = wanted[at]!
      if ('error' in row) assertTrue(!ids.includes(id), 'only what is not there is missing')
      else assertEqual([row.id, 'deleted' in row], [id, deleted.includes(id)])
    })
    assertEqual(Object.keys(Object.prototype), [])
  })
}

function localCases(check: CheckedCase): void {
  check('local documents have revisions 0-N and conflicts', async (db) => {
    const { local } = db.collection('people')
    assertEqual(await local.get('a'), undefined)
    assertEqual(await local.list(), [])
    assertEqual(await local.delete('a'), undefined)
    assertEqual(await local.put({ _id: 'a', n: 1 }), { id: '_local/a', rev: '0-1' })
    const a = await local.get('_local/a')
    assertEqual(a, { _id: '_local/a', _rev: '0-1', n: 1 })
    assertEqual(await local.put({ ...a!, n: 2 }), { id: '_local/a', rev: '0-2' })
    for (const _rev of [undefined, '0-1', '0-3', '1-abc', 'x']) {
      const error = await assertRejects(
        local.put({ _id: 'a', n: 3, ...(_rev !== undefined && { _rev }) }),
        'PANNIER_CONFLICT',
      )
      assertEqual((error as { details?: unknown }).details, { id: '_local/a', rev: '0-2' })
    }
    await assertRejects(local.put({ _id: 'b', _rev: '0-1' }), 'PANNIER_CONFLICT')
    await assertRejects(local.delete({ _id: 'a', _rev: '0-1' }), 'PANNIER_CONFLICT')
    assertEqual(await local.delete({ _id: '_local/a', _rev: '0-2' }), { id: '_local/a', rev: '0-0' })
    assertEqual(await local.get('a'), undefined)
    assertEqual((await local.put({ _id: 'a', _rev: '0-0' })).rev, '0-1')
    assertEqual((await local.delete('a'))?.id, '_local/a')
  })

  check('local documents hold what any document can, under nasty ids', async (db) => {
    const { local } = db.collection('people')
    const content = {
      text: 'ü💡\ud800\u0000',
      nested: { deep: [{ a: 1 }, { a: 2, b: null }] },
      vector: new Float64Array([1, 2.5]),
      ['constructor']: 'x',
    }
    for (const _id of NASTY_IDS) await local.put({ ...content, _id })
    for (const _id of NASTY_IDS) assertEqual(await local.get(_id), { _id: `_local/${_id}`, _rev: '0-1', ...content })
    const listed = (await local.list()).map(({ _id }) => _id.slice('_local/'.length))
    assertEqual(listed, NASTY_IDS.toSorted(compareIds))
    assertEqual(
      (await local.list({ prefix: 'a', limit: 2 })).map(({ _id }) => _id),
      ['_local/a', '_local/a\u0000'],
    )
    const large = 'x'.repeat(100_000)
    await local.put({ _id: 'large', large })
    assertEqual((await local.get('large'))?.['large'], large)
  })

  check('local documents are in no feed, count or list, and go with their collection', async (db) => {
    const people = db.collection('people')
    await people.local.put({ _id: 'a' })
    await people.insert({ _id: 'b' })
    await people.local.put({ _id: 'c' })
    assertEqual(
      (await people.changes().toArray()).map(({ id }) => id),
      ['b'],
    )
    assertEqual((await people.list().page()).total, 1)
    assertEqual(await people.find().count(), 1)
    const { documents, lastSeq } = await people.info()
    assertEqual([documents, lastSeq], [1, 1])
    await db.dropCollection('people')
    assertEqual(await people.local.list(), [])
  })

  check('local documents in a transaction', async (db) => {
    await db.collection('people').local.put({ _id: 'a', n: 0 })
    const failed = db.transaction(async (tx) => {
      const { local } = tx.collection('people')
      await local.put({ ...(await local.get('a'))!, n: 1 })
      assertEqual((await local.get('a'))?.['n'], 1)
      throw new RangeError('on purpose')
    })
    await assertRejects(failed, RangeError)
    assertEqual(await db.collection('people').local.get('a'), { _id: '_local/a', _rev: '0-1', n: 0 })
  })

  check('wrong local documents are refused', async (db) => {
    const { local } = db.collection('people')
    assertThrows(() => local.put({ _id: '' }), TypeError)
    assertThrows(() => local.put({} as { _id: string }), TypeError)
    assertThrows(() => local.put({ _id: 'a', _deleted: true }), TypeError)
    assertThrows(() => local.put([] as never), TypeError)
    assertThrows(() => local.get(1 as never), TypeError)
    await assertRejects(local.put({ _id: 'x'.repeat(5000) }), 'PANNIER_KEY_TOO_LARGE')
    let deep: unknown = 1
    for (let level = 0; level < 1000; level++) deep = [deep]
    await assertRejects(local.put({ _id: 'deep', deep }), 'PANNIER_DOCUMENT_TOO_DEEP')
    assertEqual(await local.list(), [])
  })
}

function infoCases(check: CheckedCase): void {
  check('info tells counts, the last sequence number and an epoch', async (db) => {
    const people = db.collection('people')
    const none = await people.info()
    const { revisionsLimit, ...rest } = none
    assertEqual(rest, {
      name: 'people',
      documents: 0,
      deleted: 0,
      lastSeq: 0,
      epoch: undefined,
      history: false,
      storedBytes: 0,
      columnBytes: 0,
    })
    assertEqual(revisionsLimit, 200)
    await people.insert(['a', 'b', 'c'].map((_id) => ({ _id })))
    await people.delete('b')
    const { documents, deleted, lastSeq, epoch } = await people.info()
    assertEqual([documents, deleted, lastSeq], [2, 1, 4])
    assertDefined(epoch)
    await people.local.put({ _id: 'x' })
    assertEqual((await people.info()).epoch, epoch)
    await db.dropCollection('people')
    await people.insert({ _id: 'a' })
    const anew = await people.info()
    assertEqual(anew.lastSeq, 1)
    assertTrue(anew.epoch !== epoch, 'a collection that is made anew is another one')
  })

  check('a collection can be made before there are documents, once', async (db) => {
    assertEqual(await Promise.all([db.createCollection('people'), db.createCollection('people')]), [true, false])
    assertEqual(await db.collections(), ['people'])
    const people = db.collection('people', { revisionsLimit: 3 })
    await people.ready()
    const { documents, epoch, revisionsLimit } = await people.info()
    assertEqual([documents, revisionsLimit], [0, 3])
    await people.insert({ _id: 'a' })
    assertEqual((await people.info()).epoch, epoch)
  })
}
