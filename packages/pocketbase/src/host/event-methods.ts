/** Methods of `e`, on the event of the server. */
import type { Definition, HookApp, HookRecord } from '@pannier/backend'
import { missing } from '@pannier/backend/internal'
import type { EventData, RequestData } from '../protocol/messages.ts'
import { encodedDefinition, type Objects } from './objects.ts'

type Values = Record<string, unknown>

/** Methods that a thread calls by their names. */
export type Methods = Readonly<Record<string, (...parameters: never[]) => unknown>>

/** The method of a name. @throws Error for an unknown name: of an event without such a method */
export function named(methods: Methods, name: string): Methods[string] {
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined
  if (method === undefined)
    throw new Error(`e.${name}() is not there in this event on Pannier: docs/guide/pocketbase-code.md.`)
  return method
}

/** The event of a hook or a route, with what it may have. */
export interface ServerEvent {
  readonly app: HookApp
  next(): Promise<void>
  readonly request?: {
    readonly method: string
    readonly url: URL
    readonly headers: Headers
    pathValue(name: string): string
  }
  readonly response?: { readonly headers: Headers }
  readonly auth?: HookRecord | undefined
  readonly record?: HookRecord | undefined
  requestInfo?(): unknown
  hasSuperuserAuth?(): boolean
  [name: string]: unknown
}

/** An event, and values that its handlers keep for one another. */
export interface AroundEvent {
  readonly name: string
  readonly event: ServerEvent
}

const PARTS = [
  'record',
  'auth',
  'collection',
  'type',
  'error',
  'message',
  'result',
  'name',
  'client',
  'authMethod',
  'providerName',
  'oAuth2User',
  'createData',
  'isNewRecord',
  'meta',
  'token',
]

/** PocketBase's names in paths, and those of the routes here. */
const PATH_NAMES: ReadonlyMap<string, string> = new Map([
  ['filename', 'name'],
  ['recordId', 'record'],
])

/** The records of lists that handlers have asked for. What they hide and set is in the answer. */
const listed = new WeakMap<ServerEvent, Promise<readonly HookRecord[]>>()

/** Values that handlers of an event of no route keep for one another. */
const kept = new WeakMap<ServerEvent, Map<string, unknown>>()

/** The parts of an event for a thread. */
export function partsOf({ event }: AroundEvent, objects: Objects): Readonly<Record<string, unknown>> {
  const parts = PARTS.filter((name) => !['undefined', 'function'].includes(typeof event[name])).map(
    (name): [string, unknown] => {
      const value = event[name]
      if (name === 'error') return [name, String(value)]
      return [name, name === 'collection' ? encodedDefinition(value as Definition) : value]
    },
  )
  return objects.encode(Object.fromEntries(parts)) as Values
}

export function eventData(around: AroundEvent, objects: Objects): EventData {
  const { name, event } = around
  return { name, isRoute: event.response !== undefined, request: requestData(event), parts: partsOf(around, objects) }
}

/** Writes back what a handler has changed. */
export function applyParts({ event }: AroundEvent, changed: Values): void {
  for (const [name, value] of Object.entries(changed)) {
    const target = event[name]
    if (typeof target !== 'object' || target === null) continue
    if (name === 'message' && typeof value === 'object' && 'to' in value!)
      Object.assign(value, { to: (value.to as readonly string[])[0] })
    for (const key of Object.keys(target)) if (!Object.hasOwn(value as object, key)) delete (target as Values)[key]
    Object.assign(target, value)
  }
}

/** The records of a page, by the ids of its items. */
async function recordsOf({ app, collection, result }: ServerEvent): Promise<readonly HookRecord[]> {
  const { items } = result as { readonly items: readonly { readonly id?: string }[] }
  const ids = items.flatMap(({ id }) => id ?? [])
  if (ids.length < items.length) throw new Error('e.records: the request must ask for `id` among its fields.')
  const found = await app.findRecordsByIds((collection as Definition).id, ids)
  if (found.length < ids.length) throw missing('e.records: a record of the page is gone.')
  return found
}

/** Writes what handlers have hidden and set into the items of a page. */
export async function applyRecords({ event }: AroundEvent): Promise<void> {
  const records = await listed.get(event)
  if (records === undefined) return
  const result = event['result'] as { items: readonly Readonly<Record<string, unknown>>[] }
  result.items = result.items.map((item) => records.find(({ id }) => id === item['id'])?.enrich(item) ?? item)
}

function requestData({ request, requestInfo }: ServerEvent): RequestData | undefined {
  if (request !== undefined) return { method: request.method, url: request.url.href, headers: [...request.headers] }
  if (requestInfo === undefined) return undefined
  // An event of records knows of its request what rules know.
  const info = requestInfo() as {
    readonly method: string
    readonly query: Record<string, string>
    readonly headers: object
  }
  const names = Object.entries(info.headers).map(([name, value]): [string, string] => [
    name.replaceAll('_', '-'),
    String(value),
  ])
  return { method: info.method, url: `http://localhost/?${new URLSearchParams(info.query).toString()}`, headers: names }
}

export function eventMethods(around: AroundEvent): Methods {
  const { event } = around
  const own = (name: string): Methods => {
    const method = event[name]
    return typeof method === 'function'
      ? { [name]: (...given: never[]) => (method as (...all: never[]) => unknown).call(event, ...given) }
      : {}
  }
  // The first answer is sent, whatever a handler answers after it.
  const answer = (name: string): Methods => {
    const { [name]: method } = own(name)
    return method === undefined
      ? {}
      : { [name]: (...given) => (event['isAnswered'] === true ? undefined : method(...given)) }
  }
  const values = kept.get(event) ?? new Map<string, unknown>()
  kept.set(event, values)
  const answers = ['json', 'string', 'html', 'blob', 'noContent', 'redirect'].map(answer)
  const facts = 'get set bytes bindBody findUploadedFiles hasSuperuserAuth realIP remoteIP isTLS'.split(' ')
  const { response, request } = event
  return {
    get: (key: string) => values.get(key),
    set: (key: string, value: unknown) => void values.set(key, value),
    ...Object.assign({}, ...answers, ...facts.map(own)),
    isAnswered: () => event['isAnswered'] === true,
    requestInfo: async () => ({ body: {}, ...((await event.requestInfo?.()) as object), auth: event.auth ?? null }),
    pathValue: (name: string) => request?.pathValue(name) || request?.pathValue(PATH_NAMES.get(name) ?? name) || '',
    records: () => {
      const records = listed.get(event) ?? recordsOf(event)
      listed.set(event, records)
      return records
    },
    ...(response && {
      header: (method: 'get' | 'set' | 'append' | 'delete' | 'values', name: string, value: string) => {
        const { headers } = response
        if (method === 'values')
          return name.toLowerCase() === 'set-cookie' ? headers.getSetCookie() : [headers.get(name) ?? []].flat()
        return method === 'get' || method === 'delete' ? headers[method](name) : headers[method](name, value)
      },
    }),
  }
}
