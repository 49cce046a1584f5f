// What `pannier/indexeddb` offers. Written by `npm run api`.

import type {
  Storage,
} from 'pannier'

export function indexedDb(options?: IndexedDbOptions): Storage;

interface IndexedDbOptions {
    readonly openTimeoutMs?: number;
}
