/** A store in Vue. */
import { computed, shallowRef, watchPostEffect, type ComputedRef } from 'vue'
import { partsOf, type Store } from '@pannier/stores'

/** The parts of a state, each a ref. */
export type Refs<State extends object> = { readonly [Name in keyof State]: ComputedRef<State[Name]> }

/** A store that inputs choose, and its state. */
interface Shown<Kept extends Store<unknown>> {
  readonly store: ComputedRef<Kept>
  readonly state: ComputedRef<ReturnType<Kept['read']>>
}

/** `next` gives the store before, if that will do. The store is at work while the scope lives, and not on a server. */
export function useStore<Kept extends Store<unknown>>(next: (before: Kept | undefined) => Kept): Shown<Kept> {
  // An object that is new with each change: to write it reads nothing.
  const version = shallowRef({})
  // Asked for with each change too: what has ended is another one by then.
  const store = computed<Kept>((before) => (void version.value, next(before)))
  const state = computed(() => (void version.value, store.value.read() as ReturnType<Kept['read']>))
  watchPostEffect((onCleanup) => {
    onCleanup(store.value.subscribe(() => (version.value = {})))
  })
  return { store, state }
}

export function refsOf<State extends object>(state: ComputedRef<State>): Refs<State> {
  return partsOf(state.value, (name) => computed(() => state.value[name])) as Refs<State>
}
