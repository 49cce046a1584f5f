/**
 * Routes for superusers about collections: losses of a change, plans of lists, costs and effects of rules, types in
 * TypeScript.
 */
import { changeMigration } from '@pannier/backend/internal'
import { actorOf, checkSuperuser, queryText } from './actor.ts'
import { MALFORMED } from './collection-routes.ts'
import { withForm } from './form.ts'
import { listOptions } from './list-parameters.ts'
import type { CollectionRoute, RestRoutes } from './rest-context.ts'

export const inspectionRoutes: RestRoutes = (app, context) => {
  const { definitions, records, rulePreviews, sync } = context.backend
  app.register(async (routes) => {
    routes.addHook('preHandler', async (request) => checkSuperuser(request))
    routes.post<CollectionRoute>('/api/collections/:collection/check', (request) => {
      const { collection } = request.params
      definitions.get(collection)
      return withForm(context, request, { message: MALFORMED }, async ({ values }) => ({
        misfits: await definitions.check(request.principal, collection, values),
        // Nothing to keep: then the definition stays as it is.
        migration: changeMigration(await definitions.proposed(request.principal, collection, values)) ?? null,
      }))
    })
    routes.post<CollectionRoute>('/api/collections/:collection/preview', (request) => {
      const { collection } = request.params
      definitions.get(collection)
      return withForm(context, request, { message: MALFORMED }, ({ values }) =>
        rulePreviews.preview(actorOf(request), collection, values),
      )
    })
    routes.get('/api/types.d.ts', async (request, reply) => {
      const app = queryText(request, 'for') === 'client' ? 'client' : 'pocketbase'
      return reply.type('text/plain; charset=utf-8').send(definitions.typeDeclarations(request.principal, app))
    })
    routes.get<CollectionRoute>('/api/collections/:collection/rules', async (request) =>
      sync.explain(request.principal, request.params.collection, queryText(request, 'rule') || undefined),
    )
    routes.get<CollectionRoute>('/api/collections/:collection/explain', async (request) => {
      const { collection } = request.params
      const { isExact, order, plan } = await records.explain(actorOf(request), collection, listOptions(request))
      return { isExact, order, plan, text: String(plan) }
    })
  })
}
