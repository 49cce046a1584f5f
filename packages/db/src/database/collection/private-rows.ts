/**
 * Where the rows of a view without a `version` are: in memory, beside the database. Its functions may have captured anything, so no other
 * function may see the rows. Only the view refers to the store, so the store goes with it.
 */
import type { Generation } from '../../base/brand.ts'
import type { Environment } from '../../base/environment.ts'
import type { KeyValueStore } from '../../kv/key-value-store.ts'
import { openKeyValueStore } from '../../kv/open.ts'
import { ALONE } from '../../storage/coordinator.ts'
import { memory } from '../../storage/memory/memory.ts'

const CACHE_BYTES_MAX = 16 * 1024 * 1024

export function openPrivateRows(environment: Environment): Promise<KeyValueStore> {
  let pinned: Generation | undefined
  return openKeyValueStore({
    store: memory().open('rows'),
    coordinator: {
      ...ALONE,
      pin: async (generation) => void (pinned = generation),
      oldestPinned: async () => pinned,
    },
    environment,
    cacheBytesMax: CACHE_BYTES_MAX,
    durability: 'relaxed',
  })
}
