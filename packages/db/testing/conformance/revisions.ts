/**
 * What every database promises of revisions, wherever it is stored: winners as in CouchDB, conflicts, replicated revisions,
 * histories and their limit, purging and compacting.
 */
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import type { DocumentInput } from '../../src/database/collection/document-types.ts'
import { isPannierError } from '../../src/base/errors.ts'
import { assertDefined, assertEqual, assertRejects, assertThrows, assertTrue } from '../check.ts'
import { eventually } from '../suite.ts'
import type { SuiteContext } from '../suite.ts'
import { checkedCases } from './database-cases.ts'

type Docs = Collection<{ n?: number }>
type Case = (name: string, body: (docs: Docs, db: Database) => Promise<void>) => void

export function revisionsSuite({ test, create }: SuiteContext<() => Promise<Database>>): void {
  const onDatabase = checkedCases({ test, create })
  const check: Case = (name, body) => onDatabase(name, (db) => body(db.collection('docs', { indexes: ['n'] }), db))
  replicatedCases(check)
  conflictCases(check)
  editCases(check)
  historyCases(check)
  badCases(check)
}

/** A revision made elsewhere: `ids` newest first. */
function replica(_id: string, ids: readonly string[], fields: object = {}): DocumentInput<{ n?: number }> {
  const start = ids.length
  return { _id, _rev: `${start}-${ids[0]!}`, _revisions: { start, ids: [...ids] }, ...fields }
}

async function take(docs: Docs, ...documents: DocumentInput<{ n?: number }>[]): Promise<void> {
  await docs.put(documents, { newEdits: false })
}

async function leavesOf(docs: Docs, id: string): Promise<string[]> {
  return (await docs.getRevisions(id, 'all')).map((result) => ('ok' in result ? result.ok._rev : `? ${result.missing}`))
}

const HASH = '0123456789abcdef0123456789abcdef'

