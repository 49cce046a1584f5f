/** Members of events that follow from their requests. Handlers read them, and can't change them. */
import { refused } from '../protocol/refusals.ts'
import type { App } from './app.ts'
import { Collection, Settings } from './collection.ts'
import { call } from './link.ts'
import { Record as PocketRecord } from './record.ts'

type Values = Readonly<Record<string, unknown>>
/** An event, as far as its members follow from it. */
interface HookEvent {
  readonly app: App
  requestInfo(): Values
  readonly [name: string]: unknown
}

/** A part of an event: makes the member. `known`: the value that the server has given. */
type Part = (event: HookEvent, known: unknown) => unknown

function body(event: HookEvent): Values {
  return event.requestInfo()['body'] as Values
}

function ofBody(name: string, empty: unknown): Part {
  return (event) => body(event)[name] ?? empty
}

/** The claim of the token that confirms another address. */
function newEmail(event: HookEvent): unknown {
  const [, claims = ''] = String(body(event)['token']).split('.')
  try {
    return (JSON.parse(Buffer.from(claims, 'base64url').toString()) as Values)['newEmail'] ?? ''
  } catch {
    return ''
  }
}

function merged(old: Values, changed: Values): Values {
  const isPlain = (value: unknown): value is Values =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  const entries = Object.entries(changed).map(([name, value]): [string, unknown] => {
    const before = old[name]
    return [name, isPlain(before) && isPlain(value) ? merged(before, value) : value]
  })
  return { ...old, ...Object.fromEntries(entries) }
}

/** The collection as it will be. */
function wanted(event: HookEvent, known: unknown): Collection {
  const made =
    known instanceof Collection
      ? Collection.of(JSON.parse(JSON.stringify(known)) as Record<string, unknown>)
      : new Collection()
  made.merge(body(event))
  return made
}

const PARTS: ReadonlyMap<string, Readonly<Record<string, Part>>> = new Map(
  Object.entries<Readonly<Record<string, Part>>>({
    onBatchRequest: { batch: ofBody('requests', []) },
    onCollectionCreateRequest: { collection: wanted },
    onCollectionUpdateRequest: { collection: wanted },
    onCollectionsImportRequest: {
      collectionsData: ofBody('collections', []),
      deleteMissing: ofBody('deleteMissing', false),
    },
    onCollectionsListRequest: { collections: (event) => event.app.findAllCollections() },
    onFileDownloadRequest: {
      servedName: () => call('event', 'pathValue', 'filename'),
      servedPath: (event) => `${(event['record'] as PocketRecord).baseFilesPath()}/${String(event['servedName'])}`,
      fileField: (event) => (event['record'] as PocketRecord).findFileFieldByFile(String(event['servedName'])),
    },
    onRealtimeSubscribeRequest: {
      subscriptions: ofBody('subscriptions', []),
      client: (event) => clientOf({ id: String(body(event)['clientId']), auth: event['auth'] }),
    },
    onRecordAuthWithPasswordRequest: {
      identity: ofBody('identity', ''),
      identityField: ofBody('identityField', ''),
      password: ofBody('password', ''),
    },
    onRecordConfirmEmailChangeRequest: { newEmail },
    onRecordRequestEmailChangeRequest: { newEmail: ofBody('newEmail', '') },
    onRecordsListRequest: { records: () => call('event', 'records') },
    onSettingsListRequest: { settings: (event) => event.app.settings() },
    onSettingsUpdateRequest: {
      oldSettings: (event) => event.app.settings(),
      newSettings: (event) => new Settings(merged(event.app.settings(), body(event))),
    },
  }),
)

/** A client of realtime. */
export function clientOf({ id, auth }: { readonly id: string; readonly auth?: unknown }): object {
  const known: Values = { id: () => id, get: (key: string) => (key === 'auth' ? (auth ?? null) : null) }
  return new Proxy(known, {
    get: (_known, name) => {
      if (typeof name === 'symbol' || Object.hasOwn(known, name) || name === 'toJSON') return known[name as string]
      return () => {
        throw new Error(refused(`e.client.${name}()`, 'Use e.client.id() and e.client.get("auth").'))
      }
    },
  })
}

/** No handler can change the value: what it does would be lost. Records are of the server, which knows their changes. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (value instanceof PocketRecord) return value
  for (const one of Object.values(value)) frozen(one)
  return Object.freeze(value)
}

/** Defines the members that the event of this name has. Each is made when it is first read. */
export function defineParts(event: HookEvent, name: string): void {
  for (const [member, part] of Object.entries(PARTS.get(name) ?? {})) {
    let value: unknown
    const known = event[member]
    const get = (): unknown => (value ??= frozen(part(event, known)))
    defineReadOnly(event, member, get, `A handler can refuse the request, and not change e.${member}.`)
  }
}

/** Defines a member that can't be set. */
export function defineReadOnly(event: object, member: string, get: () => unknown, instead: string): void {
  const set = (): never => {
    throw new Error(refused(`e.${member} = …`, instead))
  }
  Object.defineProperty(event, member, { get, set, enumerable: false, configurable: true })
}
