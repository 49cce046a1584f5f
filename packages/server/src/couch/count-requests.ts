/** The limits in a time and the log of the application, for requests at CouchDB's door. Its writes are counted one by one. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Backend, Principal } from '@pannier/backend'
import type { JsonObject } from '@pannier/backend/internal'
import { isRestUrl } from '../http/declarations.ts'
import { limitRate, limitWrite } from '../http/request-limits.ts'
import { logRequest } from '../http/request-log.ts'
import { onAnswered } from '../http/running-requests.ts'

/** Counts documents that are about to be written. @throws ServiceError TOO_MANY_REQUESTS */
export type CountWrites = (principal: Principal, database: string, documents: readonly JsonObject[]) => void

export function writeCounter(backend: Backend): CountWrites {
  return (principal, collection, documents) => {
    for (const { _deleted, _rev } of documents) {
      const action = _deleted === true ? 'delete' : _rev === undefined ? 'create' : 'update'
      limitWrite(backend, principal, { action, collection })
    }
  }
}

/** Counts requests. Register it after authentication, and before the routes. */
export function countRequests(app: FastifyInstance, backend: Backend): void {
  onAnswered(app, async (request, reply, ms) => {
    if (isOfDoor(request)) logRequest(request, reply, ms, backend)
  })
  app.addHook('onRequest', (request, _reply, done) => {
    if (isOfDoor(request)) {
      const { db: collection } = request.params as { readonly db?: string }
      limitRate(request, backend, { collection, tags: tagsOf(request) })
    }
    done()
  })
}

/** Routes of other doors, and files, declare no needs. */
function isOfDoor({ url, routeOptions }: FastifyRequest): boolean {
  return !isRestUrl(url) && routeOptions.config?.needs !== undefined
}

function tagsOf({ method, routeOptions: { url = '' } }: FastifyRequest): readonly string[] {
  if (url === '/_session') return method === 'POST' ? ['auth'] : []
  if (!url.startsWith('/:db/')) return []
  const isRead = method === 'GET' || method === 'HEAD'
  if (url.startsWith('/:db/:id')) return isRead ? ['view'] : []
  return isRead || (method === 'POST' && url !== '/:db/_bulk_docs') ? ['list'] : []
}
