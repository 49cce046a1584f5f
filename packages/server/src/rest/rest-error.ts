/** Errors as PocketBase's API shows them: `{ "data", "message", "status" }`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '@pannier/backend'
import { BatchError, sentence, safeJson } from '@pannier/backend/internal'
import { toHttpError } from '../http/http-error.ts'
import { ApiError } from './api-error.ts'
import { noteError } from '../http/request-log.ts'
import { isClosed } from '../http/streamed-reply.ts'

const DEFAULT_MESSAGES: ReadonlyMap<number, string> = new Map([
  [400, 'Something went wrong while processing your request.'],
  [401, 'Missing or invalid authentication.'],
  [403, 'You are not allowed to perform this request.'],
  [404, "The requested resource wasn't found."],
  [413, 'Request entity too large.'],
  [429, 'Too Many Requests.'],
])
/** The message of a failure of the server itself, which the log explains. */
const FAILED = 'Something went wrong while processing your request.'

/** The body of an error. */
interface RestError {
  readonly data: unknown
  readonly message: string
  readonly status: number
}

export function answerRestError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const answer = restErrorOf(error)
  // Its client has left: that is no failure.
  const isAlone = (error as { readonly code?: unknown }).code === 'ERR_STREAM_PREMATURE_CLOSE' && isClosed(reply)
  if (!isAlone) noteError(request, error, answer)
  if (!isAlone && answer.status >= 500) request.log.error({ err: error }, 'a request has failed')
  const retryAfterSeconds = toHttpError(error)?.retryAfterSeconds
  if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds)
  reply
    .code(answer.status)
    .removeHeader('content-length')
    .header('content-type', 'application/json')
    .send(`${safeJson(answer)}\n`)
}

function restErrorOf(error: unknown): RestError {
  const service = serviceErrorIn(error)
  if (service instanceof BatchError) return batchError(service)
  if (service !== undefined) return serviceRestError(service)
  const known = toHttpError(error)
  const status = known?.status ?? 500
  const isOfTheClient = status < 500 && status !== 400 && !DEFAULT_MESSAGES.has(status)
  const message = isOfTheClient || status === 503 ? sentence(known!.reason) : (DEFAULT_MESSAGES.get(status) ?? FAILED)
  return { data: {}, message, status }
}

/** An error of the domain. */
export function serviceRestError(error: ServiceError): RestError {
  const status = statusOf(error)
  const message = error.message === '' ? (DEFAULT_MESSAGES.get(status) ?? FAILED) : sentence(error.message)
  return { data: error.data === undefined ? {} : shown(error.data), message, status }
}

/** Names the operation that failed, with the answer that it would have got alone. */
function batchError({ index, reason, message }: BatchError): RestError {
  const failed = { code: 'batch_request_failed', message: 'Batch request failed.', response: restErrorOf(reason) }
  return { data: { requests: { [index]: failed } }, message, status: 400 }
}

function serviceErrorIn(error: unknown): ServiceError | undefined {
  if (error instanceof ServiceError) return error
  const { cause } = (error ?? {}) as { readonly cause?: unknown }
  return cause instanceof ServiceError ? cause : undefined
}

/** As CouchDB's door has it, except for what that has words of its own for. */
function statusOf(error: ServiceError): number {
  if (error instanceof ApiError) return error.status
  if (error.code === 'EXISTS' || error.code === 'UNSUPPORTED') return 400
  return toHttpError(error)!.status
}

/** Messages are sentences; keys of an error stand in the order of their names. */
function shown(data: object): unknown {
  const entries = Object.entries(data).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(
    entries.map(([name, value]: [string, unknown]) => {
      if (name === 'params') return [name, value]
      if (name === 'message' && typeof value === 'string') return [name, sentence(value)]
      return [name, typeof value === 'object' && value !== null ? shown(value) : value]
    }),
  )
}