function replicatedCases(check: Case): void {
  check('replicated revisions are kept as they are, and taking them up twice changes nothing', async (docs, db) => {
    const batch = [replica('a', [HASH, 'b', 'ü💡'], { n: 3 }), replica('b', ['x'], { n: 1 }), { _id: 'c', _rev: '7-q' }]
    assertEqual<unknown>(await docs.put(batch, { newEdits: false }), [
      { id: 'a', rev: `3-${HASH}` },
      { id: 'b', rev: '1-x' },
      { id: 'c', rev: '7-q' },
    ])
    const a = await docs.get('a', { revs: true })
    assertEqual<unknown>(a, {
      _id: 'a',
      _rev: `3-${HASH}`,
      n: 3,
      _revisions: { start: 3, ids: [HASH, 'b', 'ü💡'] },
    })
    assertEqual((await docs.get('c', { revs: true }))?._revisions, { start: 7, ids: ['q'] })
    const commits: string[][] = []
    const stop = db.subscribe(({ collections }) => commits.push([...collections.keys()]))
    await take(docs, ...batch)
    await take(docs, replica('a', ['b', 'ü💡'], { n: 99 }), replica('a', ['ü💡'], { n: 98 }))
    await db.collection('later').insert({ _id: 'later' })
    await eventually(() => commits.length > 0)
    stop()
    assertEqual(commits, [['later']])
    assertEqual(await docs.get('a', { revs: true }), a)
    await docs.put({ _id: 'c', _rev: '7-q', n: 5 })
    assertEqual((await docs.get('c', { revs: true }))?._revisions?.ids.length, 2)
  })

  check('the winner: live before deleted, then the generation, then the suffix as text', async (docs) => {
    await take(docs, replica('a', ['b'], { n: 1 }), replica('a', ['c'], { n: 2 }), replica('a', ['abc'], { n: 3 }))
    assertEqual((await docs.get('a'))?.n, 2)
    assertEqual(await leavesOf(docs, 'a'), ['1-c', '1-b', '1-abc'])
    await take(docs, replica('a', ['d', 'b'], { n: 4 }))
    assertEqual((await docs.get('a'))?._rev, '2-d')
    await take(docs, replica('a', ['e', 'd', 'b'], { _deleted: true }))
    assertEqual((await docs.get('a', { conflicts: true, deletedConflicts: true }))!, {
      _id: 'a',
      _rev: '1-c',
      n: 2,
      _conflicts: ['1-abc'],
      _deletedConflicts: ['3-e'],
    } as never)
    assertEqual(await docs.find({ n: 2 }).count(), 1)
    assertEqual(await docs.find({ n: 4 }).count(), 0)
    await take(docs, replica('a', ['x', 'c'], { _deleted: true }), replica('a', ['y', 'abc'], { _deleted: true }))
    assertEqual(await docs.get('a'), undefined)
    assertEqual(await docs.find().count(), 0)
    assertEqual((await docs.get('a', { rev: '3-e' }))?._deleted, true)
    await take(docs, replica('a', ['1'], { n: 7 }))
    assertEqual((await docs.get('a'))?._rev, '1-1', 'live wins, however young')
  })

  check('fast and general ways of taking up a revision agree', async (docs) => {
    await take(docs, replica('a', ['c'], { n: 1 }))
    await take(docs, replica('a', ['e', 'd', 'c'], { n: 2 }))
    assertEqual(await leavesOf(docs, 'a'), ['3-e'])
    await take(docs, { _id: 'a', _rev: '5-g', _revisions: { start: 5, ids: ['g', 'f'] }, n: 3 })
    assertEqual(await leavesOf(docs, 'a'), ['5-g', '3-e'])
    await take(docs, { _id: 'a', _rev: '6-h', _revisions: { start: 6, ids: ['h', 'g', 'f', 'e', 'd', 'c'] }, n: 4 })
    assertEqual(await leavesOf(docs, 'a'), ['6-h'], 'the missing link joins the two')
    assertEqual((await docs.get('a', { revs: true }))?._revisions, { start: 6, ids: ['h', 'g', 'f', 'e', 'd', 'c'] })
    assertEqual(await docs.conflicts(), [])
    await take(docs, { _id: 'b', _rev: '3-c', n: 1 })
    await take(docs, replica('b', ['d', 'c', 'b', 'a'], { n: 2 }))
    assertEqual((await docs.get('b', { revs: true }))?._revisions, { start: 4, ids: ['d', 'c', 'b', 'a'] })
    await take(docs, { _id: 'c', _rev: '3-c', n: 1 }, { _id: 'c', _rev: '2-b', n: 2 })
    await take(docs, replica('c', ['c', 'b', 'a'], { n: 3 }))
    assertEqual(await leavesOf(docs, 'c'), ['3-c'], 'a known revision may bring news of its ancestors')
    assertEqual((await docs.get('c', { revs: true }))!, {
      _id: 'c',
      _rev: '3-c',
      n: 1,
      _revisions: { start: 3, ids: ['c', 'b', 'a'] },
    } as never)
  })

  check('what a replica lacks', async (docs) => {
    await take(docs, replica('a', ['c', 'b', 'a']), replica('a', ['z', 'a']), replica('b', ['a']))
    const { rev } = (await docs.delete('b'))!
    assertEqual<unknown>(
      await docs.revsDiff({
        a: ['3-c', '2-b', '1-a', '2-q', '4-d'],
        b: ['1-a', rev],
        constructor: ['1-a'],
        none: [],
      }),
      { a: { missing: ['2-q', '4-d'], possibleAncestors: ['3-c', '2-z'] }, constructor: { missing: ['1-a'] } },
    )
    assertEqual<unknown>(
      await docs.bulkGet([{ id: 'a', rev: '2-z' }, { id: 'b' }, { id: 'b', rev }, { id: 'x' }], {}),
      [
        { id: 'a', ok: { _id: 'a', _rev: '2-z' } },
        { id: 'b', missing: undefined },
        { id: 'b', ok: { _id: 'b', _rev: rev, _deleted: true } },
        { id: 'x', missing: undefined },
      ],
    )
  })
}

