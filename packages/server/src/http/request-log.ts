/** The log of requests, of all doors. Values of parameters that are secrets are not. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { GUEST, LOG_LEVELS } from '@pannier/backend'
import type { Backend, Principal } from '@pannier/backend'
import { decoded } from './query-parameters.ts'

const URL_CHARS_MAX = 3000
const HEADER_CHARS_MAX = 2000
const METHOD_CHARS_MAX = 50
const PARAMETER = /([?&])([^=&#]+)=[^&#]*/g
const SECRET = /token$|password|secret|otp$|^(?:code|state|codeVerifier)$/i

/** The error that a request was answered with. */
interface LoggedError {
  readonly message: string
  readonly details: unknown
}

const errors = new WeakMap<FastifyRequest, LoggedError>()

/** Keeps what `logRequest` says of an error. */
export function noteError(request: FastifyRequest, error: unknown, answer: { message: string; data: unknown }): void {
  const { message, data } = answer
  const { cause } = error as { readonly cause?: unknown }
  const hasData = Object.keys(data as object).length > 0
  errors.set(request, { message, details: hasData ? data : cause instanceof Error ? cause.message : null })
}

/** When the request has its answer, after `ms`. */
export function logRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  ms: number,
  { logs, settings, definitions }: Pick<Backend, 'logs' | 'settings' | 'definitions'>,
): void {
  const { maxDays, logIP, logAuthId } = settings.values.logs
  const error = errors.get(request)
  if (maxDays === 0 || (error === undefined && request.routeOptions.config.unlogged === true)) return
  const { headers } = request
  // A request that was refused before it was known who sent it has none.
  const { account, address = '', apiToken } = (request.principal as Principal | undefined) ?? GUEST
  const method = cut(request.method, METHOD_CHARS_MAX)
  const url = cut(withoutSecrets(request.originalUrl), URL_CHARS_MAX)
  const data = {
    type: 'request',
    execTime: ms,
    ...(error !== undefined && { error: error.message, details: error.details }),
    url,
    method,
    status: reply.statusCode,
    referer: cut(withoutSecrets(headers.referer ?? ''), HEADER_CHARS_MAX),
    userAgent: cut(headers['user-agent'] ?? '', HEADER_CHARS_MAX),
    auth: account === undefined ? '' : (definitions.find(account.collection)?.name ?? ''),
    ...(apiToken !== undefined && { apiToken: apiToken.name }),
    ...(account !== undefined && logAuthId && { authId: account.record['_id'] }),
    ...(logIP && { userIP: address, remoteIP: request.socket.remoteAddress ?? '' }),
  }
  const level = error === undefined ? LOG_LEVELS.info : LOG_LEVELS.error
  logs.write({ level, message: `${method} ${decoded(url)}`, data })
}

function withoutSecrets(url: string): string {
  return url.replace(PARAMETER, (whole, before: string, name: string) =>
    SECRET.test(decoded(name)) ? `${before}${name}=***` : whole,
  )
}

function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}...` : text
}
