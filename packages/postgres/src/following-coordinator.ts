/**
 * The coordinator of a database that may be at any of several PostgreSQLs: that of the one where it is. When the database has moved, what
 * the handle had at the old place ends: it loses the lease, and pins its pages at the new one.
 */
import type { Coordinator, Generation, Hint, WriterLease } from 'pannier/storage'
import { failure } from './errors.ts'
import type { Places, Spot } from './places.ts'
import { PostgresCoordinator, type Handle } from './postgres-coordinator.ts'

export class FollowingCoordinator implements Coordinator {
  readonly realm: string
  readonly #places: Places
  readonly #handle: Handle
  readonly #stopListening: () => void
  #listener: ((hint: Hint | undefined) => void) | undefined
  #pinned: Generation | undefined
  #spot: Spot | undefined
  #current: PostgresCoordinator | undefined
  #closed = false

  constructor(places: Places, handle: Handle) {
    this.#places = places
    this.#handle = handle
    this.realm = handle.realm
    this.#stopListening = places.onSpot(handle.name, (spot) => this.#bind(spot))
  }

  async acquireWriter(): Promise<WriterLease> {
    for (;;) {
      const current = await this.#bound()
      try {
        return await current.acquireWriter()
      } catch (error) {
        // The database has moved meanwhile.
        if (this.#closed || current === this.#current) throw error
      }
    }
  }

  announce(hint: Hint): void {
    this.#current?.announce(hint)
  }

  onHint(listener: (hint: Hint | undefined) => void): void {
    this.#listener = listener
    this.#current?.onHint(listener)
  }

  async pin(generation: Generation): Promise<void> {
    this.#pinned = generation
    const current = await this.#bound()
    await current.pin(generation)
  }

  async oldestPinned(): Promise<Generation | undefined> {
    return (await this.#bound()).oldestPinned()
  }

  close(): void {
    this.#closed = true
    this.#stopListening()
    this.#current?.close()
  }

  /** A name without a database is that of a turn: the first PostgreSQL has those. */
  async #bound(): Promise<PostgresCoordinator> {
    if (this.#current === undefined) {
      const spot = await this.#places.findTogether(this.#handle.name)
      this.#bind(spot ?? { postgres: this.#places.home, number: null })
    }
    if (this.#closed || this.#current === undefined) throw failure('PANNIER_CLOSED', 'The handle is closed.')
    return this.#current
  }

  #bind(spot: Spot): void {
    if (this.#closed || this.#spot?.postgres === spot.postgres) return
    const { postgres } = (this.#spot = spot)
    const before = this.#current
    const current = new PostgresCoordinator(postgres, this.#handle)
    this.#current = current
    if (this.#listener !== undefined) current.onHint(this.#listener)
    // A pin that is lost makes a read look again.
    if (this.#pinned !== undefined) current.pin(this.#pinned).catch(() => {})
    before?.leave()
  }
}
