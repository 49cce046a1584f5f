/** Goal: JSONStore's API, row by row and code by code, on SQLite files. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from 'pannier/sqlite'
import { afterAll, test } from 'vitest'
import { jsonStoreSuite } from '../testing/suite.ts'

const folder = mkdtempSync(join(tmpdir(), 'pannier-jsonstore-'))
let stores = 0

afterAll(() => rmSync(folder, { recursive: true }))

jsonStoreSuite({ test, create: async () => ({ storage: sqlite(), name: join(folder, `store${++stores}`) }) })
