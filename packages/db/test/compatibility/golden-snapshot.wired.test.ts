/**
 * Goal: snapshots that earlier versions of the library have written can be restored, and hold what they held.
 * Method: a golden snapshot per version (make-golden-snapshot.ts), each of the golden database of format 1.
 */
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { sqlite } from '../../src/storage/sqlite/sqlite.ts'
import { goldenCollection, goldenTree, openEngine, type GoldenContent } from './golden-content.ts'

const golden = join(import.meta.dirname, '../golden')
const files = globSync('*.snapshot', { cwd: golden })
const folder = mkdtempSync(join(tmpdir(), 'pannier-golden-snapshot-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('there is one of each version', () => {
  expect(files.toSorted()).toEqual(['snapshot-1.snapshot'])
})

describe.each(files)('%s', (file) => {
  const { collections, trees } = JSON.parse(readFileSync(join(golden, 'format-1.json'), 'utf8')) as GoldenContent
  const from = readFileSync(join(golden, file))

  test.each([
    ['memory', memory(), 'restored'],
    ['SQLite', sqlite(), join(folder, `restored-${file}`)],
  ] as const)('holds what it held: %s', async (_, storage, name) => {
    const db = await open(name, { storage, from })
    expect(await db.collections()).toEqual(collections.map(({ name: collection }) => collection))
    for (const expected of collections) expect(await goldenCollection(db, expected.name)).toEqual(expected)
    expect((await db.check()).problems).toEqual([])
    await db.collection(collections[0]!.name).insert({ _id: 'new' })
    await db.flush()
    expect((await db.check()).problems).toEqual([])
    await db.close()
    const engine = await openEngine(storage, name)
    for (const expected of trees) expect(await goldenTree(engine, expected.name)).toEqual(expected)
    await engine.close()
  })
})
