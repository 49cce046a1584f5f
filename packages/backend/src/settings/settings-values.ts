/** The settings of the application, as PocketBase's API has them: their forms, defaults and secrets. */
import { isObject } from 'pannier/internal'
import type { JsonObject } from '../gateway/documents.ts'
import { invalid } from '../gateway/service-error.ts'

/** A rule of rate limits: how often something may be asked for. */
export interface RateLimitRule {
  /** `*:auth`, `posts:create`, `/api/batch`, `/api/` */
  readonly label: string
  readonly audience: '' | '@guest' | '@auth' | (string & {})
  /** The duration in seconds. */
  readonly duration: number
  readonly maxRequests: number
}

/** A place for files that speaks S3. */
export interface S3Settings {
  readonly enabled: boolean
  readonly bucket: string
  readonly region: string
  /** The endpoint with or without `https://`. */
  readonly endpoint: string
  readonly accessKey: string
  readonly secret: string
  /** The bucket stands in the path, not in the name of the host. */
  readonly forcePathStyle: boolean
}

/** The values of settings, with their secrets. */
export interface SettingsValues {
  /** Networks (IPs) from where superusers may act; from everywhere if the list is empty. */
  readonly superuserIPs: readonly string[]
  readonly smtp: {
    readonly enabled: boolean
    readonly port: number
    readonly host: string
    readonly username: string
    readonly password: string
    readonly authMethod: string
    readonly tls: boolean
    readonly localName: string
  }
  readonly backups: { readonly cron: string; readonly cronMaxKeep: number; readonly s3: S3Settings }
  readonly s3: S3Settings
  readonly meta: {
    readonly accentColor: string
    readonly appName: string
    readonly appURL: string
    readonly senderName: string
    readonly senderAddress: string
    readonly hideControls: boolean
  }
  readonly rateLimits: {
    readonly rules: readonly RateLimitRule[]
    readonly excludedIPs: readonly string[]
    readonly enabled: boolean
  }
  readonly trustedProxy: { readonly headers: readonly string[]; readonly useLeftmostIP: boolean }
  readonly batch: {
    readonly enabled: boolean
    readonly maxRequests: number
    /** The timeout in seconds. */
    readonly timeout: number
    readonly maxBodySize: number
  }
  readonly logs: {
    readonly maxDays: number
    readonly minLevel: number
    readonly logIP: boolean
    readonly logAuthId: boolean
  }
}

const RULE: RateLimitRule = { label: '', audience: '', duration: 0, maxRequests: 0 }

const S3: S3Settings = {
  enabled: false,
  bucket: '',
  region: '',
  endpoint: '',
  accessKey: '',
  secret: '',
  forcePathStyle: false,
}

function rule(label: string, duration: number, maxRequests: number): RateLimitRule {
  return { label, audience: '', duration, maxRequests }
}

/** The settings of a new database, in the order in which they are shown. */
export const DEFAULT_SETTINGS: SettingsValues = {
  superuserIPs: [],
  smtp: {
    enabled: false,
    port: 587,
    host: 'smtp.example.com',
    username: '',
    password: '',
    authMethod: '',
    tls: false,
    localName: '',
  },
  backups: { cron: '', cronMaxKeep: 3, s3: S3 },
  s3: S3,
  meta: {
    accentColor: '#1055c9',
    appName: 'Acme',
    appURL: 'http://localhost:8090',
    senderName: 'Support',
    senderAddress: 'support@example.com',
    hideControls: false,
  },
  rateLimits: {
    rules: [rule('*:auth', 3, 2), rule('*:create', 5, 20), rule('/api/batch', 1, 3), rule('/api/', 10, 300)],
    excludedIPs: [],
    enabled: false,
  },
  trustedProxy: { headers: [], useLeftmostIP: false },
  batch: { enabled: false, maxRequests: 50, timeout: 3, maxBodySize: 0 },
  logs: { maxDays: 5, minLevel: 0, logIP: true, logAuthId: false },
}

/** Settings that are secrets: written, and never shown. */
const SECRETS: ReadonlySet<string> = new Set(['smtp.password', 's3.secret', 'backups.s3.secret'])

/** `old` with what `input` has. What is unknown is ignored. @throws ServiceError INVALID for a value of a wrong type */
export function mergeSettings(old: SettingsValues, input: JsonObject): SettingsValues {
  return merged(DEFAULT_SETTINGS, old, input, '') as SettingsValues
}

/** Presents settings without what is secret. */
export function presentSettings(values: SettingsValues): JsonObject {
  return shown(values as unknown as JsonObject, '')
}

function shown(values: JsonObject, prefix: string): JsonObject {
  const entries = Object.entries(values).filter(([name]) => !SECRETS.has(prefix + name))
  return Object.fromEntries(
    entries.map(([name, value]) => [name, isObject(value) ? shown(value, `${prefix}${name}.`) : value]),
  )
}

/** `form`: a value of the same type. */
function merged(form: unknown, old: unknown, input: unknown, path: string): unknown {
  if (input === undefined) return old
  if (Array.isArray(form)) return input === null ? [] : listOf(path === 'rateLimits.rules.' ? RULE : '', input)
  if (input === null) return old
  if (isObject(form)) {
    if (!isObject(input)) throw malformed()
    const before = isObject(old) ? old : {}
    return Object.fromEntries(
      Object.entries(form).map(([name, inner]) => [
        name,
        merged(inner, before[name] ?? inner, Object.hasOwn(input, name) ? input[name] : undefined, `${path}${name}.`),
      ]),
    )
  }
  if (typeof input !== typeof form || (typeof input === 'number' && !Number.isSafeInteger(input))) throw malformed()
  return input
}

function listOf(form: unknown, input: unknown): readonly unknown[] {
  if (!Array.isArray(input)) throw malformed()
  return input.map((item) => merged(form, form, item, ''))
}

function malformed(): Error {
  return invalid('An error occurred while loading the submitted data.')
}
