/**
 * Goal: databases that earlier versions of the library have written are opened, hold what they held, and can be written.
 * Method: a golden database per format version (make-golden.ts) is copied and compared with what was written down beside it.
 */
import { createHash } from 'node:crypto'
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { sqlite } from '../../src/storage/sqlite/sqlite.ts'
import { goldenCollection, goldenTree, openEngine, type GoldenContent } from './golden-content.ts'

const golden = join(import.meta.dirname, '../golden')
const files = globSync('*.pannier', { cwd: golden })
const folder = mkdtempSync(join(tmpdir(), 'pannier-golden-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('there is one of each format version', () => {
  expect(files.toSorted()).toEqual(['format-1.pannier'])
})

describe.each(files)('%s', (file) => {
  const { collections, trees } = JSON.parse(
    readFileSync(join(golden, `${basename(file, '.pannier')}.json`), 'utf8'),
  ) as GoldenContent
  let copies = 0
  const copy = (): string => {
    const path = join(folder, `${++copies}-${file}`)
    copyFileSync(join(golden, file), path)
    return path
  }

  test('holds what it held, and reading writes nothing', async () => {
    const path = copy()
    const before = digestOf(path)
    const db = await open(path)
    expect(await db.collections()).toEqual(collections.map(({ name }) => name))
    for (const expected of collections) expect(await goldenCollection(db, expected.name)).toEqual(expected)
    expect((await db.check()).problems).toEqual([])
    await db.close()
    const engine = await openEngine(sqlite(), path)
    for (const expected of trees) expect(await goldenTree(engine, expected.name)).toEqual(expected)
    expect(await engine.read((snapshot) => snapshot.treeNames('golden/'))).toEqual([
      'golden/empty',
      ...trees.map(({ name }) => name),
    ])
    await engine.close()
    expect(digestOf(path)).toBe(before)
  })

  test('has pages, and a log that they do not hold', async () => {
    const store = await sqlite().open(copy())
    const { meta, log } = await store.read()
    expect(meta!.generation).toBeGreaterThan(3)
    expect(log.length).toBeGreaterThan(4)
    expect((await store.listPages()).length).toBeGreaterThan(15)
    await store.close()
  })

  test('can be written', async () => {
    const path = copy()
    const db = await open(path)
    const [first] = collections
    const documents = db.collection(first!.name)
    const { _id } = first!.documents[3] as { _id: string }
    await documents.update(_id, (document) => ({ ...document, added: true }))
    await documents.delete((first!.documents[4] as { _id: string })._id)
    await documents.insert({ _id: 'new', age: 5 })
    // What waits to be reclaimed is reclaimed.
    for (let round = 0; round < 3; round++) await db.flush()
    expect((await db.check()).problems).toEqual([])
    await db.close()
    const again = await open(path)
    expect(await again.collection(first!.name).find().count()).toBe(first!.documents.length)
    expect(await again.collection(first!.name).get(_id)).toMatchObject({ added: true })
    for (const other of collections.slice(1)) expect(await goldenCollection(again, other.name)).toEqual(other)
    expect((await again.check()).problems).toEqual([])
    await again.close()
  })
})

function digestOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