function conflictCases(check: Case): void {
  check('conflicts are listed, and resolved in one commit', async (docs, db) => {
    await take(
      docs,
      replica('a', ['c', 'a'], { n: 3 }),
      replica('a', ['b', 'a'], { n: 2 }),
      replica('z', ['a'], { n: 1 }),
    )
    await take(docs, replica('a', ['d', 'a'], { _deleted: true }))
    assertEqual(await docs.conflicts(), [{ id: 'a', rev: '2-c', conflicts: ['2-b'] }])
    assertEqual(await docs.resolve('a', () => undefined), { id: 'a', rev: '2-c' })
    const seen: unknown[] = []
    const stop = db.subscribe(({ collections }) => seen.push(collections.get('docs')?.ids))
    const { rev } = await docs.resolve('a', (leaves) => ({ n: leaves.reduce((sum, { n }) => sum + n!, 0) }))
    assertEqual(await docs.get('a', { conflicts: true }), { _id: 'a', _rev: rev, n: 5 } as never)
    await eventually(() => seen.length > 0)
    stop()
    assertEqual<unknown>(seen, [['a']])
    assertEqual(await docs.conflicts(), [])
    assertEqual(await docs.find({ n: 5 }).count(), 1)
    assertEqual((await docs.get('a', { deletedConflicts: true }))?._deletedConflicts?.length, 2)
    await assertRejects(
      docs.resolve('nobody', () => ({})),
      'PANNIER_NOT_FOUND',
    )
    await assertRejects(docs.resolve('a', undefined as never), TypeError)
  })

  check('a losing leaf can be extended and deleted; the next one wins when the winner goes', async (docs) => {
    await take(docs, replica('a', ['c'], { n: 3 }), replica('a', ['b'], { n: 2 }), replica('a', ['a'], { n: 1 }))
    const { rev } = await docs.put({ _id: 'a', _rev: '1-a', n: 9 })
    assertEqual((await docs.get('a'))?._rev, rev, 'its generation is higher now')
    await assertRejects(docs.put({ _id: 'a', _rev: '1-a', n: 9 }), 'PANNIER_CONFLICT')
    await docs.delete('a')
    assertEqual((await docs.get('a'))?.n, 3)
    assertEqual(await docs.find({ n: 3 }).count(), 1)
    await docs.delete({ _id: 'a', _rev: '1-b' })
    assertEqual((await docs.get('a', { conflicts: true }))?._conflicts, undefined)
    await assertRejects(docs.delete({ _id: 'a', _rev: '1-b' }), 'PANNIER_CONFLICT')
    await docs.delete('a')
    assertEqual(await docs.get('a'), undefined)
    assertEqual((await docs.getRevisions('a', 'all')).length, 3)
  })

  check('several leaves of one document in one batch', async (docs) => {
    await take(docs, replica('a', ['c'], { n: 3 }), replica('a', ['b'], { n: 2 }), replica('a', ['a'], { n: 1 }))
    const deleted = await docs.delete([
      { _id: 'a', _rev: '1-c' },
      { _id: 'a', _rev: '1-a' },
    ])
    assertTrue(
      deleted.every((result) => result?.rev.startsWith('2-')),
      'each leaf has its tombstone',
    )
    assertEqual((await docs.get('a'))?._rev, '1-b')
    await assertRejects(docs.put([{ _id: 'b' }, { _id: 'b' }]), 'PANNIER_CONFLICT')
    assertEqual(await docs.get('b'), undefined)
  })

  check('a thousand conflicting leaves', async (docs) => {
    const name = (at: number): string => at.toString(16).padStart(32, '0')
    const leaves = Array.from({ length: 1000 }, (_, at) => replica('a', [name(at), HASH], { n: at }))
    await take(docs, ...leaves.slice(0, 995))
    for (const leaf of leaves.slice(995)) await take(docs, leaf)
    assertEqual((await docs.get('a'))?.n, 999)
    const [conflict] = await docs.conflicts()
    assertEqual(conflict?.conflicts.length, 999)
    assertEqual(conflict?.conflicts[0], `2-${name(998)}`)
    assertEqual((await docs.getRevisions('a', 'all', { revs: true })).length, 1000)
    await docs.update('a', () => ({ n: -1 }))
    await docs.resolve('a', (all) => ({ n: all.length }))
    assertEqual((await docs.get('a'))?.n, 1000)
    assertEqual(await docs.find().count(), 1)
  })
}

