/** Definitions of collections, for superusers: `/api/collections`. */
import { ServiceError } from '@pannier/backend'
import { BLANK, listProviders, presentDefinition } from '@pannier/backend/internal'
import { checkSuperuser, queryText } from './actor.ts'
import { withForm } from './form.ts'
import { integerOf, flagOf } from './list-parameters.ts'
import type { CollectionRoute, RestRoutes } from './rest-context.ts'
import { shown, shownPage } from './shown.ts'

const UNREADABLE = 'An error occurred while loading the submitted data.'
export const MALFORMED = 'Failed to load the submitted data due to invalid formatting.'
const NEW_MALFORMED = 'Failed to load the collection type data due to invalid formatting.'

export const collectionRoutes: RestRoutes = (app, context) => {
  const { definitions } = context.backend
  app.register(async (routes) => {
    routes.addHook('preHandler', async (request) => checkSuperuser(request))
    routes.get('/api/collections', async (request) =>
      shownPage(
        request,
        definitions.list(request.principal, {
          page: integerOf(request, 'page'),
          perPage: integerOf(request, 'perPage'),
          sort: queryText(request, 'sort'),
          filter: queryText(request, 'filter'),
          skipTotal: flagOf(request, 'skipTotal'),
        }),
      ),
    )
    routes.post('/api/collections', (request) =>
      withForm(context, request, { message: NEW_MALFORMED }, async ({ values }) =>
        shown(request, presentDefinition(await definitions.create(request.principal, values))),
      ),
    )
    routes.put('/api/collections/import', (request, reply) =>
      withForm(context, request, { message: UNREADABLE }, async ({ values }) => {
        const { collections, reports, deleteMissing = false } = values
        const list = collections ?? []
        const areLists = Array.isArray(list) && (reports === undefined || Array.isArray(reports))
        if (!areLists || typeof deleteMissing !== 'boolean') throw new ServiceError('INVALID', UNREADABLE)
        if (list.length === 0) throw invalidForm('collections')
        const beside = reports && context.backend.reports.importing(request.principal, reports, deleteMissing)
        await definitions.import(request.principal, list, deleteMissing, beside)
        return reply.code(204).send()
      }),
    )
    routes.get('/api/collections/meta/scaffolds', async (request) =>
      shown(request, definitions.scaffolds(request.principal)),
    )
    routes.get('/api/collections/meta/oauth2-providers', async (request) => shown(request, listProviders()))
    routes.post('/api/collections/meta/dry-run-view', (request) =>
      withForm(context, request, { message: UNREADABLE }, async ({ texts: { query = '' } }) => {
        if (typeof query !== 'string') throw new ServiceError('INVALID', UNREADABLE)
        if (query === '') throw invalidForm('query')
        return shown(request, await definitions.dryRunView(request.principal, query))
      }),
    )
    routes.get<CollectionRoute>('/api/collections/:collection', async (request) =>
      shown(request, presentDefinition(definitions.get(request.params.collection))),
    )
    routes.patch<CollectionRoute>('/api/collections/:collection', (request) => {
      const { collection } = request.params
      definitions.get(collection)
      return withForm(context, request, { message: MALFORMED }, async ({ values }) =>
        shown(request, presentDefinition(await definitions.update(request.principal, collection, values))),
      )
    })
    routes.delete<CollectionRoute>('/api/collections/:collection', async ({ principal, params }, reply) => {
      await definitions.delete(principal, params.collection)
      return reply.code(204).send()
    })
    routes.delete<CollectionRoute>('/api/collections/:collection/truncate', async ({ principal, params }, reply) => {
      await definitions.truncate(principal, params.collection)
      return reply.code(204).send()
    })
  })
}

function invalidForm(name: string): ServiceError {
  return new ServiceError('INVALID', 'An error occurred while validating the submitted data.', {
    data: { [name]: BLANK },
  })
}
