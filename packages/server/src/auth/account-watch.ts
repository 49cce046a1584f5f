/**
 * Reports changes that affect permissions: of a user, the admins, ended sessions, a `_security` object, or the application's rules. All watchers
 * share one listener, so a thousand open feeds do not slow down a write.
 */
import { callAll, STATE_COLLECTION } from '@pannier/backend/internal'
import { USER_PREFIX } from './accounts.ts'
import type { AuthHost } from './auth-host.ts'

interface Watcher {
  /** Name of the reader; undefined for a guest. */
  readonly name: string | undefined
  readonly changed: () => void
}

/** Other documents in the server's state do not affect permissions. */
const STATE_IDS = /^(?:auth|security)\//

export class AccountWatch {
  readonly #host: AuthHost
  readonly #watchers = new Set<Watcher>()
  readonly #stopListening: () => void
  /** Grows with each change of this kind: as long as it is the same, what was allowed is. */
  version = 0

  constructor(host: AuthHost) {
    this.#host = host
    this.#stopListening = this.#listen()
  }

  close(): void {
    this.#stopListening()
  }

  /** Adds a watch for changes. Call the result to end it. */
  add(name: string | undefined, changed: () => void): () => void {
    const watcher = { name, changed }
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  #listen(): () => void {
    const { database, users, accounts, app } = this.#host
    const stopRules = app?.subscribeRules(() => {
      this.version++
      callAll(Array.from(this.#watchers, ({ changed }) => changed))
    })
    const stopDocuments = database.subscribe((change) => {
      const { collections } = change
      const state = collections.get(STATE_COLLECTION)
      const people = collections.get(users.name)
      const isForAll =
        state !== undefined && (state.ids === undefined || state.ids.some((id: string) => STATE_IDS.test(id)))
      const inApp = accounts?.changedNames(change) ?? []
      if (!isForAll && people === undefined && inApp.length === 0) return
      this.version++
      const changed = new Set<string>(people?.ids)
      const isAnybody = isForAll || inApp === 'all' || (people !== undefined && people.ids === undefined)
      const concerned = Array.from(this.#watchers).filter(
        ({ name }) => isAnybody || (name !== undefined && (changed.has(USER_PREFIX + name) || inApp.includes(name))),
      )
      // Later than all who listen: others forget now what they know of admins and of `_security`.
      queueMicrotask(() => callAll(concerned.map(({ changed: tell }) => tell)))
    })
    return () => {
      stopRules?.()
      stopDocuments()
    }
  }
}
