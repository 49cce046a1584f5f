/**
 * Goal: what one handle of a process has committed the others see when it is acknowledged, however it was committed, on whatever
 * storage; and they hear of each commit once.
 */
import { describe, expect, test } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { newDeviceKey } from '../../testing/conformance/encryption.ts'
import { seededRandom } from '../../testing/random.ts'
import { slow } from '../../testing/slow-storage.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

interface Item {
  readonly n: number
  readonly pad: string
}

for (const [name, make] of Object.entries<() => DatabaseStorage>({ memory, slow: () => slow(memory(), 1) })) {
  describe(name, () => {
    test('a small write, a large one, a transaction, a storage checkpoint', async () => {
      const storage = make()
      const [a, b] = [await open('x', { storage }), await open('x', { storage })]
      const heard: boolean[] = []
      a.subscribe(({ local }) => void heard.push(local))
      const [here, there] = [a.collection<Item>('items'), b.collection<Item>('items')]
      await there.upsert({ _id: 'first', n: 1, pad: '' })
      expect((await here.get('first'))?.n).toBe(1)
      await there.upsert({ _id: 'small', n: 2, pad: '' })
      expect((await here.get('small'))?.n).toBe(2)
      await there.insert(Array.from({ length: 3000 }, (_, n) => ({ _id: `large${n}`, n, pad: 'x'.repeat(500) })))
      expect(await here.find().count()).toBe(3002)
      await b.flush()
      await b.transaction((tx) => tx.collection<Item>('items').upsert({ _id: 'tx', n: 3, pad: '' }))
      expect((await here.get('tx'))?.n).toBe(3)
      await here.upsert({ _id: 'back', n: 4, pad: '' })
      expect((await there.get('back'))?.n).toBe(4)
      for (const db of [a, b]) expect((await db.check()).problems).toEqual([])
      await expect.poll(() => heard).toEqual([false, false, false, false, true])
      await Promise.all([a.close(), b.close()])
    })
  })
}

for (const seed of seedsOf('race', 0.5)) {
  test(`random writes of three handles, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, async () => {
    const random = seededRandom(seed)
    const storage = slow(memory(), random)
    const options = { storage, ...(random.chance(0.5) && { encryption: { key: await newDeviceKey() } }) }
    const handles: Database[] = []
    for (let n = 0; n < 3; n++) handles.push(await open('x', options))
    const model = new Map<string, number>()
    for (let turn = 0; turn < 40; turn++) {
      const writer = random.pick(handles).collection<Item>('items')
      const ids = Array.from({ length: random.pick([1, 1, 3, 200]) }, () => `i${random.below(500)}`)
      const unique = [...new Set(ids)]
      const busy = random.chance(0.3) ? random.pick(handles).collection('beside').upsert({ _id: 'x', turn }) : undefined
      await writer.upsert(unique.map((_id) => ({ _id, n: turn, pad: 'x'.repeat(random.below(300)) })))
      for (const id of unique) model.set(id, turn)
      const id = random.pick(unique)
      for (const handle of handles) {
        expect((await handle.collection<Item>('items').get(id))?.n).toBe(turn)
        if (random.chance(0.1)) expect(await handle.collection<Item>('items').find().count()).toBe(model.size)
      }
      await busy
      if (random.chance(0.1)) await random.pick(handles).flush()
      if (random.chance(0.1)) {
        const at = random.below(handles.length)
        await handles[at]!.close()
        handles[at] = await open('x', options)
      }
    }
    for (const handle of handles) {
      const found = await handle.collection<Item>('items').find().toArray()
      expect(new Map(found.map(({ _id, n }) => [_id, n]))).toEqual(model)
      expect((await handle.check()).problems).toEqual([])
    }
    for (const handle of handles) await handle.close()
  })
}
