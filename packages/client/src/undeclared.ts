/** Collections that the app declares no more. Loaded when there is one. docs/internals/client.md is the contract. */
import type { Database } from 'pannier'
import { splitKey } from './overlay.ts'
import { STATE, Store } from './store.ts'

/**
 * Drops what the app does not sync any more: nothing says when its account may not see it any more. Collections that writes of this device
 * still touch stay until another start.
 */
export async function dropCollections(db: Database, states: readonly { readonly _id: string }[]): Promise<void> {
  const queued = await new Store(db).queue.find().fields('touches').toArray()
  const touched = new Set(queued.flatMap(({ touches }) => touches.map((key) => splitKey(key)[0])))
  for (const { _id: name } of states) {
    if (touched.has(name)) continue
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
