/** Logs, for superusers: `/api/logs`. Reading them is not logged. */
import { actorOf, checkSuperuser, queryText } from './actor.ts'
import { listOptions } from './list-parameters.ts'
import type { RestRoutes } from './rest-context.ts'
import { shown, shownPage } from './shown.ts'

interface LogRoute {
  Params: { readonly id: string }
}

const UNLOGGED = { config: { unlogged: true } } as const

export const logRoutes: RestRoutes = (app, { backend: { logs, logReads } }) => {
  app.register(async (routes) => {
    routes.addHook('preHandler', async (request) => checkSuperuser(request))
    routes.get('/api/logs', UNLOGGED, async (request) =>
      shownPage(request, await logReads.list(actorOf(request), listOptions(request))),
    )
    routes.get('/api/logs/stats', UNLOGGED, async (request) =>
      shown(request, await logReads.stats(actorOf(request), queryText(request, 'filter'))),
    )
    routes.get<LogRoute>('/api/logs/:id', UNLOGGED, async (request) =>
      shown(request, await logReads.view(actorOf(request), request.params.id)),
    )
    routes.delete('/api/logs', async (_request, reply) => {
      await logs.truncate()
      return reply.code(204).send()
    })
  })
}
