/** `_local/` documents: replication checkpoints and the like. */
import { LOCAL_PREFIX } from 'pannier/internal'
import { badRequest, notFound } from '../http/http-error.ts'
import { readJsonObject } from '../http/request-body.ts'
import { jsonLimits } from './server-context.ts'
import { checkLocalDocument, writeLocalDocument } from './local-documents.ts'
import { entityTag, written } from './entity-tag.ts'
import type { Routes } from './server-context.ts'

interface Local {
  Params: { readonly db: string; readonly id: string }
}

export const localRoutes: Routes = (app, context) => {
  const config = { needs: 'member' } as const
  const url = '/:db/_local/:id'
  app.get<Local>(url, { config }, async ({ principal, params }, reply) => {
    const collection = await context.gateway.collection(principal, params.db)
    const document = await collection.getLocal(checkLocalDocument(LOCAL_PREFIX + params.id, {})['_id'] as string)
    if (document === undefined) throw notFound('missing')
    reply.header('etag', entityTag(document['_rev']))
    return document
  })
  // Answers 200 for a missing document. A browser prints each 404 on its console, and a first replication finds no
  // replication checkpoint.
  app.get<Local>('/:db/_pannier/local/:id', { config }, async ({ principal, params }) => {
    const collection = await context.gateway.collection(principal, params.db)
    const name = checkLocalDocument(LOCAL_PREFIX + params.id, {})['_id'] as string
    return { document: (await collection.getLocal(name)) ?? null }
  })
  app.put<Local>(url, { config }, async (request, reply) => {
    const { db, id } = request.params
    await context.gateway.collection(request.principal, db)
    const document = checkLocalDocument(LOCAL_PREFIX + id, await readJsonObject(request, jsonLimits(context)))
    const collection = await context.gateway.collection(request.principal, db)
    const result = await writeLocalDocument(collection, document)
    return written(reply.code(document['_deleted'] === true ? 200 : 201), result)
  })
  app.delete<Local>(url, { config }, async ({ principal, params }, reply) => {
    const document = checkLocalDocument(LOCAL_PREFIX + params.id, { _deleted: true })
    const collection = await context.gateway.collection(principal, params.db)
    if ((await collection.getLocal(document['_id'] as string)) === undefined) throw notFound('missing')
    return written(reply, await writeLocalDocument(collection, document))
  })
  app.route<Local>({
    method: ['GET', 'PUT', 'DELETE'],
    url: `${url}/*`,
    config,
    handler: async ({ principal, params }) => {
      await context.gateway.collection(principal, params.db)
      throw badRequest('_local documents do not accept attachments.')
    },
  })
}
