/**
 * Goal: whoever awaits one write after another keeps nobody else from the thread, although a store that answers at once has nothing
 * to wait for: messages of other tabs, timers and input are heard in between.
 */
import { expect, test } from 'vitest'
import type { Environment } from '../../src/base/environment.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import { openKeyValueStore } from '../../src/kv/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { soloCoordinator } from './solo-coordinator.ts'

const WRITES = 200

test('each eighth millisecond others have a turn', async () => {
  let nowMs = 0
  let yields = 0
  const system = systemEnvironment()
  const environment: Environment = {
    ...system,
    now: () => nowMs,
    yield: () => {
      yields++
      return system.yield()
    },
  }
  const store = await memory().open('fair')
  const kv = await openKeyValueStore({
    store,
    coordinator: soloCoordinator(),
    environment,
    durability: 'relaxed',
    cacheBytesMax: 1_000_000,
  })
  await kv.write((tx) => tx.createTree('bodies', 'sequence'))
  let turns = 0
  const count = (): void => {
    turns++
    again = setImmediate(count)
  }
  let again = setImmediate(count)
  yields = 0
  for (let n = 0; n < WRITES; n++) {
    nowMs++
    await kv.write((tx) => tx.tree('bodies')!.append(new Uint8Array(10)))
  }
  clearImmediate(again)
  expect(yields).toBe(WRITES / 8)
  expect(turns).toBeGreaterThanOrEqual(WRITES / 8 - 1)
  await kv.close()
})
