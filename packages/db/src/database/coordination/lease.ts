/** The lease (the right to write), as both coordinators grant it. */
import type { WriterLease } from '../../storage/coordinator.ts'

/** A lease that its coordinator can want back, and take away. */
export class Lease implements WriterLease {
  /** Another handle waits for it. */
  wanted = false
  /** Another handle has it. */
  lost = false
  /** Handles that the coordinator can't see may write as well. */
  isShared = false
  readonly #letGo: () => void
  #callbacks: (() => void)[] = []
  #released = false

  /** `letGo` passes the right on. It is called once, unless the lease is lost first. */
  constructor(letGo: () => void) {
    this.#letGo = letGo
  }

  /** Called once, also if it is wanted already. */
  onWanted(callback: () => void): void {
    if (this.wanted) callback()
    else this.#callbacks.push(callback)
  }

  /** Lets another handle have it. Idempotent. */
  release(): void {
    if (this.#released) return
    this.#released = true
    this.#callbacks = []
    if (!this.lost) this.#letGo()
  }

  /** Used by the coordinator: another handle waits. */
  want(): void {
    if (this.wanted || this.#released) return
    this.wanted = true
    for (const callback of this.#callbacks.splice(0)) callback()
  }

  /** Used by the coordinator: another handle has it now. The holder hears of it as if it were wanted. */
  lose(): void {
    this.lost = true
    this.want()
  }
}
