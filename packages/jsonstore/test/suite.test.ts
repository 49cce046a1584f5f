/** Goal: JSONStore's API, row by row and code by code, in memory and on SQLite files. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, test } from 'vitest'
import { memory } from 'pannier/memory'
import { sqlite } from 'pannier/sqlite'
import { jsonStoreSuite } from '../testing/suite.ts'

const folder = mkdtempSync(join(tmpdir(), 'pannier-jsonstore-'))
let stores = 0
const nextName = (): string => `store${++stores}`

afterAll(() => rmSync(folder, { recursive: true }))

describe('memory', () => {
  jsonStoreSuite({ test, create: async () => ({ storage: memory(), name: nextName() }) })
})

describe('SQLite file', () => {
  jsonStoreSuite({ test, create: async () => ({ storage: sqlite(), name: join(folder, nextName()) }) })
})
