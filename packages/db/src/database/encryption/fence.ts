/** Makes every other handle read before it writes again. */
import { isPannierError } from '../../base/errors.ts'
import type { KeyValueStore } from '../../kv/key-value-store.ts'

const ATTEMPTS_MAX = 20
const NAME = 'fence'

/**
 * A commit that changes nothing, then a storage checkpoint: whoever has not seen what is stored by now, also a handle that is
 * frozen, can neither append nor commit nor stage pages before it has read. All that was in the log before is in pages, and what was
 * staged and not committed is gone.
 *
 * Relies on: a transaction that is held begins when no storage checkpoint runs, so the one here begins after it.
 */
export async function fence(store: KeyValueStore): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await commitNothing(store)
      return await store.checkpoint()
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || !isPannierError(error, 'PANNIER_STALE')) throw error
    }
  }
}

async function commitNothing(store: KeyValueStore): Promise<void> {
  const held = await store.begin()
  try {
    held.createTree(NAME, 'inline')
    held.dropTree(NAME)
    await held.commit()
  } finally {
    held.rollback()
  }
}
