/** The suite of key-value stores on the storages that users have, plain and encrypted. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { memory } from '../../src/storage/memory/memory.ts'
import { sqlite } from '../../src/storage/sqlite/sqlite.ts'
import { keyValueSuite } from '../../testing/conformance/key-value.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'
import { prefixed } from '../../testing/suite.ts'
import { classicLevel } from '../storage/classic-level.ts'
import { encrypted, platforms } from '../storage/encrypted/fixture.ts'
import { enginesOn, lateStorages } from './engines.ts'

const folder = mkdtempSync(join(tmpdir(), 'pannier-kv-'))
afterAll(() => rmSync(folder, { recursive: true }))
let databases = 0
const name = (): string => join(folder, `${++databases}.pannier`)

const supports = { handles: true }
keyValueSuite({ test: prefixed(test, 'SQLite'), create: enginesOn(sqlite, { name }), supports })
keyValueSuite({ test: prefixed(test, 'LevelDB'), create: enginesOn(classicLevel, { name }), supports })
keyValueSuite({
  test: prefixed(test, 'raw files'),
  create: enginesOn(() => new RawFileStorage(), { cacheBytesMax: 100_000 }),
  supports,
})

const [[, node], [, web]] = platforms as [(typeof platforms)[0], (typeof platforms)[0]]
const late = lateStorages()
keyValueSuite({
  test: prefixed(test, 'encrypted SQLite'),
  create: enginesOn(() => encrypted(sqlite(), node), { name }),
  supports,
})
keyValueSuite({
  test: prefixed(test, 'WebCrypto'),
  create: enginesOn(() => encrypted(memory(), web), { cacheBytesMax: 0 }),
  supports,
})
keyValueSuite({
  test: prefixed(test, 'WebCrypto, random latency'),
  create: enginesOn(() => encrypted(late(), web), { cacheBytesMax: 100_000 }),
  supports,
})
