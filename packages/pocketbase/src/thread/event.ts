/** `e`: what a handler gets. */
import type { EventData, RequestData } from '../protocol/messages.ts'
import { absentOf, refused } from '../protocol/refusals.ts'
import { App } from './app.ts'
import { answerOf, decode, encode } from './coding.ts'
import { Collection } from './collection.ts'
import { Cookie } from './cookie.ts'
import { JSONRaw } from './dates.ts'
import { fill } from './dynamic-model.ts'
import { API_ERRORS, GoError } from './errors.ts'
import { clientOf, defineParts, defineReadOnly, frozen } from './event-parts.ts'
import type { UploadedFile } from './files.ts'
import { call } from './link.ts'
import { MailerMessage } from './mails.ts'
import { textOf } from './record.ts'

type Values = Record<string, unknown>
type ErrorClass = new (...parameters: unknown[]) => Error

/** Parts that a handler may replace or change, beside the records: they go back to the server. */
const CHANGEABLE = ['result', 'message', 'createData', 'oAuth2User'] as const

/** `e.request`, as Go's `http.Request` has its names. */
function requestOf({ method, url, headers }: RequestData): Values {
  const parsed = new URL(url)
  const all = new Headers(headers.map(([name, value]): [string, string] => [name, value]))
  const query = (): Values => valuesOf(parsed.searchParams)
  return {
    method,
    host: parsed.host,
    requestURI: parsed.pathname + parsed.search,
    header: headerOf(all),
    url: {
      path: parsed.pathname,
      rawQuery: parsed.search.slice(1),
      host: parsed.host,
      query,
      string: () => parsed.pathname + parsed.search,
      toString: () => parsed.pathname + parsed.search,
    },
    pathValue: (name: string) => call('event', 'pathValue', name),
    get body() {
      return call('event', 'bytes')
    },
    formValue: (name: string) => textOf((call('event', 'bindBody') as Values)[name] ?? parsed.searchParams.get(name)),
    userAgent: () => all.get('user-agent') ?? '',
    referer: () => all.get('referer') ?? '',
    cookie: (name: string) => {
      const found = cookiesOf(all).find((one) => one.name === name)
      if (found === undefined) throw new Error('http: named cookie not present')
      return found
    },
    cookies: () => cookiesOf(all),
  }
}

function headerOf(all: Headers): Values {
  return { get: (name: string) => all.get(name) ?? '', values: (name: string) => [all.get(name) ?? []].flat() }
}

function cookiesOf(headers: Headers): readonly { readonly name: string; readonly value: string }[] {
  return (headers.get('cookie') ?? '').split(/;\s*/).flatMap((pair) => {
    const at = pair.indexOf('=')
    return at < 0 ? [] : [{ name: pair.slice(0, at), value: pair.slice(at + 1) }]
  })
}

function valuesOf(search: URLSearchParams): Values {
  return {
    get: (name: string) => search.get(name) ?? '',
    has: (name: string) => search.has(name),
    getAll: (name: string) => search.getAll(name),
  }
}

/** An event. Parts are properties; methods ask the server. */
export class HookEvent {
  [name: string]: unknown
  readonly app: App = new App()

  #token: unknown

  constructor({ name, request, parts }: EventData) {
    this.#take(decode(parts) as Values)
    // A value here, and a method everywhere else.
    if (name === 'onRecordEnrich') Object.defineProperty(this, 'requestInfo', { value: this.requestInfo() })
    if (request !== undefined) this['request'] = requestOf(request)
    // As Go has it: a nil.
    this['auth'] ??= null
    if (/^onRecord\w*Request$/.test(name)) this['record'] ??= null
    if (this['record'] !== undefined) this['model'] = this['record']
    defineParts(this, name)
    for (const [member, instead] of absentOf(name))
      defineReadOnly(
        this,
        member,
        () => {
          throw new Error(refused(`e.${member} of ${name}`, instead))
        },
        instead,
      )
    if (name === 'onRecordAuthRequest') this.#waitForToken()
  }

  /** The token of a login is made by the rest of the chain. */
  #waitForToken(): void {
    const instead = 'The server makes the token. Read it after e.next().'
    const get = (): unknown => {
      if (this.#token === undefined) throw new Error(refused('e.token before e.next()', instead))
      return this.#token
    }
    defineReadOnly(this, 'token', get, instead)
  }

