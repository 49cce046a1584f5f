// What `pannier/sqlite` offers. Written by `npm run api`.

import type {
  DatabaseStorage,
} from 'pannier'

export function sqlite(): DatabaseStorage;
