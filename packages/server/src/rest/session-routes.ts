/** The sessions of an account: `/api/collections/{collection}/records/{id}/sessions`. */
import { actorOf } from './actor.ts'
import type { RecordRoute, RestRoutes } from './rest-context.ts'
import { shownPage } from './shown.ts'

interface SessionRoute {
  Params: RecordRoute['Params'] & { readonly session: string }
}

const SESSIONS = '/api/collections/:collection/records/:id/sessions'

export const sessionRoutes: RestRoutes = (app, { backend: { accounts } }) => {
  app.get<RecordRoute>(SESSIONS, async (request) => {
    const { collection, id } = request.params
    return shownPage(request, { items: await accounts.sessions(actorOf(request), collection, id) })
  })
  app.delete<RecordRoute>(SESSIONS, async (request, reply) => {
    const { collection, id } = request.params
    await accounts.endOtherSessions(actorOf(request), collection, id)
    return reply.code(204).send()
  })
  app.delete<SessionRoute>(`${SESSIONS}/:session`, async (request, reply) => {
    const { collection, id, session } = request.params
    await accounts.endSession(actorOf(request), collection, id, session)
    return reply.code(204).send()
  })
}
