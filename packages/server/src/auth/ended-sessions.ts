/**
 * Sessions that were logged out before they expired. Kept in the server's state, so that they stay ended after a
 * restart, and end at all servers.
 */
import type { Database } from 'pannier'
import type { Environment } from 'pannier/types'
import { isClockTrusted, STATE_COLLECTION, type ServerState } from '@pannier/backend/internal'

const STATE_ID = 'auth/ended-sessions'

export class EndedSessions {
  readonly #database: Database
  readonly #state: ServerState
  readonly #environment: Pick<Environment, 'wallClock'>
  /** Until when each could have been used, by id. */
  readonly #until = new Map<string, number>()
  readonly #stopListening: () => void

  private constructor({ database, state, environment }: EndedSessionsHost) {
    this.#database = database
    this.#state = state
    this.#environment = environment
    // Another server may end one.
    this.#stopListening = database.subscribe(({ collections, local }) => {
      const { ids = [STATE_ID] } = collections.get(STATE_COLLECTION) ?? { ids: [] }
      if (!local && ids.includes(STATE_ID)) void this.#load().catch(() => {})
    })
  }

  static async open(host: EndedSessionsHost): Promise<EndedSessions> {
    const ended = new EndedSessions(host)
    await ended.#load()
    return ended
  }

  has(id: string): boolean {
    return this.#until.has(id)
  }

  /** Resolves when it is durable; refused it is at once. */
  async add(id: string, until: number): Promise<void> {
    this.#until.set(id, until)
    const clock = this.#environment.wallClock()
    // An end that is forgotten too soon would be none.
    const now = (await isClockTrusted(this.#database, clock)) ? clock : 0
    await this.#state.change(STATE_ID, (old) => {
      const others = sessionsIn(old).filter(([other, end]) => other !== id && end >= now)
      return { sessions: [...others, [id, until]] }
    })
    for (const [old, end] of this.#until) if (end < now) this.#until.delete(old)
  }

  close(): void {
    this.#stopListening()
  }

  async #load(): Promise<void> {
    for (const [id, until] of sessionsIn((await this.#state.get(STATE_ID)) ?? {})) this.#until.set(id, until)
  }
}

interface EndedSessionsHost {
  readonly environment: Pick<Environment, 'wallClock'>
  readonly database: Database
  readonly state: ServerState
}

function sessionsIn(stored: Readonly<Record<string, unknown>>): readonly [string, number][] {
  return (stored['sessions'] ?? []) as [string, number][]
}
