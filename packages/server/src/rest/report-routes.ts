/** Reports, for superusers, and for those whom their rules admit: `/api/reports`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReportResult } from '@pannier/backend'
import { csvOf } from '../http/csv.ts'
import { actorOf, checkSuperuser } from './actor.ts'
import { withForm } from './form.ts'
import type { RestRoutes } from './rest-context.ts'

interface ReportRoute {
  Params: { readonly name: string }
}

const MALFORMED = { message: 'An error occurred while loading the submitted data.' }

export const reportRoutes: RestRoutes = (app, context) => {
  const { reports } = context.backend
  app.get<ReportRoute>('/api/reports/:name', async (request, reply) => {
    const result = await reports.run(actorOf(request), request.params.name)
    return wantsCsv(request) ? sendCsv(reply, request.params.name, result) : result
  })
  app.register(async (routes) => {
    routes.addHook('preHandler', async (request) => checkSuperuser(request))
    routes.get('/api/reports', (request) => reports.list(request.principal))
    routes.post('/api/reports', (request) =>
      withForm(context, request, MALFORMED, ({ values }) => reports.create(request.principal, values)),
    )
    routes.post('/api/reports/preview', (request) =>
      withForm(context, request, MALFORMED, ({ values }) => reports.preview(actorOf(request), values)),
    )
    routes.patch<ReportRoute>('/api/reports/:name', (request) =>
      withForm(context, request, MALFORMED, ({ values }) =>
        reports.update(request.principal, request.params.name, values),
      ),
    )
    routes.delete<ReportRoute>('/api/reports/:name', async ({ principal, params }, reply) => {
      await reports.delete(principal, params.name)
      return reply.code(204).send()
    })
  })
}

function wantsCsv({ headers: { accept = '' } }: FastifyRequest): boolean {
  return /\btext\/csv\b/i.test(accept)
}

function sendCsv(reply: FastifyReply, name: string, { columns, rows }: ReportResult): FastifyReply {
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${name}.csv"`)
    .send(csvOf([columns, ...rows]))
}
