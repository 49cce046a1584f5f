/** Databases over the model of a key-value store, with time and chance of their own, so that a seed replays a whole run. */
import type { Environment } from '../src/base/environment.ts'
import { Database, type DatabaseParts } from '../src/database/database.ts'
import type { KeyValueStore } from '../src/kv/key-value-store.ts'
import { memory } from '../src/storage/memory/memory.ts'
import { modelKeyValueStore } from './model-key-value-store.ts'
import type { ModelOptions } from './model-key-value-store.ts'

export function modelDatabase(options: ModelOptions = {}): Database {
  return databaseOver(modelKeyValueStore(options), countingEnvironment())
}

/** Several handles over one store are as several opens of one database, also one after another. */
export function databaseOver(
  store: KeyValueStore,
  environment: Environment,
  checkPages?: DatabaseParts['checkPages'],
): Database {
  return new Database({
    name: 'model',
    storage: memory(),
    store,
    environment,
    ...(checkPages && { checkPages }),
  })
}

/** Each reading of the clock advances it by a millisecond; random values count up. */
export function countingEnvironment(): Environment {
  let time = 1_700_000_000_000
  let ids = 0
  return {
    now: () => time++,
    wallClock: () => time++,
    randomBytes: (length) => new Uint8Array(length).fill(ids++),
    randomId: () => (ids++ * 7 + 1).toString(16).padStart(32, '0'),
    yield: () => Promise.resolve(),
    after: () => () => {},
  }
}
