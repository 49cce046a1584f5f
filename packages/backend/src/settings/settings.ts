/** The settings of the application, kept in the server's state and in memory. */
import type { Database } from 'pannier'
import type { BlockList } from 'node:net'
import type { JsonObject } from '../gateway/documents.ts'
import type { Principal } from '../gateway/principal.ts'
import { forbidden, ServiceError } from '../gateway/service-error.ts'
import { ServerState, STATE_COLLECTION } from '../gateway/state.ts'
import { addressesOf, checkSettings, isWithin } from './check-settings.ts'
import { DEFAULT_SETTINGS, mergeSettings, presentSettings } from './settings-values.ts'
import type { SettingsValues } from './settings-values.ts'

const STATE_ID = 'settings'

export class Settings {
  readonly #state: ServerState
  readonly #stopListening: () => void
  #values: SettingsValues = DEFAULT_SETTINGS
  #superuserAddresses: BlockList = addressesOf([])
  readonly #listeners = new Set<() => void>()
  /** Changes come one after another. */
  #turn: Promise<unknown> = Promise.resolve()

  static async open(database: Database): Promise<Settings> {
    const settings = new Settings(database)
    await settings.#load()
    return settings
  }

  private constructor(database: Database) {
    this.#state = new ServerState(database)
    // Another handle may change them.
    this.#stopListening = database.onChange(({ collections }) => {
      const { ids = [STATE_ID] } = collections.get(STATE_COLLECTION) ?? { ids: [] }
      if (ids.includes(STATE_ID)) void this.#inTurn(() => this.#load()).catch(() => {})
    })
  }

  /** With their secrets: for the server itself. */
  get values(): SettingsValues {
    return this.#values
  }

  /** As an admin sees them. @throws ServiceError FORBIDDEN */
  show({ isAdmin }: Principal): JsonObject {
    if (!isAdmin) throw forbidden('')
    return presentSettings(this.#values)
  }

  /** What is left out stays. @throws ServiceError FORBIDDEN, INVALID with data */
  async update(principal: Principal, input: JsonObject): Promise<JsonObject> {
    if (!principal.isAdmin) throw forbidden('')
    return this.#inTurn(async () => {
      const values = mergeSettings(this.#values, input)
      const data = checkSettings(values)
      if (data !== undefined)
        throw new ServiceError('INVALID', 'An error occurred while saving the new settings.', { data })
      await this.#state.set(STATE_ID, { values })
      this.#set(values)
      return presentSettings(values)
    })
  }

  /** Calls `listener` after each change, until the function that it returns is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Whether a superuser may act from there. */
  allowsSuperuserAt(address: string | undefined): boolean {
    return this.#values.superuserIPs.length === 0 || isWithin(this.#superuserAddresses, address ?? '')
  }

  async close(): Promise<void> {
    this.#stopListening()
    await this.#turn
  }

  async #load(): Promise<void> {
    const stored = await this.#state.get(STATE_ID)
    if (stored !== undefined) this.#set(mergeSettings(DEFAULT_SETTINGS, stored['values'] as JsonObject))
  }

  #set(values: SettingsValues): void {
    this.#values = values
    this.#superuserAddresses = addressesOf(values.superuserIPs)
    for (const listener of this.#listeners) listener()
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(run)
    this.#turn = done.catch(() => undefined)
    return done
  }
}
