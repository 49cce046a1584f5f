/** Goal: the page store contract holds over sealed bytes, whether the platform's cryptography is synchronous or not. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { memory } from '../../../src/storage/memory/memory.ts'
import { sqlite } from '../../../src/storage/sqlite/sqlite.ts'
import { pageStoreSuite } from '../../../testing/conformance/page-store.ts'
import { seededRandom } from '../../../testing/random.ts'
import { SimulatedStorage, randomOrder } from '../../../testing/simulated-page-store.ts'
import { prefixed } from '../../../testing/suite.ts'
import { encrypted, platforms } from './fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'pannier-encrypted-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0

for (const [name, platform] of platforms) {
  pageStoreSuite({
    test: prefixed(test, `${name}, memory`),
    create: async () => ({ storage: encrypted(memory(), platform), name: 'database' }),
    seals: true,
  })

  pageStoreSuite({
    test: prefixed(test, `${name}, simulated, in random order`),
    create: async () => {
      const random = seededRandom(1).next
      const storage = new SimulatedStorage({ random, schedule: randomOrder(random) })
      return { storage: encrypted(storage, platform), name: 'database' }
    },
    seals: true,
  })
}

pageStoreSuite({
  test: prefixed(test, 'SQLite'),
  create: async () => ({ storage: encrypted(sqlite()), name: join(folder, `${++files}.db`) }),
  seals: true,
})
