/** `/api/realtime`: a stream of events, and what it has. */
import { EventStream } from '../realtime/event-stream.ts'
import { queryText } from './actor.ts'
import { readValues } from './form.ts'
import type { RestRoutes } from './rest-context.ts'

export const realtimeRoutes: RestRoutes = (app, context) => {
  const { backend, limits } = context
  const { realtime } = backend
  const [idleMsMax, msMax] = [limits.realtimeIdleMsMax, limits.realtimeMsMax]
  app.addHook('preClose', () => realtime.close())
  app.get<{ Querystring: { readonly topic?: string | readonly string[] } }>(
    '/api/realtime',
    { exposeHeadRoute: false },
    (request, reply) => {
      const { principal, headers, query } = request
      const stream = new EventStream(principal.address, reply, {
        idleMsMax,
        msMax,
        keepsRequest: context.routes.isAround(request),
      })
      const { topic } = query
      if (topic === undefined) {
        const subscriber = realtime.connect(stream)
        stream.begin({ clientId: subscriber.id }, () => realtime.disconnect(subscriber))
        return undefined
      }
      // A browser that connects again names the last event by itself.
      const lastEventId = headers['last-event-id']
      const after = (typeof lastEventId === 'string' && lastEventId) || queryText(request, 'after') || undefined
      return realtime.connectAgain(
        stream,
        { principal, topics: [topic].flat(), after },
        (subscriber, cursor, resumed) =>
          stream.begin({ clientId: subscriber.id, resumed }, () => realtime.disconnect(subscriber), cursor),
      )
    },
  )
  app.post('/api/realtime', async (request, reply) => {
    await realtime.subscribe(request.principal, await readValues(context, request, ''))
    return reply.code(204).send()
  })
}
