/** `/api/realtime`: a stream of events, and what it has. */
import { EventStream } from '../realtime/event-stream.ts'
import { readValues } from './form.ts'
import type { RestRoutes } from './rest-context.ts'

export const realtimeRoutes: RestRoutes = (app, context) => {
  const { backend, limits } = context
  const { realtime } = backend
  const streamLimits = { idleMsMax: limits.realtimeIdleMsMax, msMax: limits.realtimeMsMax }
  app.addHook('preClose', async () => realtime.close())
  app.get('/api/realtime', { exposeHeadRoute: false }, (request, reply) => {
    const stream = new EventStream(reply, streamLimits, () => realtime.disconnect(subscriber))
    const subscriber = realtime.connect({
      address: request.principal.address,
      send: (messages) => stream.send(messages),
      end: () => stream.end(),
    })
    stream.begin(subscriber.id)
  })
  app.post('/api/realtime', async (request, reply) => {
    realtime.subscribe(request.principal, await readValues(context, request, ''))
    return reply.code(204).send()
  })
}
