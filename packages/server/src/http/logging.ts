/**
 * Structured logs. They contain method, path, status and time of requests; never headers, cookies, bodies or query
 * strings.
 */
import type { FastifyRequest } from 'fastify'
import { pino } from 'pino'
import type { DestinationStream, Logger, LoggerOptions } from 'pino'

const SECRETS = [
  'password',
  'authorization',
  'cookie',
  'secret',
  '*.password',
  '*.authorization',
  '*.cookie',
  '*.secret',
]

/** Undefined: no logs. They go to the standard output, or to `stream`. */
export function createLogger(
  chosen: Logger | LoggerOptions | false | undefined,
  stream?: DestinationStream,
): Logger | undefined {
  if (chosen === false) return undefined
  if (chosen !== undefined && 'child' in chosen && typeof chosen.child === 'function') return chosen as Logger
  const options = (chosen ?? {}) as LoggerOptions
  const serializers = { ...SERIALIZERS, ...options.serializers }
  return pino({ level: 'info', redact: SECRETS, ...options, serializers }, stream ?? pino.destination(1))
}

/** The path without the query string, which may be private. */
export function pathOf(url: string): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

const SERIALIZERS = {
  req: ({ id, method, url, ip }: FastifyRequest) => ({ id, method, path: pathOf(url), ip }),
}
