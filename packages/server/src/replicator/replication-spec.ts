/** Checks what a replication is asked to do: bodies of `_replicate` and documents of `_replicator`. */
import { isObject } from 'pannier/internal'
import { createHash } from 'node:crypto'
import { invalid } from '@pannier/backend/internal'
import type { JsonObject } from '@pannier/backend/internal'

export interface LocalEndpoint {
  readonly database: string
}

interface RemoteEndpoint {
  /** The URL without credentials. */
  readonly url: string
  readonly auth: { readonly username: string; readonly password: string } | undefined
  readonly headers: Readonly<Record<string, string>>
}

export type Endpoint = LocalEndpoint | RemoteEndpoint

export interface ReplicationSpec {
  readonly source: Endpoint
  readonly target: Endpoint
  readonly continuous: boolean
  readonly createTarget: boolean
  readonly ids: readonly string[] | undefined
  readonly selector: JsonObject | undefined
  /** 'ddoc/name', '_view' or '_design'. */
  readonly filter: string | undefined
  readonly parameters: Readonly<Record<string, string>> | undefined
  readonly since: unknown
  readonly checkpointIntervalMs: number
  readonly useCheckpoints: boolean
  readonly winnersOnly: boolean
}

const CHECKPOINT_INTERVAL_MS_DEFAULT = 30_000
const IDS_MAX = 100_000
const URL_CHARS_MAX = 8000
/** Headers that the transport sets. */
const FORBIDDEN_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'expect',
  'keep-alive',
  'te',
  'trailer',
])

/** @throws ServiceError INVALID */
export function readSpec(body: JsonObject): ReplicationSpec {
  const { doc_ids: ids, selector, filter, query_params: parameters } = body
  if (body['proxy'] ?? body['source_proxy'] ?? body['target_proxy']) throw invalid('Proxies are not supported.')
  if (ids !== undefined && !(Array.isArray(ids) && ids.length <= IDS_MAX && ids.every(isText)))
    throw invalid(`\`doc_ids\` must be an array of at most ${IDS_MAX} strings.`)
  if (selector !== undefined && !isObject(selector)) throw invalid('`selector` must be a JSON object.')
  if (
    filter !== undefined &&
    (!isText(filter) || !(filter.includes('/') || filter === '_view' || filter === '_design'))
  )
    throw invalid('`filter` must be of the form `designname/filtername`.')
  if ([ids, selector, filter].filter((one) => one !== undefined).length > 1)
    throw invalid('`doc_ids`, `filter` and `selector` are mutually exclusive.')
  if (parameters !== undefined && !isObject(parameters)) throw invalid('`query_params` must be a JSON object.')
  const view = isObject(parameters) ? parameters['view'] : undefined
  if (filter === '_view' && !(isText(view) && view.includes('/')))
    throw invalid('The filter `_view` needs `query_params` with a `view` like `designname/viewname`.')
  return {
    source: readEndpoint(body['source'], 'source'),
    target: readEndpoint(body['target'], 'target'),
    continuous: flag(body, 'continuous', false),
    createTarget: flag(body, 'create_target', false),
    ids: ids as string[] | undefined,
    selector: selector as JsonObject | undefined,
    filter: filter as string | undefined,
    parameters: isObject(parameters) ? textValues(parameters) : undefined,
    since: readSince(body['since_seq']),
    checkpointIntervalMs: readInterval(body['checkpoint_interval']),
    useCheckpoints: flag(body, 'use_checkpoints', true),
    winnersOnly: flag(body, 'winning_revs_only', false),
  }
}

/** Names the replication, with CouchDB's endings. Equal replications with other credentials have the same name. */
export function idOf(spec: ReplicationSpec, user: string | null): string {
  const { source, target, continuous, createTarget, ids, selector, filter, parameters, winnersOnly } = spec
  const facts = [source, target].map((one) => ('url' in one ? [one.url, one.auth?.username ?? null] : one.database))
  const what = [ids ?? null, selector ?? null, filter ?? null, parameters ?? null, winnersOnly]
  const hash = createHash('sha256')
    .update(JSON.stringify([facts, what, user]))
    .digest('hex')
    .slice(0, 32)
  return `${hash}${continuous ? '+continuous' : ''}${createTarget ? '+create_target' : ''}`
}

/** The name of an endpoint as people see it: never with credentials. */
export function nameOf(endpoint: Endpoint): string {
  return 'url' in endpoint ? `${endpoint.url}/` : endpoint.database
}

function readEndpoint(value: unknown, which: string): Endpoint {
  const { url, auth, headers } = isObject(value) ? value : { url: value, auth: undefined, headers: undefined }
  if (!isText(url) || url === '' || url.length > URL_CHARS_MAX)
    throw invalid(`\`${which}\` must be the name of a database, a URL, or an object with a \`url\`.`)
  if (!/^[a-z][a-z0-9+.-]*:/i.test(url)) return { database: url }
  const parsed = URL.parse(url)
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.pathname.length < 2)
    throw invalid(`The URL of \`${which}\` must be the http or https URL of a database.`)
  const own = readAuth(auth, which) ?? fromUrl(parsed, which)
  parsed.username = parsed.password = parsed.hash = parsed.search = ''
  return { url: parsed.href.replace(/\/+$/, ''), auth: own, headers: readHeaders(headers, which) }
}

function readAuth(auth: unknown, which: string): RemoteEndpoint['auth'] {
  if (auth === undefined) return undefined
  const { username, password } = (isObject(auth) && isObject(auth['basic']) ? auth['basic'] : {}) as JsonObject
  if (!isText(username) || !isText(password))
    throw invalid(`\`auth\` of \`${which}\` must be { "basic": { "username", "password" } }.`)
  return { username, password }
}

function fromUrl({ username, password }: URL, which: string): RemoteEndpoint['auth'] {
  if (username === '') return undefined
  try {
    return { username: decodeURIComponent(username), password: decodeURIComponent(password) }
  } catch {
    throw invalid(`The credentials in the URL of \`${which}\` are malformed.`)
  }
}

function readHeaders(headers: unknown, which: string): Record<string, string> {
  if (headers === undefined) return {}
  const wrong = invalid(`\`headers\` of \`${which}\` must be an object of header fields.`)
  if (!isObject(headers)) throw wrong
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name) || FORBIDDEN_HEADERS.has(name.toLowerCase())) throw wrong
    if (!isText(value) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw wrong
  }
  return headers as Record<string, string>
}

function flag(body: JsonObject, name: string, otherwise: boolean): boolean {
  const value = body[name] ?? otherwise
  if (typeof value !== 'boolean') throw invalid(`\`${name}\` must be true or false.`)
  return value
}

function readSince(since: unknown): unknown {
  if (since === undefined || since === null) return undefined
  if (!isText(since) && typeof since !== 'number' && !Array.isArray(since))
    throw invalid('`since_seq` must be a sequence of the source.')
  return since
}

function readInterval(value: unknown): number {
  if (value === undefined) return CHECKPOINT_INTERVAL_MS_DEFAULT
  if (typeof value !== 'number' || !(value >= 500 && value <= 86_400_000))
    throw invalid('`checkpoint_interval` must be a number of milliseconds, 500 or more.')
  return value
}

function textValues(parameters: JsonObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, isText(value) ? value : JSON.stringify(value)]),
  )
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
