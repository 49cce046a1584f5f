/** The definitions of all collections, which the sidebar and every view read. */
import { listCollections } from '../api/collections.ts'
import type { Collection } from '../api/collections.ts'
import { Store, useStore } from './store.ts'

interface Collections {
  readonly status: 'loading' | 'ready' | 'failed'
  /** In the order of their names; the last known ones while the server is away. */
  readonly list: readonly Collection[]
  readonly error?: unknown
}

const collections = new Store<Collections>({ status: 'loading', list: [] })
let newest = 0

export function useCollections(): Collections {
  return useStore(collections)
}

/** By name or id. */
export function findCollection(list: readonly Collection[], name: string): Collection | undefined {
  return list.find((one) => one.name === name) ?? list.find(({ id }) => id === name)
}

/** Loads them again: after a sign-in, and after each change of a definition. */
export async function reloadCollections(): Promise<void> {
  const call = ++newest
  try {
    const list = await listCollections()
    if (call === newest) collections.set({ status: 'ready', list })
  } catch (error) {
    if (call === newest) collections.update(({ list }) => ({ status: 'failed', list, error }))
  }
}
