/**
 * PocketBase's REST API under `/api`. It has errors, headers, CORS and authentication of its own: a token in the header
 * `Authorization`, and never a cookie.
 */
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '@pannier/backend'
import { andThen, isPromise, type MaybePromise } from 'pannier/internal'
import { limitRate } from '../http/request-limits.ts'
import { packAnswers } from '../http/packed-answers.ts'
import { logRequest } from '../http/request-log.ts'
import { onAnswered } from '../http/running-requests.ts'
import { openBudget, serializeAnswers } from './answer-budget.ts'
import { identify } from './actor.ts'
import { accountRoutes } from './account-routes.ts'
import { accountMailRoutes } from './account-mail-routes.ts'
import { apiTokenRoutes } from './api-token-routes.ts'
import { backupRoutes } from './backup-routes.ts'
import { batchRoutes } from './batch-routes.ts'
import { checkRoutes } from './check-routes.ts'
import { collectionRoutes } from './collection-routes.ts'
import { cronRoutes } from './cron-routes.ts'
import { fileRoutes } from './file-routes.ts'
import { healthRoutes } from './health-routes.ts'
import { passkeyRoutes } from './passkey-routes.ts'
import { realtimeRoutes } from './realtime-routes.ts'
import { logRoutes } from './log-routes.ts'
import { importRoutes } from './import-routes.ts'
import { inspectionRoutes } from './inspection-routes.ts'
import { oauth2Routes } from './oauth2-routes.ts'
import { recordRoutes } from './record-routes.ts'
import { reportRoutes } from './report-routes.ts'
import { answerRestError } from './rest-error.ts'
import type { RestContext, RestRoutes } from './rest-context.ts'
import { sessionRoutes } from './session-routes.ts'
import { settingsRoutes } from './settings-routes.ts'
import { sqlRoutes } from './sql-routes.ts'
import { syncRoutes } from './sync-routes.ts'

const ROUTES: readonly RestRoutes[] = [
  healthRoutes,
  settingsRoutes,
  accountRoutes,
  oauth2Routes,
  accountMailRoutes,
  sessionRoutes,
  apiTokenRoutes,
  passkeyRoutes,
  collectionRoutes,
  inspectionRoutes,
  recordRoutes,
  realtimeRoutes,
  batchRoutes,
  logRoutes,
  cronRoutes,
  fileRoutes,
  backupRoutes,
  checkRoutes,
  sqlRoutes,
  reportRoutes,
  syncRoutes,
  importRoutes,
]
const METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE']
const JSON_TYPE = 'application/json'
const HEADERS = {
  'x-xss-protection': '1; mode=block',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  // What an account sees is for nobody else who uses the browser. Files say what may be kept of them.
  'cache-control': 'no-store',
  vary: 'Origin',
}
const PATH_WITH_SLASH = /^[^?]*\/(?:\?|$)/

/** The plugin of REST. Register it after authentication. */
export function restPlugin(context: RestContext): FastifyPluginAsync {
  return async (app: FastifyInstance) => {
    app.setErrorHandler(answerRestError)
    serializeAnswers(app)
    await packAnswers(app)
    onAnswered(app, (request, reply, ms) =>
      andThen(context.routes.leave(request), () => logRequest(request, reply, ms, context.backend)),
    )
    /** True: the request has been answered. A promise only where something has to be waited for. */
    const enter = (request: FastifyRequest, reply: FastifyReply): MaybePromise<boolean> => {
      reply.headers(HEADERS)
      if (allowOrigin(request, reply, context.corsOrigins)) {
        void reply.code(204).send()
        return true
      }
      if (PATH_WITH_SLASH.test(request.url) && !context.routes.has(request)) throw new ServiceError('NOT_FOUND', '')
      return andThen(identify(request, context.backend), () => {
        openBudget(request, reply)
        const { collection } = request.params as { readonly collection?: string }
        limitRate(request, context.backend, { collection, tags: request.routeOptions.config.tags ?? [] })
        return context.routes.enter(request, reply)
      })
    }
    app.addHook('onRequest', (request, reply, done) => {
      try {
        const entered = enter(request, reply)
        if (isPromise(entered)) entered.then((isAnswered) => isAnswered || done(), done)
        else if (!entered) done()
      } catch (error) {
        done(error as Error)
      }
    })
    app.addHook('onSend', (_request, reply, payload, done) => {
      if (String(reply.getHeader('content-type')).startsWith(JSON_TYPE)) reply.header('content-type', JSON_TYPE)
      done(null, payload)
    })
    for (const routes of ROUTES) routes(app, context)
    for (const url of ['/api', '/api/*'])
      app.route({
        method: [...METHODS, 'OPTIONS'],
        url,
        exposeHeadRoute: false,
        handler: async (request, reply) => {
          // No scope is about routes of the operator.
          if (request.principal.apiToken !== undefined) throw new ServiceError('FORBIDDEN', '')
          return (await context.routes.handle(request, reply)) ? reply : refuse()
        },
      })
  }
}

function refuse(): never {
  throw new ServiceError('NOT_FOUND', '')
}

/** Whether the request is one that a browser sends before another one. */
function allowOrigin({ method, headers }: FastifyRequest, reply: FastifyReply, origins: readonly string[]): boolean {
  const { origin, 'access-control-request-headers': asked } = headers
  const isPreflight = method === 'OPTIONS'
  const allowed = origins.length === 0 ? '*' : origins.find((one) => one === origin)
  if (origin === undefined || allowed === undefined) return isPreflight
  reply.header('access-control-allow-origin', allowed)
  if (!isPreflight) {
    // Devices whose clock is wrong look at it.
    reply.header('access-control-expose-headers', 'Date, Pannier-Sequence')
    return false
  }
  reply
    .header('vary', 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers')
    .header('access-control-allow-methods', METHODS.join(','))
  if (asked !== undefined) reply.header('access-control-allow-headers', asked)
  return true
}