function editCases(check: Case): void {
  check('a deleted document comes back as a child of its tombstone', async (docs) => {
    const first = await docs.put({ _id: 'a', n: 1 })
    const gone = (await docs.delete('a'))!
    await assertRejects(docs.put({ _id: 'a', _rev: first.rev, n: 2 }), 'PANNIER_CONFLICT')
    await assertRejects(docs.put({ _id: 'a', _deleted: true }), 'PANNIER_CONFLICT')
    const again = await docs.put({ _id: 'a', n: 2 })
    assertEqual((await docs.get('a', { revs: true }))?._revisions, {
      start: 3,
      ids: [again, gone, first].map(({ rev }) => rev.slice(2)),
    })
  })

  check('tombstones may have content', async (docs) => {
    const { rev } = await docs.put({ _id: 'a', n: 1 })
    const gone = await docs.put({ _id: 'a', _rev: rev, _deleted: true, why: 'because' } as never)
    assertEqual(await docs.get('a'), undefined)
    assertEqual<unknown>(await docs.get('a', { rev: gone.rev }), {
      _id: 'a',
      _rev: gone.rev,
      _deleted: true,
      why: 'because',
    })
    assertEqual(await docs.find({ n: 1 }).count(), 0)
    await docs.put({ _id: 'never', _deleted: true })
    assertEqual((await docs.getRevisions('never', 'all')).length, 1)
    const one = await docs.insert({ _id: 'one' })
    const two = await docs.insert({ _id: 'two' })
    assertEqual(
      (await docs.put({ _id: 'one', _rev: one.rev, _deleted: true })).rev,
      (await docs.delete({ _id: 'two', _rev: two.rev }))!.rev,
      'deleting is one edit, however it is done',
    )
  })

  check('what reads tell of revisions can be handed in again', async (docs) => {
    await take(docs, replica('a', ['c'], { n: 3 }), replica('a', ['b'], { n: 2 }))
    const all = { revs: true, revsInfo: true, conflicts: true, deletedConflicts: true }
    const document = (await docs.get('a', all))!
    await docs.put({ ...document, n: 4 })
    assertEqual(Object.keys((await docs.get('a'))!).sort(), ['_id', '_rev', 'n'])
  })

  check('a batch with a result for each document', async (docs) => {
    const { rev } = await docs.insert({ _id: 'a', n: 1 })
    const outcome = (result: unknown): unknown =>
      isPannierError((result as { error?: unknown }).error)
        ? [(result as { id: string }).id, (result as { error: { code: string } }).error.code]
        : (result as { id: string }).id
    const documents = [
      { _id: 'x', n: 1 },
      { _id: 'a', n: 2 },
      { _id: 'a', _rev: rev, n: 3 },
      { _id: 'y'.repeat(5000) },
      { _id: 'z', deep: JSON.parse('['.repeat(500) + ']'.repeat(500)) as unknown },
      { _id: 'x', n: 4 },
    ]
    assertEqual((await docs.put(documents, { atomic: false })).map(outcome), [
      'x',
      ['a', 'PANNIER_CONFLICT'],
      'a',
      ['y'.repeat(5000), 'PANNIER_KEY_TOO_LARGE'],
      ['z', 'PANNIER_DOCUMENT_TOO_DEEP'],
      ['x', 'PANNIER_CONFLICT'],
    ])
    assertEqual(
      (await docs.get(['x', 'a', 'z'])).map((document) => document?.n),
      [1, 3, undefined],
    )
    const references = [{ _id: 'a', _rev: rev }, 'x', 'nobody']
    assertEqual(
      (await docs.delete(references, { atomic: false })).map((result) => result && outcome(result)),
      [['a', 'PANNIER_CONFLICT'], 'x', undefined],
    )
    assertEqual((await docs.insert([{ _id: 'a' }, { _id: 'i' }], { atomic: false })).map(outcome), [
      ['a', 'PANNIER_CONFLICT'],
      'i',
    ])
  })

  check('revisions inside a transaction', async (docs, db) => {
    await take(docs, replica('a', ['c'], { n: 3 }), replica('a', ['b'], { n: 2 }))
    await db.transaction(async (tx) => {
      const inside = tx.collection<{ n?: number }>('docs')
      await inside.put(replica('a', ['x', 'b'], { n: 5 }), { newEdits: false })
      assertEqual((await inside.conflicts())[0]?.conflicts, ['1-c'])
      await inside.resolve('a', ([first]) => first)
      await inside.put({ _id: 'fresh', n: 1 })
      assertEqual((await inside.purge('fresh')).gone, true)
    })
    assertEqual((await docs.get('a', { conflicts: true }))?.n, 5)
    assertEqual(await docs.conflicts(), [])
  })
}

