/** Scheduled jobs, for superusers: `/api/crons`. */
import { checkSuperuser } from './actor.ts'
import type { RestRoutes } from './rest-context.ts'
import { shown } from './shown.ts'

interface CronRoute {
  Params: { readonly id: string }
}

export const cronRoutes: RestRoutes = (app, { backend: { schedules } }) => {
  app.get('/api/crons', async (request) => {
    checkSuperuser(request)
    return shown(request, schedules.list(request.principal))
  })
  app.post<CronRoute>('/api/crons/:id', async (request, reply) => {
    checkSuperuser(request)
    schedules.run(request.principal, request.params.id)
    return reply.code(204).send()
  })
}
