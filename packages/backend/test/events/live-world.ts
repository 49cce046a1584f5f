/** A backend in memory, and clients of its realtime. */
import type { Database } from 'pannier'
import type { VirtualEnvironment } from 'pannier/testing'
import type { Backend } from '../../src/backend.ts'
import type { RealtimeMessage, Subscriber } from '../../src/events/subscriber.ts'
import type { RecordEvent } from '../../src/events/record-messages.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { LOG_LEVELS, type LogEntry } from '../../src/gateway/log-entry.ts'
import { GUEST, SYSTEM, type Principal } from '../../src/gateway/principal.ts'
import { ADMIN } from '../records/world.ts'
import { openTestBackend, type TestBackend } from '../test-backend.ts'

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
  readonly environment: VirtualEnvironment
  readonly database: Database
  readonly backend: Backend
  readonly errors: unknown[]

  readonly #close: () => Promise<void>

  static async open(collections: readonly JsonObject[] = []): Promise<LiveWorld> {
    const errors: unknown[] = []
    const print = (entry: LogEntry): void => {
      // What a list rule costs is no error.
      if ((entry.level ?? LOG_LEVELS.info) > LOG_LEVELS.info) errors.push(entry)
    }
    const opened = await openTestBackend({ print })
    for (const collection of collections) await opened.backend.definitions.create(SYSTEM, collection)
    return new LiveWorld(opened, errors)
  }

  private constructor({ environment, database, backend, close }: TestBackend, errors: unknown[]) {
    this.environment = environment
    this.database = database
    this.backend = backend
    this.errors = errors
    this.#close = close
  }

  connect(address?: string): LiveClient {
    const got: RealtimeMessage[] = []
    const { realtime } = this.backend
    let isEnded = false
    const channel = {
      address,
      send: (messages: readonly RealtimeMessage[]) => void got.push(...messages),
      end: () => void (isEnded = true),
    }
    const subscriber = realtime.connect(channel)
    const subscribeAs = (principal: Principal, ...subscriptions: readonly string[]): Promise<void> =>
      realtime.subscribe(address === undefined ? principal : { ...principal, address }, {
        clientId: subscriber.id,
        subscriptions,
      })
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

  /** Resolves when the messages of all commits have come. @throws if anything went wrong */
  async settled(): Promise<void> {
    await this.environment.idle()
    if (this.errors.length > 0) throw new Error(`Not all is told: ${JSON.stringify(this.errors)}`)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close()
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
