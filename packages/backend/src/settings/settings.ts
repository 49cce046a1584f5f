/** The settings of the application, kept in the server's state and in memory. */
import type { Database } from 'pannier'
import type { BlockList } from 'node:net'
import { environmentOf } from 'pannier/internal'
import { aloneIn, type Fleet } from '../fleet/fleet.ts'
import type { Chance } from '../gateway/chance.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { Listeners, type ReportFailure } from '../gateway/listeners.ts'
import type { Principal } from '../gateway/principal.ts'
import { forbidden, invalid, ServiceError } from '../gateway/service-error.ts'
import { ServerState, STATE_COLLECTION } from '../gateway/state.ts'
import { addressesOf, checkSettings, isWithin } from './check-settings.ts'
import { SettingsSeal } from './settings-seal.ts'
import { DEFAULT_SETTINGS, mergeSettings, presentSettings } from './settings-values.ts'
import type { SettingsValues } from './settings-values.ts'

const STATE_ID = 'settings'

interface SettingsOptions {
  readonly key?: string | undefined
  /** The fleet; the server is alone when it is left out. */
  readonly fleet?: Fleet
  /** The chance of the database when it is left out. */
  readonly chance?: Chance
  /** Reports what a listener of `subscribe` throws. */
  readonly report?: ReportFailure | undefined
}

/** The settings of superusers, checked and stored. Get it by `openBackend`. */
export class Settings {
  readonly #database: Database
  readonly #fleet: Fleet
  readonly #state: ServerState
  readonly #seal: SettingsSeal | undefined
  readonly #stopListening: () => void
  #values: SettingsValues = DEFAULT_SETTINGS
  #superuserAddresses: BlockList = addressesOf([])
  readonly #listeners: Listeners
  /** Changes come one after another. */
  #last: Promise<unknown> = Promise.resolve()

  /** With a key they are stored encrypted from here on. @throws ServiceError INVALID if the key is wrong or missing */
  static async open(database: Database, options: SettingsOptions = {}): Promise<Settings> {
    const { key, chance = environmentOf(database), fleet = aloneIn(chance) } = options
    const seal = key === undefined ? undefined : new SettingsSeal(key, chance)
    const settings = new Settings(database, seal, fleet, options.report)
    try {
      const isPlain = await settings.#load()
      if (isPlain && key !== undefined) await settings.#store(settings.#values)
      return settings
    } catch (error) {
      await settings.close()
      throw error
    }
  }

  /** Stores encrypted settings as they are, so that they need no key. @throws ServiceError INVALID if the key is wrong */
  static async decrypt(database: Database, key: string): Promise<void> {
    const settings = await Settings.open(database, { key })
    await settings.#state.set(STATE_ID, { values: settings.#values })
    await settings.close()
  }

  private constructor(database: Database, seal: SettingsSeal | undefined, fleet: Fleet, report?: ReportFailure) {
    this.#listeners = new Listeners(report)
    this.#database = database
    this.#fleet = fleet
    this.#state = new ServerState(database)
    this.#seal = seal
    // Another handle may change them.
    this.#stopListening = database.subscribe(({ collections }) => {
      const { ids = [STATE_ID] } = collections.get(STATE_COLLECTION) ?? { ids: [] }
      if (ids.includes(STATE_ID)) void this.#afterLast(() => this.#load()).catch(() => {})
    })
  }

  /** The values with their secrets: for the server itself. */
  get values(): SettingsValues {
    return this.#values
  }

  /** As an admin sees them. @throws ServiceError FORBIDDEN */
  show({ isAdmin }: Principal): JsonObject {
    if (!isAdmin) throw forbidden('')
    return presentSettings(this.#values)
  }

  /** Changes settings; settings that are left out stay. @throws ServiceError FORBIDDEN, INVALID with data */
  async update(principal: Principal, input: JsonObject): Promise<JsonObject> {
    if (!principal.isAdmin) throw forbidden('')
    return this.#afterLast(() =>
      this.#fleet.exclusively('settings', async () => {
        await this.#database.refresh()
        await this.#load()
        const values = mergeSettings(this.#values, input)
        const data = checkSettings(values)
        if (data !== undefined)
          throw new ServiceError('INVALID', 'An error occurred while saving the new settings.', { data })
        await this.#store(values)
        this.#set(values)
        return presentSettings(values)
      }),
    )
  }

  /** Calls `listener` after each change, until the function that it returns is called. What it throws is logged. */
  subscribe(listener: () => void): () => void {
    return this.#listeners.add(listener)
  }

  /** Whether a superuser may act from there. */
  allowsSuperuserAt(address: string | undefined): boolean {
    return this.#values.superuserIPs.length === 0 || isWithin(this.#superuserAddresses, address ?? '')
  }

  /** Resolves when changes of other servers that this one has seen are known. */
  async settled(): Promise<void> {
    await this.#last
  }

  /** Stops the work on stored settings. */
  async close(): Promise<void> {
    this.#stopListening()
    await this.#last
  }

  /** Loads them. Whether they are there, and not encrypted. */
  async #load(): Promise<boolean> {
    const { values, sealed } = (await this.#state.get(STATE_ID)) ?? {}
    const known = typeof sealed === 'string' ? this.#opened(sealed) : (values as JsonObject | undefined)
    if (known !== undefined) this.#set(mergeSettings(DEFAULT_SETTINGS, known))
    return values !== undefined
  }

  #opened(sealed: string): JsonObject {
    if (this.#seal === undefined)
      throw invalid('The settings are encrypted. Give their key by PANNIER_ENCRYPTION_KEY or --encryption-key-env.')
    return this.#seal.open(sealed)
  }

  async #store(values: SettingsValues): Promise<void> {
    const sealed = this.#seal?.seal(values as unknown as JsonObject)
    await this.#state.set(STATE_ID, sealed === undefined ? { values } : { sealed })
  }

  #set(values: SettingsValues): void {
    this.#values = values
    this.#superuserAddresses = addressesOf(values.superuserIPs)
    this.#listeners.call()
  }

  #afterLast<T>(run: () => Promise<T>): Promise<T> {
    const done = this.#last.then(run)
    this.#last = done.catch(() => undefined)
    return done
  }
}
