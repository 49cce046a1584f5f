/** API tokens, for superusers: `/api/tokens`. */
import { actorOf, checkSuperuser } from './actor.ts'
import { readValues } from './form.ts'
import type { RestRoutes } from './rest-context.ts'
import { shown, shownPage } from './shown.ts'

const UNREADABLE = 'An error occurred while loading the submitted data.'

export const apiTokenRoutes: RestRoutes = (app, context) => {
  const { accounts } = context.backend
  app.get('/api/tokens', async (request) => {
    checkSuperuser(request)
    return shownPage(request, { items: await accounts.apiTokens(actorOf(request)) })
  })
  app.post('/api/tokens', async (request) => {
    checkSuperuser(request)
    const values = await readValues(context, request, UNREADABLE)
    return shown(request, await accounts.createApiToken(actorOf(request), values))
  })
  app.delete<{ Params: { readonly id: string } }>('/api/tokens/:id', async (request, reply) => {
    checkSuperuser(request)
    await accounts.deleteApiToken(actorOf(request), request.params.id)
    return reply.code(204).send()
  })
}
