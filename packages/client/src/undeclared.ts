/** What the app does not sync any more leaves the device: nothing says when its account may not see it any more. */
import type { Database } from 'pannier'
import { splitKey } from './overlay.ts'
import { STATE, Store } from './store.ts'

/** Collections that writes of this device still touch stay until another start. */
export async function dropUndeclared(db: Database, names: readonly string[]): Promise<void> {
  const store = new Store(db)
  const states = await db.collection(STATE).find().fields('_id').toArray()
  const queued = await store.queue.find().fields('touches').toArray()
  const touched = new Set(queued.flatMap(({ touches }) => touches.map((key) => splitKey(key)[0])))
  const isGone = (name: string): boolean => !name.startsWith('$') && !names.includes(name) && !touched.has(name)
  for (const name of states.map(({ _id }) => String(_id)).filter(isGone)) {
    await db.dropCollection(name)
    // Last: a start that breaks off before drops it again.
    await db.transaction(async (tx) => {
      const { bases, staged } = new Store(tx)
      for (const kept of [bases, staged])
        for (const { _id } of await kept
          .find({ _id: { $gte: `${name}/`, $lt: `${name}0` } })
          .fields('_id')
          .toArray())
          await kept.purge(String(_id))
      await tx.collection(STATE).purge(name)
    })
  }
}
