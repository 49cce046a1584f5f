/** Goal: what a read needs is kept while it runs, and not longer, however it ends. */
import { expect, test } from 'vitest'
import type { Generation } from '../../src/base/brand.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import { openKeyValueStore } from '../../src/kv/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { soloCoordinator } from './solo-coordinator.ts'

const ways: Readonly<Record<string, () => unknown>> = {
  'gives a value': () => 1,
  throws: () => {
    throw new TypeError('of the caller')
  },
}

for (const [name, read] of Object.entries(ways))
  test(`a read that ${name} pins its generation no longer`, async () => {
    const pins: Generation[] = []
    const coordinator = soloCoordinator()
    const kv = await openKeyValueStore({
      store: await memory().open('x'),
      coordinator: { ...coordinator, pin: async (generation) => void pins.push(generation!) },
      environment: systemEnvironment(),
      durability: 'relaxed',
      cacheBytesMax: 1_000_000,
    })
    await kv.write((tx) => void tx.createTree('t', 'sequence').append(new Uint8Array(9)))
    await Promise.resolve()
      .then(() => kv.read(read))
      .catch(() => {})
    for (let n = 0; n < 3; n++) {
      await kv.write((tx) => void tx.tree('t')!.append(new Uint8Array(9)))
      await kv.checkpoint()
    }
    expect(pins.at(-1)).toBeGreaterThan(pins[0]!)
    await kv.close()
  })
