// What `pannier/memory` offers. Written by `npm run api`.

import type {
  DatabaseStorage,
} from 'pannier'

/** A storage of its own: its databases are not those of any other `memory()`. */
export function memory(): DatabaseStorage;
