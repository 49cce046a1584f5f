/**
 * Goal: a LevelDB of PouchDB moves whole into an SQLite file, however often the move is killed. Method: a process moves it, and is killed
 * at a report of its progress, again and again. What the new database has at the end is what the old one had.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from 'pannier/sqlite'
import { expect, test } from 'vitest'
import { seededRandom } from '../../db/testing/random.ts'
import { FIRST_SEED, times } from '../../../tools/test/seeds.ts'
import { load } from './installed.ts'
import { PouchDB, type Doc, type Pouch } from './pouch.ts'

PouchDB.plugin(load('pouchdb-adapter-leveldb'))

const DOCUMENTS = 300
const kills = times(6)

async function fill(db: Pouch): Promise<void> {
  const docs = Array.from({ length: DOCUMENTS }, (_, n) => ({ _id: `d${n}`, n, text: 'x'.repeat(n) }))
  await db.bulkDocs(docs)
  for (let n = 0; n < DOCUMENTS; n += 7) {
    const { _rev } = await db.get(`d${n}`)
    if (n % 3 === 0) await db.remove(`d${n}`, _rev)
    else await db.putAttachment(`d${n}`, 'f', _rev, Buffer.from(`content ${n}`), 'text/plain')
  }
  const conflicts = docs.filter(({ n }) => n % 5 === 0).map(({ _id, n }) => ({ _id, _rev: '1-zz', n: -n }))
  await db.bulkDocs(conflicts, { new_edits: false })
}

/** All leaves with the content of their attachments, by id and revision. */
async function leavesOf(db: Pouch): Promise<ReadonlyMap<string, unknown>> {
  const { results } = await db.changes({ style: 'all_docs' })
  const docs = (results as readonly { id: string; changes: readonly { rev: string }[] }[]).flatMap(({ id, changes }) =>
    changes.map(({ rev }) => ({ id, rev })),
  )
  const found = await db.bulkGet({ docs, attachments: true, revs: true })
  const leaves = found.results.flatMap((result) => result.docs.map(({ ok }) => ok as Doc))
  return new Map(leaves.map((leaf) => [`${leaf._id} ${leaf._rev}`, leaf]))
}

/** Resolves with whether the process came to the end. */
async function move(from: string, to: string, reportsMax: number): Promise<boolean> {
  const child = fork(join(import.meta.dirname, 'move-process.ts'), [from, to], {
    execArgv: ['--conditions=pannier-source', '--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  let reports = 0
  child.on('message', () => {
    if (++reports >= reportsMax) child.kill('SIGKILL')
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code === 0
}

test(`${kills} kills (SEED=${FIRST_SEED})`, { timeout: 120_000 + kills * 20_000 }, async () => {
  const random = seededRandom(FIRST_SEED)
  const folder = mkdtempSync(join(tmpdir(), 'pannier-move-'))
  const [from, to] = [join(folder, 'old'), join(folder, 'new')]
  try {
    const old = new PouchDB(from, { adapter: 'leveldb' })
    await fill(old)
    const wanted = await leavesOf(old)
    expect(wanted.size).toBeGreaterThan(DOCUMENTS)
    await old.close()
    for (let kill = 0; kill < kills; kill++) {
      if (await move(from, to, 1 + random.below(30))) break
      expect(existsSync(from)).toBe(true)
    }
    if (existsSync(from)) expect(await move(from, to, Infinity)).toBe(true)
    expect(existsSync(from)).toBe(false)
    const moved = new PouchDB(to, { adapter: 'pannier', storage: sqlite() })
    expect(await leavesOf(moved)).toEqual(wanted)
    await moved.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
