/** A store in Svelte. */
import { createSubscriber } from 'svelte/reactivity'
import type { Store } from '@pannier/stores'

/** A value that is read where it is shown. */
export interface Current<Value> {
  /** The value now. */
  readonly current: Value
}

/**
 * Reads a store that inputs choose. `next` gives the store before, if that will do. The store is at work while an effect or a template has
 * read it, and not on a server.
 */
export function createStore<Kept extends Store<unknown>>(
  next: (before: Kept | undefined) => Kept,
): () => readonly [store: Kept, state: ReturnType<Kept['read']>] {
  let kept: Kept | undefined
  let listen = (): void => {}
  return () => {
    const store = next(kept)
    if (store !== kept) {
      kept = store
      listen = createSubscriber(store.subscribe)
    }
    listen()
    return [store, store.read() as ReturnType<Kept['read']>]
  }
}

export function currentOf<Value>(read: () => readonly [store: unknown, state: Value]): Current<Value> {
  return {
    get current() {
      return read()[1]
    },
  }
}
