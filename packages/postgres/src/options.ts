/** The options of `postgres()`, checked. */
import type { ConnectionOptions } from 'node:tls'
import { badArgument, checkOptions, type OptionNames } from 'pannier/internal'

/** Options of `postgres`. */
export interface PostgresOptions {
  /** The schema that holds the tables. It is made if it is missing. By default 'pannier'. */
  readonly schema?: string
  /** Certificates and checks of TLS, as of Node's `tls.connect`. The URL's `sslmode` says whether TLS is used. */
  readonly ssl?: ConnectionOptions
  /** How many connections this process uses for its calls, 1 to 100. By default 4. One more listens for news. */
  readonly connectionsMax?: number
  /** How long a call waits, in milliseconds, while PostgreSQL can't be reached, as in a failover. By default 30,000. */
  readonly waitMsMax?: number
  /** Whether servers tell one another of commits by NOTIFY. By default true. Without it they find them by `pollMs`. */
  readonly notify?: boolean
  /** A URL for the connection that listens, where the other one leads to a pooler in transaction mode. Of several, one for each. */
  readonly listenUrl?: string | readonly string[]
  /** How often this process polls for what others have written. By default each second with NOTIFY, else every 50 ms. */
  readonly pollMs?: number
  /** Whether statements are prepared by name. By default true. False for poolers that can't do that. */
  readonly prepare?: boolean
}

/** The options with their defaults. */
export interface Settings {
  /** A connection string for each host. */
  readonly urls: readonly string[]
  readonly listenUrls: readonly string[]
  readonly schema: string
  readonly ssl: ConnectionOptions | undefined
  readonly connectionsMax: number
  readonly waitMsMax: number
  readonly notify: boolean
  readonly pollMs: number
  readonly prepare: boolean
  /** The place for people: host, port and database. It has no user and no password. */
  readonly place: string
}

const OPTIONS: OptionNames<PostgresOptions> = {
  schema: true,
  ssl: true,
  connectionsMax: true,
  waitMsMax: true,
  notify: true,
  listenUrl: true,
  pollMs: true,
  prepare: true,
}

const CONNECTIONS_MAX = 100
const WAIT_MS_DEFAULT = 30_000
const POLL_MS_WITH_NOTIFY = 1000
const POLL_MS_ALONE = 50

/** `postgres://user:password@host:5432,other:5432/database?sslmode=require`, in its parts. */
const URL_FORM: RegExp = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^@/?]*)(\/[^?]*)?(\?.*)?$/

/** @throws TypeError */
export function allSettings(urls: string | readonly string[], options: PostgresOptions): Settings[] {
  const all: readonly string[] = Array.isArray(urls) && urls.length > 0 ? urls : [urls as string]
  const { listenUrl } = options
  const listening = typeof listenUrl === 'string' ? [listenUrl] : listenUrl
  if (listening !== undefined && listening.length !== all.length)
    throw badArgument('postgres()', `listenUrl must be one for each of ${all.length} URLs`, listening.length)
  const settings = all.map((url, i) => settingsOf(url, { ...options, listenUrl: listening?.[i] ?? url }))
  const places = new Set(settings.map(({ place }) => place))
  if (places.size < settings.length)
    throw badArgument('postgres()', 'each URL must be of another PostgreSQL', [...places])
  return settings
}

function settingsOf(url: string, options: PostgresOptions & { readonly listenUrl: string }): Settings {
  checkOptions('postgres()', options, OPTIONS)
  const { schema = 'pannier', connectionsMax = 4, waitMsMax = WAIT_MS_DEFAULT, notify = true, prepare = true } = options
  const { pollMs = notify ? POLL_MS_WITH_NOTIFY : POLL_MS_ALONE, listenUrl, ssl } = options
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw badArgument('postgres()', 'schema must be 1 to 63 of a-z, 0-9 and _, and not begin with a digit', schema)
  if (!Number.isInteger(connectionsMax) || connectionsMax < 1 || connectionsMax > CONNECTIONS_MAX)
    throw badArgument(
      'postgres()',
      `connectionsMax must be a whole number from 1 to ${CONNECTIONS_MAX}`,
      connectionsMax,
    )
  if (!(waitMsMax >= 0)) throw badArgument('postgres()', 'waitMsMax must be a number of milliseconds from 0', waitMsMax)
  if (!(pollMs > 0)) throw badArgument('postgres()', 'pollMs must be a number of milliseconds above 0', pollMs)
  const { urls, place } = hostsOf(url, 'the URL')
  const { urls: listenUrls } = hostsOf(listenUrl, 'listenUrl')
  return { urls, listenUrls, schema, ssl, connectionsMax, waitMsMax, notify, pollMs, prepare, place }
}

/** The URL may hold a password, so no message shows it. */
function hostsOf(url: unknown, what: string): { urls: string[]; place: string } {
  const parts = typeof url === 'string' ? URL_FORM.exec(url) : null
  if (parts === null) {
    const form = 'postgres://user:password@host:5432/database, with %40, %3A and %2F for @, : and / in a password'
    // The rest may hold a password.
    throw badArgument('postgres()', `${what} must be like ${form}`, typeof url === 'string' ? url.split(':')[0] : url)
  }
  const [, head = '', hosts = '', path = '', query = ''] = parts
  return { urls: hosts.split(',').map((host) => head + host + path + query), place: `${hosts}${path}` }
}
