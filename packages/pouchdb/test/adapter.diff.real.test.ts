/**
 * Goal: PouchDB answers on our adapter as on its own. Method: random calls, the same on PouchDB's memory adapter and on ours, in memory and
 * in an SQLite file. Each answer and each error is the same, except for the names of revisions that adapters make.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import memoryAdapter from 'pouchdb-adapter-memory'
import { memory } from 'pannier/memory'
import { sqlite } from 'pannier/sqlite'
import { seededRandom, type Random } from '../../db/testing/random.ts'
import { afterAll, expect, test } from 'vitest'
import { seedsOf } from '../../../tools/test/seeds.ts'
import { PouchDB, type Doc, type Pouch } from './pouch.ts'

PouchDB.plugin(memoryAdapter)

const CALLS = 120
const folder = mkdtempSync(join(tmpdir(), 'pannier-pouchdb-diff-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A call, made of chance once and played on each database. */
type Call = ((db: Pouch) => Promise<unknown>) & { what?: string }

const VIEWS = ['function (doc) { emit(doc.n, doc._id) }', 'function (doc) { if (doc.s) emit([doc.s, doc.n]) }']
const SELECTORS = [
  { n: { $gt: 2 } },
  { s: 'b', n: { $lte: 4 } },
  { $or: [{ n: 1 }, { s: { $in: ['a', 'c'] } }] },
  { _id: { $gte: 'd3' } },
  { n: { $gte: 0 }, s: { $ne: 'a' } },
]

function content(random: Random): Doc {
  return {
    n: random.below(6),
    s: random.pick(['a', 'b', 'c']),
    ...(random.chance(0.2) && { deep: { x: [random.below(3), null] } }),
    ...(random.chance(0.1) && {
      _attachments: { f: { content_type: 'text/plain', data: random.pick(['aGk=', 'aG8=']) } },
    }),
  }
}

/** The name of a revision tells its ancestors, as a hash does: `2-xy` descends from `1-x`. Few of them, so that branches meet. */
function replicated(random: Random): Doc {
  const start = 1 + random.below(3)
  const name = someName(random, start)
  const ids = Array.from({ length: start }, (_, at) => name.slice(0, start - at))
  return {
    _id: `r${random.below(3)}`,
    _rev: `${start}-${name}`,
    _revisions: { start, ids },
    n: random.below(3),
    s: 'b',
    ...(random.chance(0.2) && { _deleted: true }),
  }
}

function someName(random: Random, generation: number): string {
  return Array.from({ length: generation }, () => random.pick(['x', 'y'])).join('')
}

function someRevision(random: Random): string {
  const generation = 1 + random.below(3)
  return `${generation}-${someName(random, generation)}`
}

const currentRev = async (db: Pouch, id: string): Promise<string | undefined> =>
  (await db.get(id).catch(() => undefined))?._rev

function someRange(random: Random, keys: readonly unknown[]): object {
  return {
    ...(random.chance(0.5) && { startkey: random.pick(keys) }),
    ...(random.chance(0.5) && { endkey: random.pick(keys) }),
    ...(random.chance(0.3) && { inclusive_end: random.chance(0.5) }),
    ...(random.chance(0.3) && { descending: true }),
    ...(random.chance(0.3) && { skip: random.below(3) }),
    ...(random.chance(0.4) && { limit: random.below(5) }),
    ...(random.chance(0.5) && { include_docs: true }),
  }
}

const IDS = Array.from({ length: 8 }, (_, at) => `d${at}`)

