/** A network that a test switches on and off. */
import type { NetworkStatus } from '../src/replication/types.ts'

export class SwitchedNetwork implements NetworkStatus {
  readonly listeners: Set<() => void> = new Set<() => void>()
  #online: boolean

  constructor(online: boolean) {
    this.#online = online
  }

  isOnline(): boolean {
    return this.#online
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  turn(online: boolean): void {
    this.#online = online
    for (const listener of Array.from(this.listeners)) listener()
  }
}
