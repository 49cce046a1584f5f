/**
 * Sessions that were logged out before they expired. Kept in the server's state, so that they stay ended after a
 * restart.
 */
import type { StateStore } from '@pannier/backend/internal'

const STATE_ID = 'auth/ended-sessions'

export class EndedSessions {
  readonly #state: StateStore
  readonly #now: () => number
  /** Until when each could have been used, by id. */
  readonly #until: Map<string, number>
  #saving: Promise<void> = Promise.resolve()

  private constructor(state: StateStore, now: () => number, until: Map<string, number>) {
    this.#state = state
    this.#now = now
    this.#until = until
  }

  static async open(state: StateStore, now: () => number): Promise<EndedSessions> {
    const stored = await state.get(STATE_ID)
    return new EndedSessions(state, now, new Map((stored?.['sessions'] ?? []) as [string, number][]))
  }

  has(id: string): boolean {
    return this.#until.has(id)
  }

  /** Resolves when it is durable; refused it is at once. */
  async add(id: string, until: number): Promise<void> {
    this.#until.set(id, until)
    const now = this.#now()
    for (const [old, end] of this.#until) if (end < now) this.#until.delete(old)
    this.#saving = this.#saving.catch(() => {}).then(() => this.#state.set(STATE_ID, { sessions: [...this.#until] }))
    await this.#saving
  }
}
