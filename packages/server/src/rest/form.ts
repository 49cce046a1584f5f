/** Bodies of requests: JSON, or a form with or without files. */
import { isObject } from 'pannier/internal'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy } from '@fastify/busboy'
import type { BusboyHeaders } from '@fastify/busboy'
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '@pannier/backend'
import type { UploadedFile } from '@pannier/backend'
import { invalid } from '@pannier/backend/internal'
import type { JsonObject } from '@pannier/backend/internal'
import type { BodyStore, StoredBody } from '../http/body-store.ts'
import { bodyPieces, holding, keepBody, readBody, SMALL_BYTES_MAX } from '../http/request-body.ts'
import type { BodyLimits } from '../http/request-body.ts'
import { parseJson, parseJsonText } from '../http/strict-json.ts'
import type { RestContext } from './rest-context.ts'

/** The parts of the server that reading a body needs. */
interface FormContext extends Pick<RestContext, 'bodies'> {
  readonly limits: Pick<RestContext['limits'], 'stallMsMax'>
}

/** The most parts, as PocketBase. */
const PARTS_MAX = 1000
/** Names of a form in a URL's manner, as in Go; of the object in a JSON body, too. */
const NAMES_MAX = 10_000
const FIELD_NAME_BYTES_MAX = 1024
const JSON_PAYLOAD = '@jsonPayload'
const PIECE_BYTES: number = 256 * 1024

/** The content of a request. */
export interface Form {
  /** By name; those of a form as texts, numbers or booleans, as they look. */
  readonly values: JsonObject
  /** As they were sent, of a form. The values of JSON. */
  readonly texts: JsonObject
  /** The files by name. */
  readonly files: ReadonlyMap<string, readonly UploadedFile[]>
  /** Forgets the files. */
  dispose(): Promise<void>
}

interface FormOptions {
  /** The message of the error for a body that can't be read. */
  readonly message: string
  /** The most bytes; 32 MiB when left out. */
  readonly bytesMax?: number
}

interface ReadOptions extends BodyLimits {
  /** Where files wait. */
  readonly bodies: BodyStore
}

const FORM_BYTES_MAX: number = 32 * 1024 * 1024

/** The values of a body without files, as they were sent. @throws as `withForm` */
export async function readValues(context: FormContext, request: FastifyRequest, message: string): Promise<JsonObject> {
  return withForm(context, request, { message }, async ({ texts }) => texts)
}

/** Reads the body. Dispose of the form. @throws ServiceError INVALID; HttpError 413, 408, 503 */
export function openForm(
  { bodies, limits }: FormContext,
  request: FastifyRequest,
  { message, bytesMax = FORM_BYTES_MAX }: FormOptions,
): Promise<Form> {
  return previewed.get(request) ?? readForm(request, { bodies, bytesMax, stallMsMax: limits.stallMsMax }, message)
}

/** Forms with files that were read before the handlers of their routes, which get the same ones. */
const previewed = new WeakMap<FastifyRequest, Promise<Form>>()

/**
 * The form of a request whose route reads it, too. `bytesMax`: of a form with files; undefined where only the route can read one.
 * Call `endPreview` when the request is answered.
 *
 * @throws as `openForm`; Error for a form with files that only the route can read
 */
export async function previewForm(
  context: FormContext,
  request: FastifyRequest,
  bytesMax: number | undefined,
): Promise<Form> {
  if (contentType(request).startsWith('multipart/form-data')) {
    if (bytesMax === undefined)
      throw new Error(
        'e.bindBody(): a form with files can be read around writes of records, and in routes of your own.',
      )
    const form = openForm(context, request, { message: '', bytesMax })
    previewed.set(request, form)
    return form
  }
  if (!isEmpty(request)) await keepBody(request, { bytesMax: FORM_BYTES_MAX, stallMsMax: context.limits.stallMsMax })
  return openForm(context, request, { message: '' })
}

