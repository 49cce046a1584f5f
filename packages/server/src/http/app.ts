/** The HTTP server without routes: limits, errors, logs, headers of every answer. It knows nothing about databases. */
import cors from '@fastify/cors'
import type { FastifyCorsOptions } from '@fastify/cors'
import { fastify } from 'fastify'
import { askedFrom, wellFormed } from '@pannier/backend/internal'
import type { FastifyBaseLogger, FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger, LoggerOptions } from 'pino'
import { badArgument } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { isRestUrl } from './declarations.ts'
import { checkHost, hostNames, listensAt } from './host-names.ts'
import { HttpError, toHttpError } from './http-error.ts'
import { createLogger } from './logging.ts'
import type { Metrics } from './metrics.ts'
import { noteError } from './request-log.ts'
import { askForBodiesWhenRead, passOverRest } from './request-body.ts'
import { SERVER_NAME } from './server-identity.ts'
import type { ServerLimits } from './server-limits.ts'

/** Requests that the server takes: from whom, and to which names. */
export interface RequestOptions {
  /** Addresses of proxies whose `X-Forwarded-…` headers are believed; `true`: any that connects. None when left out. */
  readonly trustProxy?: boolean | string | readonly string[]
  /**
   * Names of this server beside `localhost`, loopback addresses and the one it listens at: `couch.lan`, without a port. A request with
   * another `Host` is refused with 403. When left out, a server that listens beyond loopback answers to any name.
   */
  readonly allowedHosts?: readonly string[]
  /** Origins that pages may call from: `https://app.example.org`. None when left out. */
  readonly corsOrigins?: readonly string[]
}

interface AppOptions extends RequestOptions {
  readonly environment: Environment
  /** Speaks HTTPS. HTTP when left out. */
  readonly https?: object
  readonly logger?: Logger | LoggerOptions | false
}

/** The most chars of a parameter. Ids have up to 4096 bytes; a byte may take three characters in a URL. */
const PARAMETER_CHARS_MAX = 16_384
const CONNECTIONS_CHECK_MS = 5000
/** The length of the part of request ids that all requests of a start share. */
const START_CHARS = 12
/** Request headers that an answer depends on. `Cache-Control` forbids shared caches. */
const VARY = 'Accept, Authorization, Cookie'

/** The newest response on a socket, on the socket: a weak map costs the collector. */
const ANSWER: unique symbol = Symbol('answer')
type WithAnswer = Socket & { [ANSWER]?: ServerResponse | undefined }

/** Lets the response on a socket go. */
export function forgetAnswer(socket: WithAnswer): void {
  socket[ANSWER] = undefined
}

/** Below PocketBase's API, so that its authentication, errors and limits hold. No client's URL begins with it. */
const CLAIMED_URL = '/api/~'

/**
 * `claims`: whether a route of the operator answers a URL, which may look like a database's. With `https` the
 * server speaks HTTPS, and gets its certificate later.
 */
export async function createApp(
  options: AppOptions,
  limits: ServerLimits,
  metrics: Metrics,
  claims: (method: string, url: string) => boolean = () => false,
): Promise<FastifyInstance> {
  const { environment } = options
  const logger = createLogger(options.logger)
  const http = {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersMsMax,
    connectionsCheckingInterval: Math.min(CONNECTIONS_CHECK_MS, limits.headersMsMax),
    requireHostHeader: true,
    insecureHTTPParser: false,
  }
  const app: FastifyInstance = fastify({
    ...(logger !== undefined && { loggerInstance: logger as FastifyBaseLogger }),
    ...(options.https !== undefined
      ? { https: { ...http, handshakeTimeout: limits.headersMsMax } as object }
      : { http }),
    trustProxy: trustedProxies(options.trustProxy),
    requestTimeout: limits.requestMsMax,
    connectionTimeout: limits.idleMsMax,
    forceCloseConnections: 'idle',
    bodyLimit: Number.MAX_SAFE_INTEGER,
    exposeHeadRoutes: true,
    // Some clients write the slash of an id like any other.
    rewriteUrl: ({ method = '', url = '/' }) =>
      claims(method, url) ? `${CLAIMED_URL}${url}` : url.replace(/^(\/+[^/?]+\/+_local)%2f/i, '$1/'),
    genReqId: requestIds(environment),
    requestIdHeader: false,
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => answerError(error, request, reply as unknown as FastifyReply),
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: PARAMETER_CHARS_MAX,
      onBadUrl: (path, _request, response) => {
        ;(response as unknown as FastifyReply['raw'])
          .writeHead(400, { 'content-type': 'application/json' })
          .end(path.startsWith('/api/') ? BAD_URL_OF_API : BAD_URL)
      },
    },
  })
  app.decorate('environment', environment)
  app.server.maxConnections = limits.connectionsMax
  app.server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    ;(socket as WithAnswer)[ANSWER] = response
  })
  askForBodiesWhenRead(app.server)
  // Bodies, and what type they are said to have, are left alone until a handler asks for them.
  for (const method of ['COPY', 'POST', 'PUT', 'DELETE', 'PATCH'])
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  app.setReplySerializer((payload) => wellFormed(JSON.stringify(payload)))
  app.setErrorHandler(answerError)
  app.setNotFoundHandler(() => {
    throw new HttpError(404, 'not_found', 'missing')
  })
  addHooks(app, options)
  metrics.observe(app)
  await allowOrigins(app, options.corsOrigins ?? [])
  return app
}

