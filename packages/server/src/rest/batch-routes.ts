/** Several writes of records in one transaction: `/api/batch`. */
import { isObject } from 'pannier/internal'
import { ServiceError } from '@pannier/backend'
import type {
  Backend,
  BatchOperation,
  ErrorData,
  FieldError,
  RecordInput,
  RequestInfo,
  UploadedFile,
} from '@pannier/backend'
import { BLANK, fieldError, formInput, tooLong } from '@pannier/backend/internal'
import type { JsonObject } from '@pannier/backend/internal'
import { limitWrite } from '../http/request-limits.ts'
import { actorOf, snakeCased } from './actor.ts'
import { withForm } from './form.ts'
import type { Form } from './form.ts'
import type { RestRoutes } from './rest-context.ts'

const BODY_BYTES_MAX: number = 128 * 1024 * 1024
const SECONDS_MAX = 3
const URL_CHARS_MAX = 2000
const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
const UNREADABLE = 'Failed to read the submitted batch data.'
const RECORDS = /^\/api\/collections\/(?<collection>[^/?]+)\/records(?:\/(?<id>[^/?]+))?(?:\?(?<query>.*))?$/s

/** One request of a batch. */
interface Part {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
}

export const batchRoutes: RestRoutes = (app, context) => {
  const { records, settings, definitions } = context.backend
  app.post('/api/batch', (request) => {
    const { enabled, maxRequests, timeout } = settings.values.batch
    if (!enabled || maxRequests <= 0) throw new ServiceError('FORBIDDEN', 'Batch requests are not allowed.')
    const form = { message: UNREADABLE, bytesMax: batchBytesMax(settings) }
    return withForm(context, request, form, async ({ values, files }) => {
      const parts = partsIn(values)
      checkParts(parts, maxRequests)
      const { principal, request: asked, budget } = actorOf(request)
      // All operations share what is read of the request.
      const info = { ...asked }
      const operations = parts.map((part, at) =>
        operationOf(part, info, (collection) =>
          formInput(definitions.find(collection)?.fields ?? [], part.body, filesOf(files, at)),
        ),
      )
      for (const operation of operations)
        if (!(operation instanceof ServiceError)) limitWrite(context.backend, principal, operation)
      const written = await records.batch(principal, operations, { workMsMax: (timeout || SECONDS_MAX) * 1000, budget })
      return written.map((body) => ({ body: body ?? null, status: body === undefined ? 204 : 200 }))
    })
  })
}

/** The most bytes of a batch. */
export function batchBytesMax({ values }: Pick<Backend['settings'], 'values'>): number {
  return values.batch.maxBodySize || BODY_BYTES_MAX
}

/** @throws ServiceError INVALID */
function partsIn({ requests = [] }: JsonObject): readonly Part[] {
  if (!Array.isArray(requests)) throw new ServiceError('INVALID', UNREADABLE)
  return requests.map((request: unknown) => {
    if (!isObject(request)) throw new ServiceError('INVALID', UNREADABLE)
    const { method, url, headers, body } = request
    const isPart =
      [method ?? '', url ?? ''].every((one) => typeof one === 'string') &&
      [headers ?? {}, body ?? {}].every(isObject) &&
      Object.values(headers ?? {}).every((one) => typeof one === 'string')
    if (!isPart) throw new ServiceError('INVALID', UNREADABLE)
    return { method: method ?? '', url: url ?? '', headers: headers ?? {}, body: body ?? {} } as Part
  })
}

/** @throws ServiceError INVALID with data */
function checkParts(parts: readonly Part[], max: number): void {
  const wrong = parts.length === 0 ? BLANK : parts.length > max ? tooLong(max) : errorsIn(parts)
  if (wrong !== undefined)
    throw new ServiceError('INVALID', 'Invalid batch request data.', { data: { requests: wrong } })
}

function errorsIn(parts: readonly Part[]): ErrorData | undefined {
  const errors: Record<string, ErrorData> = {}
  for (const [at, { method, url }] of parts.entries()) {
    const wrong: Record<string, FieldError> = {}
    if (method === '') wrong['method'] = BLANK
    else if (!METHODS.has(method)) wrong['method'] = fieldError('validation_in_invalid', 'Must be a valid value.')
    if (url === '') wrong['url'] = BLANK
    else if (url.length > URL_CHARS_MAX) wrong['url'] = tooLong(URL_CHARS_MAX)
    if (Object.keys(wrong).length > 0) errors[at] = wrong
  }
  return Object.keys(errors).length === 0 ? undefined : errors
}

/** `requests.2.documents` and `requests[2].documents` are the files of the third request. */
function filesOf(files: Form['files'], at: number): Form['files'] {
  const own = new Map<string, readonly UploadedFile[]>()
  for (const [name, uploaded] of files) {
    const prefix = [`requests.${at}.`, `requests[${at}].`].find((one) => name.startsWith(one))
    if (prefix === undefined) continue
    const field = name.slice(prefix.length)
    own.set(field, [...(own.get(field) ?? []), ...uploaded])
  }
  return own
}

/** The operation of a request of a batch; an error for a request that does not belong into a batch. */
function operationOf(
  { method, url, headers, body }: Part,
  info: RequestInfo,
  inputFor: (collection: string) => RecordInput,
): BatchOperation | ServiceError {
  const { collection, id, query: search = '' } = addressIn(url)
  if (collection === undefined) return new ServiceError('INVALID', '')
  const query = Object.fromEntries([...new URLSearchParams(search)].toReversed())
  // The actor is that of the batch.
  const { authorization: _, ...own } = snakeCased(headers)
  const request = { ...info, context: 'batch', method, query, headers: { ...info.headers, ...own } }
  const shared = { collection, request, show: { expand: query['expand'] ?? '', fields: query['fields'] ?? '' } }
  if (id === undefined && method === 'POST') return { ...shared, action: 'create', input: inputFor(collection) }
  if (id === undefined && method === 'PUT') return { ...shared, action: 'upsert', input: inputFor(collection) }
  const { _rev: rev } = body
  const rest = typeof rev === 'string' ? { rev } : {}
  if (id !== undefined && method === 'PATCH')
    return { ...shared, ...rest, action: 'update', id, input: inputFor(collection) }
  if (id !== undefined && method === 'DELETE') return { ...shared, ...rest, action: 'delete', id }
  return new ServiceError('INVALID', '')
}

interface Address {
  readonly collection?: string | undefined
  readonly id?: string | undefined
  readonly query?: string | undefined
}

/** Empty for a URL of something else. */
function addressIn(url: string): Address {
  const { collection, id, query } = RECORDS.exec(url)?.groups ?? {}
  try {
    return { collection: decoded(collection), id: decoded(id), query }
  } catch (error) {
    if (error instanceof URIError) return {}
    throw error
  }
}

function decoded(text: string | undefined): string | undefined {
  return text === undefined ? undefined : decodeURIComponent(text)
}
