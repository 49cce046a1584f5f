/** Goal: JSONStore's API, row by row and code by code, in memory and on SQLite files. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, test } from 'vitest'
import { memory } from 'pannier/memory'
import { sqlite } from 'pannier/sqlite'
import type { Test } from 'pannier/testing'
import { jsonStoreSuite } from '../testing/suite.ts'

const folder = mkdtempSync(join(tmpdir(), 'pannier-jsonstore-'))
let stores = 0
const nextName = (): string => `store${++stores}`

afterAll(() => rmSync(folder, { recursive: true }))

/** Making keys of passwords takes most of the time, and has nothing to do with the storage. */
const withoutPasswords: Test = (name, body) => {
  if (!/password|localKeyGen/i.test(name)) test(name, body)
}

describe('memory', () => {
  jsonStoreSuite({ test: withoutPasswords, create: async () => ({ storage: memory(), name: nextName() }) })
})

describe('SQLite file', () => {
  jsonStoreSuite({ test, create: async () => ({ storage: sqlite(), name: join(folder, nextName()) }) })
})
