/** A store in Solid. */
import { createEffect, createMemo, createSignal, onCleanup, untrack, type Accessor } from 'solid-js'
import { hasEnded, type Store } from '@pannier/stores'

/** A store that inputs choose, and its state. */
interface Shown<Kept extends Store<unknown>> {
  readonly store: Accessor<Kept>
  readonly state: Accessor<ReturnType<Kept['read']>>
}

/** `next` gives the store before, if that will do. The store is at work while the owner lives, and not on a server. */
export function createStore<Kept extends Store<unknown>>(next: (before: Kept | undefined) => Kept): Shown<Kept> {
  const [version, changed] = createSignal(undefined, { equals: false })
  const [ended, end] = createSignal(undefined, { equals: false })
  const store = createMemo<Kept>((before) => (ended(), next(before as Kept | undefined)))
  createEffect(() => {
    const shown = store()
    const listener = (): void => {
      changed()
      if (hasEnded(shown)) end()
    }
    onCleanup(untrack(() => shown.subscribe(listener)))
  })
  return { store, state: createMemo(() => (version(), store().read() as ReturnType<Kept['read']>)) }
}
