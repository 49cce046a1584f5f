/** A store in Solid. */
import { createEffect, createMemo, createSignal, onCleanup, untrack, type Accessor } from 'solid-js'
import type { Store } from '@pannier/stores'

/** A store that inputs choose, and its state. */
interface Shown<Kept extends Store<unknown>> {
  readonly store: Accessor<Kept>
  readonly state: Accessor<ReturnType<Kept['read']>>
}

/** `next` gives the store before, if that will do. The store is at work while the owner lives, and not on a server. */
export function createStore<Kept extends Store<unknown>>(next: (before: Kept | undefined) => Kept): Shown<Kept> {
  const [version, changed] = createSignal(undefined, { equals: false })
  // Asked for with each change too: what has ended is another one by then.
  const store = createMemo<Kept>((before) => (version(), next(before as Kept | undefined)))
  createEffect(() => {
    const { subscribe } = store()
    onCleanup(untrack(() => subscribe(changed)))
  })
  return { store, state: createMemo(() => (version(), store().read() as ReturnType<Kept['read']>)) }
}
