// What `pannier/memory` offers. Written by `npm run api`.

import type {
  Storage,
} from 'pannier'

export function memory(): Storage;