/** The body as it came. It can be read again. @throws HttpError 413, 408 */
export async function rawBody({ limits }: FormContext, request: FastifyRequest): Promise<Uint8Array> {
  if (isEmpty(request)) return new Uint8Array()
  const { stallMsMax } = limits
  await keepBody(request, { bytesMax: FORM_BYTES_MAX, stallMsMax })
  return readBody(request, { bytesMax: FORM_BYTES_MAX, stallMsMax })
}

/** Forgets the files of a form that was read before its route. */
export function endPreview(request: FastifyRequest): void | Promise<void> {
  return previewed
    .get(request)
    ?.catch(() => undefined)
    .then((form) => form?.dispose())
}

/** Runs `use`, which may read the files until it ends. @throws as `openForm` */
export async function withForm<T>(
  context: FormContext,
  request: FastifyRequest,
  options: FormOptions,
  use: (form: Form) => Promise<T>,
): Promise<T> {
  const form = await openForm(context, request, options)
  try {
    return await use(form)
  } finally {
    await form.dispose()
  }
}

/** Refuses a body as `withForm` would. One that is large is not parsed: only its first sign is looked at. */
export async function checkUnwanted(context: FormContext, request: FastifyRequest, bytesMax: number): Promise<void> {
  const { 'content-length': length = Infinity, 'content-type': type = '' } = request.headers
  if (isEmpty(request)) return
  if (Number(length) <= SMALL_BYTES_MAX) {
    await readValues(context, request, '')
    return
  }
  let start = ''
  for await (const piece of bodyPieces(request, { bytesMax, stallMsMax: context.limits.stallMsMax }))
    if (start === '') start = Buffer.from(piece).toString('latin1').trimStart().slice(0, 1)
  if (type.trim().toLowerCase().startsWith('application/json') && start !== '{') throw invalid('')
}

async function readForm(request: FastifyRequest, options: ReadOptions, message: string): Promise<Form> {
  if (isEmpty(request)) return formOf({})
  const type = contentType(request)
  try {
    if (type.startsWith('application/json'))
      return formOf(objectIn(parseJson(await readBody(request, options), NAMES_MAX)))
    if (type.startsWith('multipart/form-data')) return await readMultipart(request, options)
    if (type.startsWith('application/x-www-form-urlencoded')) {
      const text = Buffer.from(await readBody(request, options)).toString()
      if (!hasFewParts(text)) throw invalid('')
      return formOf(...valuesOf(new URLSearchParams(text)))
    }
  } catch (error) {
    throw unreadable(error, message)
  }
  throw invalid('Unsupported Content-Type.')
}

function contentType({ headers }: FastifyRequest): string {
  return (headers['content-type'] ?? '').trim().toLowerCase()
}

function isEmpty({ headers }: FastifyRequest): boolean {
  const length = headers['content-length']
  return length === undefined ? headers['transfer-encoding'] === undefined : Number(length) === 0
}

/** The error of an unreadable body: JSON that is malformed, or no object. Other errors stay what they are. */
function unreadable(error: unknown, message: string): unknown {
  const { status = 400 } = error as { readonly status?: number }
  if (error instanceof ServiceError || status !== 400) return error
  return new ServiceError('INVALID', message, { cause: error })
}

function formOf(
  values: JsonObject,
  texts: JsonObject = values,
  files: ReadonlyMap<string, readonly UploadedFile[]> = new Map(),
  stored: StoredBody[] = [],
): Form {
  const dispose = async (): Promise<void> => {
    for (const body of stored.splice(0)) await body.dispose()
  }
  return { values, texts, files, dispose }
}

function objectIn(value: unknown): JsonObject {
  if (value === null) return {}
  if (!isObject(value)) throw invalid('')
  return value
}

function readMultipart(request: FastifyRequest, options: ReadOptions): Promise<Form> {
  return holding(request, (hold) => readParts(request, options, hold))
}