function someCall(random: Random): Call {
  const id = random.pick(IDS)
  const doc = content(random)
  const revision = `r${random.below(3)}`
  switch (random.below(15)) {
    case 0:
    case 1:
    case 2:
      return async (db) => db.put({ ...doc, _id: id, ...withRev(await currentRev(db, id)) })
    case 3:
      return (db) => db.put({ ...doc, _id: id })
    case 4:
      return async (db) => db.remove(id, (await currentRev(db, id)) ?? '1-abc')
    case 5: {
      const docs = Array.from({ length: 4 }, () => ({ ...content(random), _id: random.pick(IDS) }))
      return (db) => db.bulkDocs(docs.map((each) => ({ ...each })))
    }
    case 6:
    case 7: {
      const docs = Array.from({ length: 1 + random.below(3) }, () => replicated(random))
      return (db) => db.bulkDocs({ docs: docs.map((each) => ({ ...each })), new_edits: false })
    }
    case 8: {
      const options = { revs: random.chance(0.5), revs_info: random.chance(0.3), conflicts: random.chance(0.5) }
      const rev = random.chance(0.4) ? { rev: someRevision(random) } : {}
      return (db) => db.get(revision, { ...options, ...rev })
    }
    case 9:
      // Their order is left open.
      return async (db) => {
        const leaves = (await db.get(revision, { open_revs: 'all' })) as unknown as readonly object[]
        return leaves.map((leaf) => JSON.stringify(comparable(leaf))).toSorted()
      }
    case 10: {
      const options = random.chance(0.2)
        ? { keys: [id, 'none', revision], include_docs: true }
        : someRange(random, ['d1', 'd4', 'r1', 'z'])
      return (db) => db.allDocs(options)
    }
    case 11: {
      const options = {
        style: random.pick(['main_only', 'all_docs']),
        ...(random.chance(0.5) && { include_docs: true, conflicts: true }),
        ...(random.chance(0.2) && { doc_ids: [id, revision] }),
        ...(random.chance(0.2) && { descending: true }),
      }
      return async (db) => {
        const { results } = await db.changes(options)
        const rows = results.map(({ seq: _, changes, ...others }) => ({ ...others, leaves: revisionsIn(changes) }))
        // A revision that is known may move its document in PouchDB's feed.
        return rows.map((row) => JSON.stringify(comparable(row))).toSorted()
      }
    }
    case 12: {
      const view = random.below(2)
      const keys = view === 0 ? [0, 2, 4] : [['a'], ['b', 2], ['c', {}]]
      const options = random.chance(0.2) ? { reduce: '_count', group: true } : someRange(random, keys)
      const { reduce, ...others } = options as { readonly reduce?: string }
      return (db) => db.query({ map: VIEWS[view], ...(reduce && { reduce }) }, others)
    }
    case 13: {
      const request = { selector: random.pick(SELECTORS), limit: 1 + random.below(10), skip: random.below(2) }
      return Object.assign((db: Pouch) => db.find({ ...request }), { what: `find ${JSON.stringify(request)}` })
    }
    default:
      return random.chance(0.5) ? someBulkRead(random, id, revision) : (db) => db.compact()
  }
}

/** Documents that are there, ids and revisions that no document can have, and one id several times. */
function someBulkRead(random: Random, id: string, revision: string): Call {
  const some = [id, revision, 'none', '_x', '', '_design', 'x'.repeat(5000)]
  const odd = random.pick(some.slice(3))
  if (random.chance(0.2)) return (db) => db.revsDiff({ none: ['1-x'], [odd]: ['1-x', 'odd'] })
  const docs = Array.from({ length: 5 }, () => ({
    id: random.pick(some),
    ...(random.chance(0.7) && { rev: random.chance(0.1) ? 'odd' : someRevision(random) }),
  }))
  // PouchDB's memory adapter ends the process if a document lacks the revision.
  const latest = random.chance(0.5) && docs.every((one) => one.id !== id || one.rev === undefined)
  return (db) => db.bulkGet({ docs, revs: true, latest })
}

/** Leaves in one order: PouchDB has that of its tree. */
function revisionsIn(changes: unknown): string {
  const revisions = (changes as readonly { readonly rev: string }[]).map(({ rev }) => String(comparable(rev)))
  return revisions.toSorted().join(' ')
}

function withRev(rev: string | undefined): object {
  return rev === undefined ? {} : { _rev: rev }
}

async function answerOf(db: Pouch, call: Call): Promise<unknown> {
  const answer = await call(db).catch(({ status, name }: { status: number; name: string }) => ({ status, name }))
  return comparable(answer)
}

/** Generations without the names that adapters make; fields in one order. */
function comparable(answer: unknown): unknown {
  const text = JSON.stringify(answer, (name, value: unknown) => {
    if (name === 'stack' || name === 'docId') return undefined
    if (name === '_conflicts') return (value as string[]).toSorted()
    if (typeof value === 'string') return value.replace(/^(\d+-)?[0-9a-f]{32}$/, '$1#')
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
  })
  return text === undefined ? undefined : JSON.parse(text)
}

for (const seed of seedsOf('diff', 0.5)) {
  test(`as PouchDB's memory adapter, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, async () => {
    const random = seededRandom(seed)
    const theirs = new PouchDB(`diff-${seed}`, { adapter: 'memory' })
    const ours = [
      new PouchDB(`diff-${seed}`, { adapter: 'pannier', storage: memory() }),
      new PouchDB(join(folder, `diff-${seed}`), { adapter: 'pannier', storage: sqlite() }),
    ]
    for (let at = 0; at < CALLS; at++) {
      const call = someCall(random)
      const wanted = await answerOf(theirs, call)
      for (const db of ours)
        expect(await answerOf(db, call), `call ${at}: ${call.what ?? String(call)}`).toEqual(wanted)
    }
    await Promise.all([theirs, ...ours].map((db) => db.destroy()))
  })
}
