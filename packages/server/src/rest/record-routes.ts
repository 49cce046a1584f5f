/** Records: `/api/collections/{collection}/records`. */
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '@pannier/backend'
import type { Definition, RecordInput, ShowOptions } from '@pannier/backend'
import { formInput, inputBytesMax } from '@pannier/backend/internal'
import { PACKED } from '../http/packed-answers.ts'
import { actorOf, queryText } from './actor.ts'
import { checkUnwanted, withForm } from './form.ts'
import { listOptions } from './list-parameters.ts'
import { tagged } from './rest-context.ts'
import type { CollectionRoute, RecordRoute, RestContext, RestRoutes } from './rest-context.ts'

const RECORD_BYTES_MAX: number = 32 << 20

export const recordRoutes: RestRoutes = (app, context) => {
  const { records } = context.backend
  const listed = { ...tagged('list'), ...PACKED }
  app.get<CollectionRoute>('/api/collections/:collection/records', listed, (request) =>
    records.listText(actorOf(request), request.params.collection, listOptions(request)),
  )
  app.get<RecordRoute>('/api/collections/:collection/records/:id', tagged('view'), (request) =>
    records.view(actorOf(request), request.params.collection, request.params.id, showOptions(request)),
  )
  app.post<CollectionRoute>('/api/collections/:collection/records', tagged('create'), (request) => {
    const { collection } = request.params
    return withInput(context, request, 'create', (input) =>
      records.create(actorOf(request), collection, input, showOptions(request)),
    )
  })
  app.patch<RecordRoute>('/api/collections/:collection/records/:id', tagged('update'), (request) => {
    const { collection, id } = request.params
    return withInput(context, request, 'update', ({ _rev, ...input }) =>
      records.update(actorOf(request), collection, id, input, { ...showOptions(request), ...revOf(request, _rev) }),
    )
  })
  app.delete<RecordRoute>('/api/collections/:collection/records/:id', tagged('delete'), async (request, reply) => {
    const { collection, id } = request.params
    await records.delete(actorOf(request), collection, id, revOf(request))
    return reply.code(204).send()
  })
}

function showOptions(request: FastifyRequest): ShowOptions {
  return { expand: queryText(request, 'expand'), fields: queryText(request, 'fields') }
}

/** The revision that is changed: `If-Match`, or `_rev` in the body. */
function revOf({ headers }: FastifyRequest, given?: unknown): { readonly rev?: string } {
  const tag = headers['if-match']?.replace(/^(?:W\/)?"(.*)"$/, '$1')
  const rev = tag ?? given
  return typeof rev === 'string' && rev !== '' ? { rev } : {}
}

async function withInput<T>(
  context: RestContext,
  request: FastifyRequest<CollectionRoute>,
  action: 'create' | 'update',
  use: (input: RecordInput) => Promise<T>,
): Promise<T> {
  const { records, definitions } = context.backend
  const { collection } = request.params
  let definition: Definition
  try {
    definition = records.assertOpen(actorOf(request), collection, action)
  } catch (error) {
    // PocketBase says first that a body is malformed, or too large.
    const locked =
      error instanceof ServiceError && error.code === 'FORBIDDEN' ? definitions.find(collection) : undefined
    if (locked !== undefined) await checkUnwanted(context, request, bytesMaxOf(locked))
    throw error
  }
  const bytesMax = bytesMaxOf(definition)
  return withForm(context, request, { message: '', bytesMax }, ({ values, files }) =>
    use(formInput(definition.fields, values, files)),
  )
}

/** The most bytes of a body that brings a record. */
export function bytesMaxOf(definition: Definition): number {
  const fields = definition.type === 'view' ? [] : definition.fields
  return fields.reduce((bytes, field) => bytes + inputBytesMax(field), RECORD_BYTES_MAX)
}