function historyCases(check: Case): void {
  check('a hundred updates of one document', async (docs) => {
    await docs.insert({ _id: 'a', n: 0 })
    for (let n = 1; n <= 100; n++) await docs.update('a', () => ({ n }))
    const { _revisions, _revsInfo } = (await docs.get('a', { revs: true, revsInfo: true }))!
    assertEqual([_revisions?.start, _revisions?.ids.length], [101, 101])
    assertEqual(
      _revsInfo?.map(({ status }) => status),
      ['available', ...Array.from({ length: 100 }, () => 'missing' as const)],
    )
    assertEqual(await docs.getRevisions('a', [_revsInfo![5]!.rev]), [{ missing: _revsInfo![5]!.rev }])
    const [latest] = await docs.getRevisions('a', [_revsInfo![5]!.rev], { latest: true })
    assertTrue(latest !== undefined && 'ok' in latest && latest.ok.n === 100, 'the leaf that descends from it')
  })

  check('the limit of revisions', async (_docs, db) => {
    const docs: Docs = db.collection('limited', { revisionsLimit: 5 })
    await docs.insert({ _id: 'a', n: 0 })
    for (let n = 1; n <= 12; n++) await docs.update('a', () => ({ n }))
    const { start, ids } = (await docs.get('a', { revs: true }))!._revisions!
    assertEqual([start, ids.length], [13, 5])
    await take(docs, replica('b', ['g', 'f', 'e', 'd', 'c', 'b', 'a'], { n: 1 }))
    await take(docs, replica('b', ['x', 'e', 'd', 'c', 'b', 'a'], { n: 2 }))
    assertEqual((await docs.get('b', { revs: true }))!._revisions, { start: 7, ids: ['g', 'f', 'e', 'd', 'c', 'b'] })
    await docs.update('b', () => ({ n: 3 }))
    await docs.update('b', () => ({ n: 3 }))
    assertEqual((await docs.getRevisions('b', ['6-x'], { revs: true }))[0], {
      ok: { _id: 'b', _rev: '6-x', n: 2, _revisions: { start: 6, ids: ['x', 'e', 'd', 'c', 'b'] } },
    } as never)
    db.collection('limited', { revisionsLimit: 1 })
    await docs.ready()
    await docs.update('a', () => ({ n: -1 }))
    assertEqual((await docs.get('a', { revs: true }))!._revisions!.ids.length, 1)
    db.collection('limited', { revisionsLimit: 3 })
    await docs.ready()
    for (let n = 1; n <= 4; n++) await docs.update('a', () => ({ n }))
    assertEqual((await docs.get('a', { revs: true }))!._revisions!.ids.length, 3)
    for (const revisionsLimit of [0, 1.5, -1, NaN, 1e9, '5' as never])
      assertThrows(() => db.collection('limited', { revisionsLimit }), TypeError)
  })

  check(
    'a new collection remembers 200 revisions of a document, unless it is made with another limit',
    async (docs, db) => {
      const limitOf = async (collection: Docs): Promise<number> => (await collection.info()).revisionsLimit
      for (let n = 0; n < 210; n++) await docs.upsert({ _id: 'a', n })
      const { start, ids } = (await docs.get('a', { revs: true }))!._revisions!
      assertEqual([start, ids.length, await limitOf(docs)], [210, 200, 200])
      assertTrue(await db.createCollection('made', { revisionsLimit: 1000 }), 'it is made')
      assertEqual(await limitOf(db.collection('made')), 1000)
      assertTrue(!(await db.createCollection('made', { revisionsLimit: 7 })), 'it is there')
      assertEqual(await limitOf(db.collection('made')), 1000)
      await assertRejects(db.createCollection('other', { revisionsLimit: 0 }), TypeError)
    },
  )

  check('as many edits as are remembered between two replications are no conflict; one more is', async (_docs, db) => {
    const [here, there]: Docs[] = [db.collection('here', { revisionsLimit: 5 }), db.collection('there')]
    await here!.insert(['few', 'many'].map((_id) => ({ _id, n: 0 })))
    await here!.replicate({ to: there! })
    for (let n = 1; n <= 4; n++) await here!.upsert({ _id: 'few', n })
    for (let n = 1; n <= 5; n++) await here!.upsert({ _id: 'many', n })
    await here!.replicate({ to: there! })
    const conflictsOf = async (id: string): Promise<readonly string[]> =>
      (await there!.get(id, { conflicts: true }))!._conflicts ?? []
    assertEqual([(await there!.get('few'))!.n, (await there!.get('many'))!.n], [4, 5])
    assertEqual([(await conflictsOf('few')).length, (await conflictsOf('many')).length], [0, 1])
  })

  check('resolve: a function that changes a leaf and returns nothing is an error', async (docs) => {
    await docs.insert({ _id: 'a', n: 1 })
    const forgetful = (leaves: { n: number }[]): undefined => void (leaves[0]!.n = 2)
    await assertRejects(docs.resolve('a', forgetful as never), TypeError)
    assertEqual((await docs.resolve('a', () => undefined)).rev, (await docs.get('a'))!._rev)
  })

  check('a collection with history keeps what was replaced, until it is compacted', async (_docs, db) => {
    const docs: Docs = db.collection('kept', { history: true })
    const first = await docs.insert({ _id: 'a', n: 1 })
    const second = await docs.put({ _id: 'a', _rev: first.rev, n: 2 })
    const gone = (await docs.delete('a'))!
    await docs.insert({ _id: 'a', n: 3 })
    assertEqual((await docs.get('a', { rev: first.rev }))?.n, 1)
    assertEqual((await docs.get('a', { rev: second.rev }))?.n, 2)
    assertEqual((await docs.get('a', { rev: gone.rev }))?._deleted, true)
    assertEqual(
      (await docs.get('a', { revsInfo: true }))?._revsInfo?.map(({ status }) => status),
      ['available', 'deleted', 'available', 'available'],
    )
    await take(docs, replica('a', ['y', 'x'], { n: 9 }))
    assertEqual((await docs.info()).history, true)
    db.collection('kept', { history: false })
    await docs.ready()
    await docs.update('a', () => ({ n: 4 }))
    await take(docs, replica('a', ['w'], { n: 8 }))
    assertEqual((await docs.get('a', { rev: first.rev }))?.n, 1, 'what was kept stays until it is compacted')
    assertEqual((await db.check()).problems, [])
    assertEqual(await docs.compact(), 3)
    assertEqual(await docs.compact(), 0)
    assertEqual(await docs.get('a', { rev: first.rev }), undefined)
    assertEqual((await docs.get('a', { rev: '2-y' }))?.n, 9, 'leaves stay')
  })

  check('purge', async (docs, db) => {
    await take(docs, replica('a', ['d', 'c', 'a'], { n: 3 }), replica('a', ['b', 'a'], { n: 2 }))
    assertEqual(await docs.purge('a', '2-c'), { purged: [], gone: false }, 'no leaf')
    assertEqual(await docs.purge('a', ['3-d', '9-x']), { purged: ['3-d', '2-c'], gone: false })
    assertEqual(await docs.get('a', { revs: true }), {
      _id: 'a',
      _rev: '2-b',
      n: 2,
      _revisions: { start: 2, ids: ['b', 'a'] },
    } as never)
    assertEqual(await docs.find({ n: 2 }).count(), 1)
    assertEqual(await docs.conflicts(), [])
    const changes: unknown[] = []
    const stop = db.subscribe(({ collections }) => changes.push(collections.get('docs')?.ids))
    assertEqual(await docs.purge('a'), { purged: ['2-b', '1-a'], gone: true })
    await eventually(() => changes.length > 0)
    stop()
    assertEqual<unknown>(changes, [['a']])
    assertEqual(await docs.getRevisions('a', 'all'), [])
    assertEqual(await docs.find().count(), 0)
    assertEqual((await docs.insert({ _id: 'a' })).rev.slice(0, 2), '1-', 'as if it had never been')
    await docs.delete('a')
    assertEqual((await docs.purge('a')).gone, true)
    assertEqual(await docs.purge('nobody'), { purged: [], gone: false })
  })
}

