/** Records that come from a PocketBase with all that they have, for superusers: `/api/imports`. */
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '@pannier/backend'
import type { UploadedFile } from '@pannier/backend'
import { isJsonObject } from '@pannier/backend/internal'
import type { JsonObject } from '@pannier/backend/internal'
import { checkSuperuser } from './actor.ts'
import { withForm } from './form.ts'
import type { CollectionRoute, RestContext, RestRoutes } from './rest-context.ts'

const UNREADABLE = 'An error occurred while loading the submitted data.'

/** What a body brings. */
interface Rows {
  readonly rows: readonly JsonObject[]
  readonly files: readonly UploadedFile[]
}

export const importRoutes: RestRoutes = (app, context) => {
  const { imports } = context.backend
  app.post('/api/imports/check', (request) => {
    checkSuperuser(request)
    return withForm(context, request, { message: UNREADABLE }, async ({ values }) => ({
      problems: await imports.check(request.principal, values['collections']),
    }))
  })
  app.post<CollectionRoute>('/api/imports/:collection/lacking', (request) =>
    withRows(context, request, async ({ rows }) => ({
      lacking: await imports.lacking(request.principal, request.params.collection, rows),
    })),
  )
  app.post<CollectionRoute>('/api/imports/:collection/rows', (request) =>
    withRows(context, request, ({ rows, files }) =>
      imports.write(request.principal, request.params.collection, rows, files),
    ),
  )
}

async function withRows<T>(
  context: RestContext,
  request: FastifyRequest,
  use: (given: Rows) => Promise<T>,
): Promise<T> {
  checkSuperuser(request)
  return withForm(context, request, { message: UNREADABLE, bytesMax: Infinity }, async ({ values, files }) => {
    const { rows } = values
    if (!Array.isArray(rows) || !rows.every(isJsonObject)) throw new ServiceError('INVALID', UNREADABLE)
    return use({ rows, files: files.get('files') ?? [] })
  })
}
