/** PocketBase's global names. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { APIS, MAILS } from './apis.ts'
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
import { Cookie } from './cookie.ts'
import { Template } from './template.ts'

/** A class whose instances have what they are given. */
class Given {
  [name: string]: unknown

  constructor(values: Readonly<Record<string, unknown>> = {}) {
    Object.assign(this, values)
  }
}

/** Sets the values of a record, and saves it. */
class RecordUpsertForm {
  #app: App
  #record: PocketRecord

  constructor(app: App, record: PocketRecord) {
    this.#app = app
    this.#record = record
  }

  setApp(app: App): void {
    this.#app = app
  }

  setRecord(record: PocketRecord): void {
    this.#record = record
  }

  load(values: Readonly<globalThis.Record<string, unknown>>): void {
    this.#record.load(values)
  }

  submit(): void {
    this.#app.save(this.#record)
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
    RecordUpsertForm,
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
