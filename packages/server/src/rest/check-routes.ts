/** The check of the whole database, for superusers: `/api/check`. */
import { checkSuperuser } from './actor.ts'
import type { RestRoutes } from './rest-context.ts'
import { shown } from './shown.ts'

export const checkRoutes: RestRoutes = (app, { backend: { check } }) => {
  app.get('/api/check', async (request) => {
    checkSuperuser(request)
    return shown(request, check.show(request.principal))
  })
  app.post('/api/check', async (request, reply) => {
    checkSuperuser(request)
    check.start(request.principal)
    return reply.code(204).send()
  })
  app.delete('/api/check', async (request, reply) => {
    checkSuperuser(request)
    await check.cancel(request.principal)
    return reply.code(204).send()
  })
}
