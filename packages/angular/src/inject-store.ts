/** A store in Angular. */
import { computed, effect, inject, PLATFORM_ID, signal, untracked, type Signal } from '@angular/core'
import { partsOf, type Store } from '@pannier/stores'

/** The parts of a state, each a signal. */
export type Signals<State extends object> = { readonly [Name in keyof State]: Signal<State[Name]> }

/** A store that inputs choose, and its state. */
interface Shown<Kept extends Store<unknown>> {
  readonly store: Signal<Kept>
  readonly state: Signal<ReturnType<Kept['read']>>
}

/**
 * `next` gives the store before, if that will do. The store is at work until what injects it is destroyed, and not on a server. Call it in
 * an injection context.
 */
export function injectStore<Kept extends Store<unknown>>(next: (before: Kept | undefined) => Kept): Shown<Kept> {
  // An object that is new with each change.
  const version = signal({})
  let kept: Kept | undefined
  // Asked for with each change too: what has ended is another one by then.
  const store = computed(() => (version(), (kept = next(kept))))
  const state = computed(() => (version(), store().read() as ReturnType<Kept['read']>))
  if (inject(PLATFORM_ID) !== 'server')
    effect((onCleanup) => {
      const { subscribe } = store()
      onCleanup(untracked(() => subscribe(() => version.set({}))))
    })
  return { store, state }
}

export function signalsOf<State extends object>(state: Signal<State>): Signals<State> {
  return partsOf(untracked(state), (name) => computed(() => state()[name])) as Signals<State>
}
