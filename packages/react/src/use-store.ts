/** A store in a component. */
import { useState, useSyncExternalStore } from 'react'
import type { Kept, Store } from '@pannier/stores'

/** The state of the store that inputs choose. `next` gives the store of the render before, if that will do. */
export function useStore<State>(next: (before: Kept<Store<State>> | undefined) => Kept<Store<State>>): State {
  const { subscribe, read } = useKept(next)
  return useSyncExternalStore(subscribe, read, read)
}

export function useKept<Of extends object>(next: (before: Of | undefined) => Of): Of {
  const [kept, keep] = useState<Of>()
  const store = next(kept)
  if (store !== kept) keep(store)
  return store
}