/** Checks of every request, headers of every answer. */
function addHooks(app: FastifyInstance, options: AppOptions): void {
  const allowedHosts = hostNames(options.allowedHosts ?? [])
  // To ask for it is a call to the system.
  let address = listensAt(app.server)
  app.server.on('listening', () => (address = listensAt(app.server)))
  app.addHook('onRequest', ({ ip }, _reply, done) => askedFrom(ip, done))
  app.addHook('onRequest', (request, _reply, done) => {
    checkHost(request.raw, address, allowedHosts)
    done()
  })
  app.addHook('onRequest', checkContentType)
  // A server that was started again may have lost writes to a power cut, or may run on an older copy. A new id makes
  // replications check where to continue.
  const instance = app.environment.randomId()
  app.addHook('onSend', (request, reply, payload, done) => {
    const rest = passOverRest(request)
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'private, must-revalidate')
    const vary = reply.getHeader('vary')
    reply
      .header('vary', vary === undefined ? VARY : `${String(vary)}, ${VARY}`)
      .header('server', SERVER_NAME)
      .header('pannier-instance', instance)
      .header('x-couch-request-id', request.id)
      .header('x-content-type-options', 'nosniff')
    if (rest === undefined) done(null, payload)
    else void rest.then(() => done(null, payload))
  })
}

/** Different for each request of all starts. */
function requestIds(environment: Environment): () => string {
  const start = environment.randomId().slice(0, START_CHARS)
  let count = 0
  return () => `${start}-${(++count).toString(36)}`
}

function trustedProxies(trusted: AppOptions['trustProxy']): boolean | string | string[] {
  return typeof trusted === 'object' ? [...trusted] : (trusted ?? false)
}

const BAD_URL_OF_API = '{"data":{},"message":"Something went wrong while processing your request.","status":400}\n'
const BAD_URL = '{"error":"bad_request","reason":"The URL is malformed."}\n'

/** Only these, exactly; others get no header, and so no page of theirs sees an answer. */
async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return
  for (const origin of origins) {
    if (URL.parse(origin)?.origin !== origin || origin === 'null')
      throw badArgument('createServer()', "http.corsOrigins must be origins like 'https://example.org'", origin)
  }
  const options: FastifyCorsOptions = {
    origin: [...origins],
    credentials: true,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'COPY'],
    allowedHeaders: [
      'accept',
      'authorization',
      'content-type',
      'destination',
      'if-match',
      'if-none-match',
      'origin',
      'pannier-sequence',
      'range',
    ],
    exposedHeaders: [
      'content-type',
      'cache-control',
      'accept-ranges',
      'content-range',
      'etag',
      'server',
      'pannier-instance',
      'pannier-sequence',
      'x-couch-request-id',
    ],
    maxAge: 600,
  }
  await app.register(cors, {
    delegator: (request, done) => done(null, isRestUrl(request.url) ? { origin: false } : options),
  })
}

/** A page of any origin may POST forms and plain text without being asked; JSON it may not. PocketBase's API knows no cookie. */
function checkContentType(
  { method, url, headers, routeOptions }: FastifyRequest,
  _reply: FastifyReply,
  done: (error?: Error) => void,
): void {
  if (method !== 'POST' || routeOptions.url === undefined || isRestUrl(url)) {
    done()
    return
  }
  const type = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  const { contentTypes = [] } = routeOptions.config
  if (type === 'application/json' || contentTypes.includes(type) || contentTypes.includes('*')) done()
  else done(new HttpError(415, 'bad_content_type', 'Content-Type must be application/json'))
}

function answerError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const known = toHttpError(error)
  if (known === undefined || known.status >= 500) request.log.error({ err: error }, 'a request has failed')
  const {
    status,
    error: word,
    reason,
    retryAfterSeconds,
  } = known ??
  new HttpError(500, 'internal_server_error', `The server has failed; the log knows more under ${request.id}.`)
  noteError(request, error, { message: reason, data: {} })
  if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds)
  reply
    .code(status)
    .removeHeader('content-length')
    .removeHeader('etag')
    .header('content-type', 'application/json')
    .send(`${JSON.stringify({ error: word, reason })}\n`)
}

/** Answers requests that are not HTTP, or that come too slowly. */
function answerClientError(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const answer = (socket as WithAnswer)[ANSWER]
  // The rest of a request that is answered already, or bytes in the middle of an answer. The client expects no other
  // answer.
  if (answer?.headersSent === true && !(answer.writableFinished && answer.req.complete)) {
    socket.destroySoon()
    return
  }
  const [status, word] = CLIENT_ERRORS.get(error.code ?? '') ?? ['400 Bad Request', 'bad_request']
  const body = JSON.stringify({ error: word, reason: 'The request could not be read.' })
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  )
}

const CLIENT_ERRORS: ReadonlyMap<string, readonly [status: string, word: string]> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', ['408 Request Timeout', 'request_timeout']],
  ['HPE_HEADER_OVERFLOW', ['431 Request Header Fields Too Large', 'headers_too_large']],
])
