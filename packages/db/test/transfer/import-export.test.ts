/** The suite of import and export in memory and in SQLite files. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, test } from 'vitest'
import { open } from '../../src/index.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { importExportSuite } from '../../testing/conformance/import-export.ts'

const folder = mkdtempSync(join(tmpdir(), 'pannier-import-'))
afterAll(() => rmSync(folder, { recursive: true }))
let count = 0

describe('memory', () => {
  importExportSuite({ test, create: () => open('db', { storage: memory() }) })
})

describe('SQLite', () => {
  importExportSuite({ test, create: () => open(join(folder, `db-${++count}`)) })
})
