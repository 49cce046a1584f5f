/** The first calls after a restart: each load of the modules is a process that knows nothing of the one before. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'pannier-pouchdb-restart-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('indexes of find() outlive a restart whose first call is a write', async () => {
  const name = join(folder, 'restarted')
  const indexes: string[][] = []
  for (const first of [true, false]) {
    vi.resetModules()
    const [{ open }, { sqlite }, { PouchDB }] = await Promise.all([
      import('pannier'),
      import('pannier/sqlite'),
      import('./pouch.ts'),
    ])
    const storage = sqlite()
    const db = new PouchDB(name, { adapter: 'pannier', storage })
    if (first) await db.createIndex({ index: { fields: ['age'] } })
    await db.post({ age: 31 })
    const other = await open(name, { storage })
    indexes.push((await other.collection('docs').indexes()).map((index) => index.name))
    await Promise.all([other.close(), db.close()])
  }
  expect(indexes).toEqual([['age,_id'], ['age,_id']])
})
