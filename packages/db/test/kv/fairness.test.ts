/**
 * Goal: an app that awaits one write after another, or many steps of a transaction, keeps nobody else from the thread, although a store that answers at once has nothing
 * to wait for: messages of other tabs, timers and input are heard in between.
 */
import { expect, test } from 'vitest'
import type { Environment } from '../../src/base/environment.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import type { KeyValueStore, WriteTransaction } from '../../src/kv/key-value-store.ts'
import { openKeyValueStore } from '../../src/kv/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { soloCoordinator } from './solo-coordinator.ts'

const WRITES = 200
/** The pauses of long work: one each eighth millisecond. */
const PAUSES = WRITES / 8

/** A store whose writes take a millisecond of the virtual clock each: call `spend`. */
async function startFair(): Promise<{ readonly kv: KeyValueStore; readonly seen: Seen; spend(): void }> {
  let nowMs = 0
  const seen = { yields: 0, turns: 0, end: () => clearImmediate(again) }
  const system = systemEnvironment()
  const environment: Environment = {
    ...system,
    now: () => nowMs,
    yield: () => {
      seen.yields++
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
  const count = (): void => {
    seen.turns++
    again = setImmediate(count)
  }
  let again = setImmediate(count)
  seen.yields = 0
  return { kv, seen, spend: () => nowMs++ }
}

interface Seen {
  yields: number
  turns: number
  end(): void
}

type Work = (kv: KeyValueStore, spend: () => void) => Promise<unknown>

const append = (tx: WriteTransaction): unknown => tx.tree('bodies')!.append(new Uint8Array(10))

const works: Record<string, Work> = {
  'one write after another': async (kv, spend) => {
    for (let n = 0; n < WRITES; n++) {
      spend()
      await kv.write(append)
    }
  },
  'steps of a transaction, one after another': async (kv, spend) => {
    const held = await kv.begin()
    for (let n = 0; n < WRITES; n++) {
      spend()
      await held.attempt(() => append(held))
    }
    await held.commit()
  },
  'steps of a transaction, all at once': async (kv, spend) => {
    const held = await kv.begin()
    const steps = Array.from({ length: WRITES }, () =>
      Promise.resolve(
        held.attempt(() => {
          spend()
          return append(held)
        }),
      ),
    )
    await Promise.all(steps)
    await held.commit()
  },
}

test.each(Object.entries(works))('each eighth millisecond others have a turn: %s', async (_, work) => {
  const { kv, seen, spend } = await startFair()
  await work(kv, spend)
  seen.end()
  expect(seen.yields).toBeGreaterThanOrEqual(PAUSES - 1)
  expect(seen.yields).toBeLessThanOrEqual(PAUSES + 1)
  expect(seen.turns).toBeGreaterThanOrEqual(PAUSES - 2)
  await kv.close()
})
