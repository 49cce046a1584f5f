/** PocketBase's global names. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { App } from './app.ts'
import { Collection, FIELD_CLASSES, FieldsList } from './collection.ts'
import { DateTime, JSONRaw } from './dates.ts'
import { DBX } from './dbx.ts'
import { arrayOf, DynamicModel, fill, Nullable } from './dynamic-model.ts'
import { API_ERRORS } from './errors.ts'
import { FILESYSTEM, UploadedFile } from './files.ts'
import { FILEPATH, FormBody, HTTP, OS, SECURITY } from './libraries.ts'
import { call, sleep } from './link.ts'
import { MailerMessage } from './mails.ts'
import { Record as PocketRecord, textOf } from './record.ts'
import type { HookEvent } from './event.ts'
import { Template } from './template.ts'

/** A class whose instances have what they are given. */
class Given {
  [name: string]: unknown

  constructor(values: Readonly<Record<string, unknown>> = {}) {
    Object.assign(this, values)
  }
}

class Cookie extends Given {
  override toString(): string {
    const { name, value = '', path, domain, maxAge, expires, secure, httpOnly } = this
    const parts = [`${String(name)}=${String(value)}`]
    const add = (key: string, text: unknown): void =>
      void (text !== undefined && text !== '' && parts.push(`${key}=${textOf(text)}`))
    add('Path', path)
    add('Domain', domain)
    add('Expires', expires instanceof DateTime ? new Date(expires.unixMilli()).toUTCString() : expires)
    add('Max-Age', maxAge)
    if (httpOnly === true) parts.push('HttpOnly')
    if (secure === true) parts.push('Secure')
    return parts.join('; ')
  }
}

/** A middleware of the user with a priority: lower ones run first. */
export class Middleware {
  readonly handler: () => unknown
  readonly priority: number

  constructor(handler: () => unknown, priority = 0) {
    this.handler = handler
    this.priority = priority
  }
}

/** A middleware or handler of the server, which the server knows by its name. */
export class Native {
  readonly name: string
  readonly parameters: readonly unknown[]

  constructor(name: string, parameters: readonly unknown[]) {
    this.name = name
    this.parameters = parameters
  }
}

function native(name: string): (...parameters: readonly unknown[]) => Native {
  return (...parameters) => new Native(name, parameters)
}

const APIS = {
  static: native('static'),
  requireAuth: native('requireAuth'),
  requireGuestOnly: native('requireGuestOnly'),
  requireSuperuserAuth: native('requireSuperuserAuth'),
  requireSuperuserOrOwnerAuth: native('requireSuperuserOrOwnerAuth'),
  // The server decides by its settings what it logs and compresses.
  skipSuccessActivityLog: native('pass'),
  gzip: native('pass'),
  bodyLimit: native('bodyLimit'),
  recordAuthResponse: (e: HookEvent, record: PocketRecord, method: string, meta: unknown = null): void => {
    void e
    call('event', 'recordAuthResponse', record, method, meta)
  },
  enrichRecord: (e: HookEvent, record: PocketRecord, ...paths: readonly string[]): void => enrich(e, [record], paths),
  enrichRecords: (e: HookEvent, records: readonly PocketRecord[], ...paths: readonly string[]): void =>
    enrich(e, records, paths),
}

/** Records as the caller may see them: the view rule admits what is added, and hooks change what is shown of each. */
function enrich(e: HookEvent, records: readonly PocketRecord[], paths: readonly string[]): void {
  const isAll = e.hasSuperuserAuth()
  const info = isAll ? {} : (e.requestInfo() as { auth?: PocketRecord })
  e.app.expandRecords(
    records,
    paths,
    (one) => isAll || e.app.canAccessRecord(one, info, one.collection().viewRule as string | null),
  )
  const show = (shown: readonly PocketRecord[]): void => {
    for (const record of shown) {
      call('event', 'enrich', record)
      for (const related of Object.values(record.expand())) show([related].flat())
    }
  }
  show(records)
}

function sendAccountMail(kind: string): (app: App, record: PocketRecord) => void {
  return (_app, record) => void call('app', 'sendAccountMail', kind, record)
}

const MAILS = {
  sendRecordPasswordReset: sendAccountMail('passwordReset'),
  sendRecordVerification: sendAccountMail('verification'),
}

function toText(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString()
  if (Array.isArray(value) && !(value instanceof JSONRaw)) return Buffer.from(value as number[]).toString()
  return textOf(value)
}

function toBytes(value: unknown): number[] {
  return typeof value === 'object' && Symbol.iterator in (value ?? {})
    ? Array.from(value as number[])
    : [...Buffer.from(textOf(value))]
}

/** Puts the names where all code of the thread sees them. */
export function defineGlobals(hooksFolder: string): void {
  const names = {
    ...Object.fromEntries(API_ERRORS),
    ...Object.fromEntries(FIELD_CLASSES),
    $app: new App(),
    $apis: APIS,
    $dbx: DBX,
    $filepath: FILEPATH,
    $filesystem: FILESYSTEM,
    $http: HTTP,
    $mails: MAILS,
    $os: OS,
    $security: SECURITY,
    $template: new Template(),
    __hooks: hooksFolder,
    Record: PocketRecord,
    Collection,
    FieldsList,
    DateTime,
    DynamicModel,
    MailerMessage,
    Middleware,
    RequestInfo: Given,
    SubscriptionMessage: Given,
    Cookie,
    FormData: FormBody,
    File: UploadedFile,
    arrayOf,
    unmarshal: (values: unknown, target: object) =>
      void fill(target, JSON.parse(JSON.stringify(values)) as Record<string, unknown>),
    toString: toText,
    readerToString: toText,
    toBytes,
    sleep,
    nullString: () => new Nullable('text'),
    nullFloat: () => new Nullable('number'),
    nullInt: () => new Nullable('number'),
    nullBool: () => new Nullable('boolean'),
    nullArray: () => new Nullable('list'),
    nullObject: () => new Nullable('object'),
    // Files name one another from the working folder, as there.
    require: createRequire(join(process.cwd(), 'pb.js')),
    cronAdd: () => {
      throw new Error('cronAdd(): must be called while the file loads.')
    },
    cronRemove: (id: string) => void call('app', 'removeJob', id),
  }
  Object.assign(globalThis, names)
}

/** `$app` while a handler runs: that of its event. */
export function setApp(app: App): void {
  Object.assign(globalThis, { $app: app })
}
