/** The suite of snapshots in memory, in SQLite files and in the raw files of OPFS. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { sqlite } from '../../src/storage/sqlite/sqlite.ts'
import { snapshotSuite } from '../../testing/conformance/snapshot.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'pannier-snapshot-'))
afterAll(() => rmSync(folder, { recursive: true }))
let count = 0

describe('memory', () => {
  const storage = memory()
  snapshotSuite({ test, create: () => ({ storage, name: `db-${++count}` }) })
})

describe('raw files', () => {
  const storage = new RawFileStorage()
  snapshotSuite({ test, create: () => ({ storage, name: `db-${++count}` }) })
})

describe('SQLite', () => {
  const storage = sqlite()
  snapshotSuite({ test, create: () => ({ storage, name: join(folder, `db-${++count}`) }) })

  test('what could not be restored leaves no file', async () => {
    const name = join(folder, 'never')
    await expect(open(name, { from: new Uint8Array(10) })).rejects.toMatchObject({ code: 'PANNIER_WRONG_FORMAT' })
    expect(readdirSync(folder).filter((file) => file.startsWith('never'))).toEqual([])
  })
})
