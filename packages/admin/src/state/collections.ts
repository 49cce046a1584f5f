/** The definitions of all collections, which the sidebar and every view read. */
import { listCollections } from '../api/collections.ts'
import type { Collection } from '../api/collections.ts'
import { realtime } from '../api/realtime.ts'
import { keep, readKept } from './kept.ts'
import { Store, useStore } from './store.ts'

interface Collections {
  readonly status: 'loading' | 'ready' | 'failed'
  /** In the order of their names; the last known ones while the server is away. */
  readonly list: readonly Collection[]
  readonly error?: unknown
}

export const collections: Store<Collections> = new Store<Collections>({ status: 'loading', list: [] })
let newest = 0

export function useCollections(): Collections {
  return useStore(collections)
}

/** By name or id. */
export function findCollection(list: readonly Collection[], name: string): Collection | undefined {
  return list.find((one) => one.name === name) ?? list.find(({ id }) => id === name)
}

/** The server sends a message to it after each change of a definition. */
const TOPIC = '@collections'

/** Loads them again when somebody changes one. Returns what ends it. */
export function followCollections(): () => void {
  const reload = (): void => void reloadCollections()
  return realtime.follow(TOPIC, reload, reload)
}

/** Loads them again: after a sign-in, and after each change of a definition. */
export async function reloadCollections(): Promise<void> {
  const call = ++newest
  try {
    const list = await listCollections()
    if (call === newest) collections.update((known) => ({ status: 'ready', list: withKnown(list, known.list) }))
  } catch (error) {
    if (call === newest)
      collections.update(({ list }) => ({ status: 'failed', list: list.length > 0 ? list : keptDefinitions(), error }))
  }
}

const DEFINITIONS = 'definitions'

/** For a page that begins while the server is away. Undefined: nothing is kept any more. */
export function keepDefinitions(list: readonly Collection[] | undefined): void {
  keep(DEFINITIONS, list)
}

function keptDefinitions(): readonly Collection[] {
  return readKept<readonly Collection[]>(DEFINITIONS) ?? []
}

/** A definition that is the same stays the same object, as does the whole list, so that views which read it do not load again. */
function withKnown(list: readonly Collection[], known: readonly Collection[]): readonly Collection[] {
  const byText = new Map(known.map((one) => [JSON.stringify(one), one]))
  const next = list.map((one) => byText.get(JSON.stringify(one)) ?? one)
  return next.length === known.length && next.every((one, at) => one === known[at]) ? known : next
}