function badCases(check: Case): void {
  check('bad revisions are refused', async (docs) => {
    const hostile = ['', '1', '1-', '-a', '0-a', 'a-b', '01-a', '1.5-a', `${'9'.repeat(30)}-x`, `1-${'x'.repeat(256)}`]
    for (const _rev of hostile) {
      assertThrows(() => docs.put({ _id: 'a', _rev }, { newEdits: false }), TypeError)
      await assertRejects(docs.get('a', { rev: _rev }), TypeError)
      await assertRejects(docs.revsDiff({ a: [_rev] }), TypeError)
      await assertRejects(docs.put({ _id: 'a', _rev }), 'PANNIER_CONFLICT')
    }
    assertThrows(() => docs.put({ _id: 'a' }, { newEdits: false }), TypeError)
    const histories = [
      { start: 1, ids: ['a', 'b'] },
      { start: 0, ids: ['a'] },
      { start: 2, ids: [] },
      { start: 2, ids: ['a', ''] },
      { start: 2, ids: ['b', 'a'] },
      { start: 1e30, ids: ['a'] },
      { start: 2.5, ids: ['a'] },
      { ids: ['a'] },
      null,
      [],
    ]
    for (const _revisions of histories)
      assertThrows(() => docs.put({ _id: 'a', _rev: '2-a', _revisions } as never, { newEdits: false }), TypeError)
    assertEqual(await docs.get('a'), undefined)
  })

  check('histories that contradict one another stay trees, and bounded', async (docs) => {
    await take(docs, replica('a', ['c', 'b', 'a'], { n: 1 }))
    await take(docs, replica('a', ['d', 'c', 'x', 'y'], { n: 2 }))
    assertEqual((await docs.get('a', { revs: true }))?._revisions?.ids, ['d', 'c', 'b', 'a'], 'the first parent stays')
    await take(docs, replica('a', ['z', 'z', 'z', 'z', 'z'], { n: 3 }))
    assertEqual(await leavesOf(docs, 'a'), ['5-z', '4-d'])
    const ids = Array.from({ length: 5000 }, (_, at) => `r${at}`)
    await take(docs, replica('long', ids, { n: 1 }))
    const long = await docs.get('long', { revs: true })
    assertDefined(long)
    assertEqual([long._revisions?.start, long._revisions?.ids.length], [5000, 200])
    await take(docs, { _id: 'far', _rev: '281474976710655-a', n: 1 })
    await assertRejects(
      docs.update('far', () => ({ n: 2 })),
      'PANNIER_LIMIT_EXCEEDED',
    )
  })
}
