/** A backend in memory, and clients of its realtime. */
import { setTimeout as sleep } from 'node:timers/promises'
import { open, type Database } from 'pannier'
import { memory } from 'pannier/memory'
import { openBackend, type Backend, type BackendOptions } from '../../src/backend.ts'
import type { RealtimeMessage, Subscriber } from '../../src/events/subscriber.ts'
import type { RecordEvent } from '../../src/events/record-messages.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { LOG_LEVELS, type LogEntry } from '../../src/gateway/log-entry.ts'
import { GUEST, SYSTEM, type Principal } from '../../src/gateway/principal.ts'
import { ADMIN } from '../records/world.ts'

export const PASSWORD = 'a password of tests'

/** A client that keeps what it is sent. */
export interface LiveClient {
  readonly subscriber: Subscriber
  readonly got: RealtimeMessage[]
  readonly isEnded: boolean
  /** `posts/* create id`, without options. */
  readonly told: readonly string[]
  subscribe(...topics: readonly string[]): Promise<void>
  subscribeAs(principal: Principal, ...topics: readonly string[]): Promise<void>
}

export class LiveWorld implements AsyncDisposable {
  readonly database: Database
  readonly backend: Backend
  readonly errors: unknown[]

  static async open(
    collections: readonly JsonObject[] = [],
    options: Pick<BackendOptions, 'environment'> = {},
  ): Promise<LiveWorld> {
    const database = await open('live', { storage: memory() })
    const errors: unknown[] = []
    const print = (entry: LogEntry): void => {
      // What a list rule costs is no error.
      if ((entry.level ?? LOG_LEVELS.info) > LOG_LEVELS.info) errors.push(entry)
    }
    const backend = await openBackend(database, { ...options, print })
    for (const collection of collections) await backend.definitions.create(SYSTEM, collection)
    return new LiveWorld(database, backend, errors)
  }

  private constructor(database: Database, backend: Backend, errors: unknown[]) {
    this.database = database
    this.backend = backend
    this.errors = errors
  }

  connect(): LiveClient {
    const got: RealtimeMessage[] = []
    const { realtime } = this.backend
    let isEnded = false
    const channel = {
      address: undefined,
      send: (messages: readonly RealtimeMessage[]) => void got.push(...messages),
      end: () => void (isEnded = true),
    }
    const subscriber = realtime.connect(channel)
    const subscribeAs = (principal: Principal, ...subscriptions: readonly string[]): Promise<void> =>
      realtime.subscribe(principal, { clientId: subscriber.id, subscriptions })
    return {
      subscriber,
      got,
      get isEnded() {
        return isEnded
      },
      get told() {
        return toldIn(got)
      },
      subscribe: (...topics) => subscribeAs(GUEST, ...topics),
      subscribeAs,
    }
  }

  create(collection: string, input: JsonObject): Promise<JsonObject> {
    return this.backend.records.create(ADMIN, collection, input)
  }

  update(collection: string, id: string, input: JsonObject): Promise<JsonObject> {
    return this.backend.records.update(ADMIN, collection, id, input)
  }

  delete(collection: string, id: string): Promise<void> {
    return this.backend.records.delete(ADMIN, collection, id)
  }

  /** An account, and who it is when it has logged in. */
  async account(collection: string, id: string, more: JsonObject = {}): Promise<Principal> {
    const email = `${id}@example.com`
    await this.create(collection, { id, email, password: PASSWORD, passwordConfirm: PASSWORD, ...more })
    return this.logIn(collection, email)
  }

  async logIn(collection: string, identity: string): Promise<Principal> {
    const login = await this.backend.accounts.authWithPassword(ADMIN, collection, { identity, password: PASSWORD })
    if (!('principal' in login)) throw new Error('One login is not enough.')
    return login.principal
  }

  /** Resolves when the messages of all commits have come, as those of a last one have. */
  async settled(): Promise<void> {
    const { realtime, definitions } = this.backend
    if (definitions.find('marks') === undefined)
      await definitions.create(SYSTEM, { name: 'marks', listRule: '', fields: [] })
    let isTold = false
    const send = (): void => void (isTold = true)
    const subscriber = realtime.connect({ address: undefined, send, end: () => {} })
    await realtime.subscribe(GUEST, { clientId: subscriber.id, subscriptions: ['marks/*'] })
    await this.create('marks', {})
    for (let tries = 0; !isTold; tries++) {
      if (tries === 30_000 || this.errors.length > 0) throw new Error(`Nothing is told: ${String(this.errors)}`)
      await sleep(2)
    }
    realtime.disconnect(subscriber)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.backend.close()
    await this.database.close()
  }
}

/** `posts/* create id`, without options. */
export function toldIn(messages: readonly RealtimeMessage[]): readonly string[] {
  return messages.map(({ topic, data }) => {
    const { action, record } = data as RecordEvent
    return `${topic.split('?')[0]!} ${action} ${String(record['id'])}`
  })
}

/** `posts/*` with options, as the SDK writes them. */
export function topic(name: string, query: JsonObject, headers: JsonObject = {}): string {
  return `${name}?options=${encodeURIComponent(JSON.stringify({ query, headers }))}`
}