/** `hold`: the values are in memory, the files are not. */
async function readParts(request: FastifyRequest, options: ReadOptions, hold: (bytes: number) => void): Promise<Form> {
  const { bodies, bytesMax } = options
  let held = 0
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    for await (const piece of bodyPieces(request, options)) {
      hold((held += piece.length))
      yield piece
    }
  }
  const fields = new URLSearchParams()
  const parts: { readonly field: string; readonly name: string; readonly stream: Readable }[] = []
  const receiving: Promise<StoredBody>[] = []
  const parser = new Busboy({
    headers: request.headers as BusboyHeaders,
    limits: { parts: PARTS_MAX, fieldNameSize: FIELD_NAME_BYTES_MAX, fieldSize: bytesMax, fileSize: bytesMax },
    isPartAFile: (_name, _type, fileName) => fileName !== undefined && fileName !== '',
  })
  parser.on('field', (name, value) => fields.append(name, value))
  parser.on('file', (field, stream, name) => {
    const received = bodies.receive(stream, (piece) => hold((held -= piece.length)))
    parts.push({ field, name, stream })
    receiving.push(received)
    // Otherwise the parser would wait for somebody who takes the rest of the part.
    received.catch((error: Error) => parser.destroy(error))
  })
  parser.on('partsLimit', () => parser.destroy(invalid('')))
  try {
    await pipeline(Readable.from(pieces()), parser)
    const stored = await Promise.all(receiving)
    const files = new Map<string, UploadedFile[]>()
    for (const [n, { field, name }] of parts.entries()) {
      const others = files.get(field) ?? []
      files.set(field, [...others, uploadedFile(name, stored[n]!)])
    }
    return formOf(...valuesOf(fields), files, stored)
  } catch (error) {
    // The parser ends no part whose rest does not come.
    for (const { stream } of parts) stream.destroy()
    for (const outcome of await Promise.allSettled(receiving))
      if (outcome.status === 'fulfilled') await outcome.value.dispose()
    throw error
  }
}

function uploadedFile(name: string, body: StoredBody): UploadedFile {
  return { name, size: body.length, stream: () => streamOf(body) }
}

function streamOf(body: StoredBody): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    async pull(controller) {
      if (at === body.length) {
        controller.close()
        return
      }
      const end = Math.min(body.length, at + PIECE_BYTES)
      controller.enqueue(await body.read(at, end))
      at = end
    },
  })
}

/** Whether a form in a URL's manner can be read at once. */
function hasFewParts(text: string): boolean {
  let parts = 1
  for (let at = text.indexOf('&'); at >= 0 && parts <= NAMES_MAX; at = text.indexOf('&', at + 1)) parts++
  return parts <= NAMES_MAX
}

/** A name that comes several times is a list. `@jsonPayload` is JSON with more of them. */
function valuesOf(form: URLSearchParams): [values: JsonObject, texts: JsonObject] {
  const values: Record<string, unknown> = {}
  const texts: Record<string, unknown> = {}
  for (const name of new Set(form.keys())) {
    if (name === JSON_PAYLOAD) continue
    const all = form.getAll(name)
    define(values, name, all.length === 1 ? inferred(all[0]!) : all.map(inferred))
    define(texts, name, all.length === 1 ? all[0] : all)
  }
  for (const payload of form.getAll(JSON_PAYLOAD))
    for (const [name, value] of Object.entries(objectIn(parseJsonText(payload, NAMES_MAX)))) {
      define(values, name, value)
      define(texts, name, value)
    }
  return [values, texts]
}

/** Also for names such as `__proto__`. */
function define(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}

/** `true`, `false`, and numbers in their shortest form. */
function inferred(text: string): unknown {
  if (text === 'true') return true
  if (text === 'false') return false
  return /^-?\d[\d.]*$/.test(text) && String(Number(text)) === text ? Number(text) : text
}
