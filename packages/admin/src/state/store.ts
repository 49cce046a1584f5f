/** The smallest store that React can follow. */
import { useSyncExternalStore } from 'react'

export class Store<T> {
  private value: T
  private readonly listeners = new Set<() => void>()

  constructor(initial: T) {
    this.value = initial
  }

  readonly get = (): T => this.value

  set(next: T): void {
    if (Object.is(next, this.value)) return
    this.value = next
    for (const listener of this.listeners) listener()
  }

  update(change: (value: T) => T): void {
    this.set(change(this.value))
  }

  readonly follow = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
}

/** The value of the store; the component renders again when it changes. */
export function useStore<T>(store: Store<T>): T {
  return useSyncExternalStore(store.follow, store.get)
}
