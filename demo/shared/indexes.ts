/** Builds the indexes after the cities are loaded: this takes far less time than maintaining them meanwhile. */
import type { Database } from 'pannier'
import { COLLECTION, INDEXES } from './city.ts'
import type { City } from './city.ts'

export interface BuildOptions {
  readonly signal?: AbortSignal | undefined
  /** Reports the part that is done, 0 to 1. */
  readonly onProgress?: ((done: number) => void) | undefined
}

export async function buildIndexes(db: Database, { signal, onProgress }: BuildOptions): Promise<void> {
  onProgress?.(0)
  const cities = db.collection<City>(COLLECTION, {
    indexes: INDEXES,
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
  })
  await cities.ready()
}
