/** `_index`: Mango indexes are stored as design documents, which can be written as such as well. */
import type { FastifyRequest } from 'fastify'
import type { DatabaseRoute } from '../http/declarations.ts'
import { badRequest, HttpError, notFound } from '../http/http-error.ts'
import { QueryParameters } from '../http/query-parameters.ts'
import { readJsonObject } from '../http/request-body.ts'
import type { JsonObject } from '@pannier/backend/internal'
import type { GuardedCollection } from '@pannier/backend'
import { jsonLimits } from './server-context.ts'
import {
  ALL_DOCS_INDEX,
  designIdOf,
  indexesOf,
  isQueryDesign,
  libraryIndex,
  parseIndexRequest,
  wireIndex,
  withIndex,
  withoutIndex,
} from './mango/mango-definition.ts'
import type { Routes, ServerContext } from './server-context.ts'
import { writeDocument } from './write-documents.ts'

interface Index {
  Params: { readonly db: string; readonly ddoc: string; readonly name: string }
}

const READ = { needs: 'member' } as const
const CHANGE = { needs: 'database-admin' } as const

export const indexRoutes: Routes = (app, context) => {
  app.get<DatabaseRoute>('/:db/_index', { config: READ }, async (request) => {
    const parameters = new QueryParameters(request)
    const [skip, limit] = [parameters.count('skip') ?? 0, parameters.count('limit') ?? Infinity]
    const { db } = request.params
    const indexes = await context.indexes.settled(await context.gateway.collection(request.principal, db))
    const all = [ALL_DOCS_INDEX, ...indexes.map(wireIndex)]
    return { total_rows: all.length, indexes: all.slice(skip, skip + limit) }
  })
  // Not documents of these names.
  for (const url of ['/:db/_index/*', '/:db/_index/:ddoc/:type/:name'])
    app.route({
      method: ['DELETE', 'GET', 'PATCH', 'POST', 'PUT'],
      url,
      config: READ,
      handler: () => {
        throw notFound('missing')
      },
    })
  app.post<DatabaseRoute>('/:db/_index', { config: CHANGE }, async (request) => createIndex(context, request))
  for (const url of ['/:db/_index/:ddoc/json/:name', '/:db/_index/_design/:ddoc/json/:name']) {
    app.delete<Index>(url, { config: CHANGE }, async (request) => {
      const { db, ddoc, name } = request.params
      const collection = await context.gateway.collection(request.principal, db)
      await deleteIndex(context, request, db, collection, designIdOf(ddoc), name)
      return { ok: true }
    })
  }
  app.post<DatabaseRoute>('/:db/_index/_bulk_delete', { config: CHANGE }, async (request) => {
    const { db } = request.params
    const collection = await context.gateway.collection(request.principal, db)
    const { docids } = await readJsonObject(request, jsonLimits(context))
    if (!Array.isArray(docids) || docids.some((id) => typeof id !== 'string'))
      throw badRequest('`docids` must be an array')
    const success: JsonObject[] = []
    const fail: JsonObject[] = []
    for (const id of docids as string[]) {
      const design = await collection.get(designIdOf(id))
      try {
        if (design === undefined) throw notFound('missing')
        const document = { _id: design._id, _rev: design._rev, _deleted: true }
        await writeDocument(context, { request, database: db, document, newEdits: true })
        success.push({ id, ok: true })
      } catch (error) {
        if (!(error instanceof HttpError)) throw error
        fail.push({ id, error: error.reason })
      }
    }
    context.indexes.changed(collection)
    return { success, fail }
  })
}

async function createIndex(context: ServerContext, request: FastifyRequest<DatabaseRoute>): Promise<JsonObject> {
  const { db: database } = request.params
  const collection = await context.gateway.collection(request.principal, database)
  const index = parseIndexRequest(await readJsonObject(request, jsonLimits(context)))
  const { designId, name } = index
  const design = (await collection.get(designId)) as JsonObject | undefined
  if (design !== undefined && !isQueryDesign(design))
    throw badRequest(`The design document ${designId} is of another language`)
  const old = design && indexesOf(design).find((one) => one.name === name)
  const same = old !== undefined && JSON.stringify(libraryIndex(old)) === JSON.stringify(libraryIndex(index))
  if (!same) {
    const document = withIndex(design, index)
    await writeDocument(context, { request, database, document, newEdits: true })
    context.indexes.changed(collection)
  }
  const task = context.tasks.start('indexer', { database, design_document: designId, progress: 0 })
  try {
    await context.indexes.built(collection)
  } finally {
    task.end()
  }
  return { result: same ? 'exists' : 'created', id: designId, name }
}

async function deleteIndex(
  context: ServerContext,
  request: FastifyRequest,
  database: string,
  collection: GuardedCollection,
  designId: string,
  name: string,
): Promise<void> {
  const design = (await collection.get(designId)) as JsonObject | undefined
  const rest = design !== undefined && isQueryDesign(design) ? withoutIndex(design, name) : undefined
  if (rest === undefined) throw notFound('missing')
  const document = rest === 'last' ? { _id: designId, _rev: design!['_rev'], _deleted: true } : rest
  await writeDocument(context, { request, database, document, newEdits: true })
  context.indexes.changed(collection)
  await context.indexes.settled(collection)
}
