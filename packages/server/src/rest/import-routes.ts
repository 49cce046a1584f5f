/** Records that come in numbers, for superusers: `/api/imports`. `rows` are those of a PocketBase, with all that they have. */
import { isObject } from 'pannier/internal'
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '@pannier/backend'
import type { UploadedFile } from '@pannier/backend'
import { checkNames, type JsonObject } from '@pannier/backend/internal'
import { actorOf, checkSuperuser } from './actor.ts'
import { withForm } from './form.ts'
import { serviceRestError } from './rest-error.ts'
import type { CollectionRoute, RestContext, RestRoutes } from './rest-context.ts'

/** The time limit of an import: other writes wait for it. */
const WORK_MS_MAX = 60_000
const UNREADABLE = 'An error occurred while loading the submitted data.'
const NO_OPTION = 'The options upsert and dryRun of an import must be true or false.'

/** The content of a body. */
interface Rows {
  readonly rows: readonly JsonObject[]
  readonly files: readonly UploadedFile[]
  readonly values: JsonObject
}

export const importRoutes: RestRoutes = (app, context) => {
  const { imports, records } = context.backend
  app.post('/api/imports/check', (request) => {
    checkSuperuser(request)
    return withForm(context, request, { message: UNREADABLE }, async ({ values }) => {
      checkNames('A check of an import', values, ['collections'])
      return { problems: await imports.check(request.principal, values['collections']) }
    })
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
  app.post<CollectionRoute>('/api/imports/:collection/records', (request) =>
    withRows(
      context,
      request,
      async ({ rows, values: { upsert = false, dryRun = false } }) => {
        if (typeof upsert !== 'boolean' || typeof dryRun !== 'boolean') throw new ServiceError('INVALID', NO_OPTION)
        const refused = await records.import(actorOf(request), request.params.collection, rows, {
          action: upsert ? 'upsert' : 'create',
          isTrial: dryRun,
          workMsMax: WORK_MS_MAX,
        })
        const shown = refused.map(({ index, reason }) => ({ index, ...serviceRestError(reason) }))
        return { written: refused.length > 0 || dryRun ? 0 : rows.length, refused: shown }
      },
      ['upsert', 'dryRun'],
    ),
  )
}

async function withRows<T>(
  context: RestContext,
  request: FastifyRequest,
  use: (given: Rows) => Promise<T>,
  options: readonly string[] = [],
): Promise<T> {
  checkSuperuser(request)
  return withForm(context, request, { message: UNREADABLE, bytesMax: Infinity }, async ({ values, files }) => {
    checkNames('An import', values, ['rows', ...options])
    const { rows } = values
    if (!Array.isArray(rows) || !rows.every(isObject)) throw new ServiceError('INVALID', UNREADABLE)
    return use({ rows, files: files.get('files') ?? [], values })
  })
}