  #take({ app, token, ...parts }: Values): void {
    if (typeof app === 'string') Object.assign(this, { app: new App(app) })
    this.#token = token
    for (const [name, value] of Object.entries(parts)) {
      // It has the value of the first time, which no handler can change.
      if (Object.getOwnPropertyDescriptor(this, name)?.set !== undefined) continue
      this[name] = this.#partOf(name, value)
    }
  }

  #partOf(name: string, value: unknown): unknown {
    if (name === 'client') return clientOf(value as Parameters<typeof clientOf>[0])
    if (name === 'error') return new GoError(String(value))
    if (value instanceof Collection) return frozen(value)
    if (name !== 'message') return value
    const { data, ...message } = value as Values
    return 'to' in message ? mailOf(message) : { ...message, data: new JSONRaw(JSON.stringify(data)) }
  }

  /** The parts that may have changed. */
  changed(): Values {
    const parts = CHANGEABLE.filter((name) => this[name] !== undefined).map((name) => {
      const value = this[name]
      if (value instanceof MailerMessage) return [name, value.plain()] as const
      return [name, name === 'message' ? messageOf(value as Values) : JSON.parse(JSON.stringify(value))] as const
    })
    return encode(Object.fromEntries(parts)) as Values
  }

  next(): void {
    this.#take(call('event', 'next', this.changed()) as Values)
  }

  requestInfo(): Values {
    const info = call('event', 'requestInfo') as Values
    return { ...info, auth: info['auth'] ?? null }
  }

  bindBody(target: object): void {
    fill(target, call('event', 'bindBody') as Values)
  }

  findUploadedFiles(name: string): UploadedFile[] {
    return call('event', 'findUploadedFiles', name) as UploadedFile[]
  }

  hasSuperuserAuth(): boolean {
    return call('event', 'hasSuperuserAuth') as boolean
  }

  realIP(): string {
    return call('event', 'realIP') as string
  }

  remoteIP(): string {
    return call('event', 'remoteIP') as string
  }

  isTLS(): boolean {
    return call('event', 'isTLS') as boolean
  }

  get(key: string): unknown {
    return call('event', 'get', key) ?? null
  }

  set(key: string, value: unknown): void {
    call('event', 'set', key, value)
  }

  setAll(values: Values): void {
    for (const [key, value] of Object.entries(values)) this.set(key, value)
  }

  // Answers.

  get response(): Values {
    const header = (): Values => ({
      get: (name: string) => call('event', 'header', 'get', name) ?? '',
      values: (name: string) => call('event', 'header', 'values', name),
      set: (name: string, value: string) => void call('event', 'header', 'set', name, value),
      add: (name: string, value: string) => void call('event', 'header', 'append', name, value),
      del: (name: string) => void call('event', 'header', 'delete', name),
    })
    return { header }
  }

  /** `cookie`: a `Cookie`, or its values. */
  setCookie(cookie: Values): void {
    call('event', 'header', 'append', 'set-cookie', String(new Cookie(cookie)))
  }

  written(): boolean {
    return call('event', 'isAnswered') as boolean
  }

  json(status: number, value: unknown): void {
    call('event', 'json', status, JSON.parse(JSON.stringify(answerOf(value ?? null))))
  }

  string(status: number, text: unknown): void {
    call('event', 'string', status, String(text))
  }

  html(status: number, text: unknown): void {
    call('event', 'html', status, String(text))
  }

  blob(status: number, type: string, bytes: Iterable<number>): void {
    call('event', 'blob', status, type, Uint8Array.from(bytes))
  }

  noContent(status = 204): void {
    call('event', 'noContent', status)
  }

  redirect(status: number, url: string): void {
    call('event', 'redirect', status, textOf(url))
  }

  // Errors to throw.

  error(status: number, message = '', data?: unknown): Error {
    return new (API_ERRORS.get('ApiError') as ErrorClass)(status, message, data)
  }
}

for (const [method, name] of Object.entries({
  badRequestError: 'BadRequestError',
  unauthorizedError: 'UnauthorizedError',
  forbiddenError: 'ForbiddenError',
  notFoundError: 'NotFoundError',
  tooManyRequestsError: 'TooManyRequestsError',
  internalServerError: 'InternalServerError',
}))
  Object.defineProperty(HookEvent.prototype, method, {
    value: (message?: string, data?: unknown): Error => new (API_ERRORS.get(name) as ErrorClass)(message, data),
  })

/** A message of realtime: its data are bytes of JSON, or a text. */
function messageOf({ name, data }: Values): Values {
  const text =
    Array.isArray(data) && !(data instanceof JSONRaw) ? Buffer.from(data as number[]).toString() : textOf(data)
  return { name, data: JSON.parse(text) as unknown }
}

function mailOf(value: unknown): MailerMessage {
  const { to, ...others } = value as { readonly to: string; readonly subject: string }
  return new MailerMessage({ ...others, to: [{ address: to, name: '' }] })
}
