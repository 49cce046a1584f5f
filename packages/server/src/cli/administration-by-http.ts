/** Users and databases of a running server, through CouchDB's HTTP API. */
import { USER_PREFIX } from '../auth/accounts.ts'
import {
  isMissing,
  isThere,
  readSecurity,
  type Administration,
  type KnownDatabase,
  type KnownUser,
  type NewUser,
  type Security,
} from './administration.ts'
import { FailedError, UsageError } from './outcome.ts'
import { wholeJson } from './superuser-api.ts'

interface UserRow {
  readonly doc?: { readonly name?: string; readonly roles?: readonly string[]; readonly type?: string }
}

/** Messages for failures, for each HTTP status that a call may get. */
type Failures = Readonly<Record<number, string>>

export class HttpAdministration implements Administration {
  readonly #origin: string
  readonly #base: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #signal: AbortSignal

  /** `url` has the name and the password of an admin. */
  constructor(url: URL, signal: AbortSignal) {
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    this.#origin = url.origin
    this.#base = `${url.origin}${url.pathname.replace(/\/$/, '')}`
    this.#headers = {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
    }
    this.#signal = signal
  }

  async users(): Promise<KnownUser[]> {
    const range = new URLSearchParams({ include_docs: 'true', startkey: `"${USER_PREFIX}"` })
    const { rows } = await this.#send<{ readonly rows: readonly UserRow[] }>('GET', `/_users/_all_docs?${range}`)
    const admins = await this.#send<Readonly<Record<string, string>>>('GET', '/_node/_local/_config/admins')
    const known: KnownUser[] = Object.keys(admins).map((name) => ({ name, roles: [], isAdmin: true }))
    for (const { doc: { name, roles = [], type } = {} } of rows)
      if (typeof name === 'string' && type === 'user') known.push({ name, roles, isAdmin: false })
    return known
  }

  async addUser({ name, password, roles, isAdmin }: NewUser): Promise<void> {
    if (isAdmin) throw new UsageError('--admin goes with --dir, while the server does not run.')
    const taken = { 409: `There is a user ${name} already.` }
    await this.#send('PUT', userPath(name), { name, password, roles, type: 'user' }, taken)
  }

  async setPassword(name: string, password: string): Promise<void> {
    await this.#send('PUT', userPath(name), { ...(await this.#user(name)), password })
  }

  async removeUser(name: string): Promise<void> {
    const { _rev: rev } = await this.#user(name)
    await this.#send('DELETE', `${userPath(name)}?rev=${rev}`)
  }

  async databases(): Promise<KnownDatabase[]> {
    const known: KnownDatabase[] = []
    for (const name of await this.#send<string[]>('GET', '/_all_dbs')) {
      const { doc_count: documents } = await this.#send<{ readonly doc_count: number }>('GET', databasePath(name))
      known.push({ name, documents, security: await this.security(name) })
    }
    return known
  }

  async createDatabase(name: string): Promise<void> {
    await this.#send('PUT', databasePath(name), undefined, { 412: isThere(name) })
  }

  async security(name: string): Promise<Security> {
    return readSecurity(await this.#send('GET', `${databasePath(name)}/_security`, undefined, { 404: isMissing(name) }))
  }

  async setSecurity(name: string, security: Security): Promise<void> {
    await this.#send('PUT', `${databasePath(name)}/_security`, security)
  }

  #user(name: string): Promise<{ readonly _rev: string }> {
    return this.#send('GET', userPath(name), undefined, { 404: `There is no user ${name}.` })
  }

  /** @throws FailedError */
  async #send<T>(method: string, path: string, body?: unknown, explained: Failures = {}): Promise<T> {
    const response = await fetch(this.#base + path, {
      method,
      signal: this.#signal,
      redirect: 'error',
      headers: this.#headers,
      body: body === undefined ? null : JSON.stringify(body),
    }).catch((error: unknown) => {
      if (this.#signal.aborted) throw error
      throw new FailedError(`${this.#origin} does not answer.`, { cause: error })
    })
    // Half an answer is no answer: what is not in it would be taken away by those who write it back.
    if (response.ok) return (await wholeJson(response, this.#origin)) as T
    const answer = (await response.json().catch(() => null)) as { readonly reason?: string } | null
    throw new FailedError(explained[response.status] ?? answer?.reason ?? response.statusText)
  }
}

function userPath(name: string): string {
  return `/_users/${encodeURIComponent(USER_PREFIX + name)}`
}

function databasePath(name: string): string {
  return `/${encodeURIComponent(name)}`
}
