/** Goal: the contract on LevelDB and in memory-level, and what only these have: other processes, other content, shared databases. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { MemoryLevel } from 'memory-level'
import { afterAll, expect, test } from 'vitest'
import type { Storage } from '../../src/storage/page-store.ts'
import { level } from '../../src/storage/level/level.ts'
import { pageStoreSuite } from '../../testing/conformance/page-store.ts'
import { prefixed } from '../../testing/suite.ts'

const folder = mkdtempSync(join(tmpdir(), 'pannier-level-'))
afterAll(() => rmSync(folder, { recursive: true }))

let paths = 0
function newPath(): string {
  return join(folder, `${++paths}`)
}

const classic = (): Storage => level((path) => new ClassicLevel(path))

pageStoreSuite({ test: prefixed(test, 'classic-level'), create: async () => ({ storage: classic(), name: newPath() }) })
const shared = new ClassicLevel(newPath())
afterAll(() => shared.close())
pageStoreSuite({
  test: prefixed(test, 'a sublevel of classic-level'),
  create: async () => ({ storage: level(shared.sublevel('pannier')), name: 'shop' }),
})
pageStoreSuite({
  test: prefixed(test, 'memory-level'),
  create: async () => ({ storage: level(new MemoryLevel()), name: 'shop' }),
})
