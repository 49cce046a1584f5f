// What `pannier/sqlite` offers. Written by `npm run api`.

import type {
  Storage,
} from 'pannier'

export function sqlite(): Storage;
