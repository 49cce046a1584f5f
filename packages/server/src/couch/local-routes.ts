/** `_local/` documents: replication checkpoints and the like. */
import { badRequest, notFound } from '../http/http-error.ts'
import { readJsonObject } from '../http/request-body.ts'
import { jsonLimits } from './body-limits.ts'
import { LOCAL_PREFIX } from '../service/documents.ts'
import { checkLocalDocument, writeLocalDocument } from './local-documents.ts'
import type { Routes } from './server-context.ts'

interface Local {
  Params: { readonly db: string; readonly id: string }
}

const FEATURE = 'pannier-local'

export const localRoutes: Routes = (app, context) => {
  const config = { needs: 'member' } as const
  const url = '/:db/_local/:id'
  app.get<Local>(url, { config }, async ({ params }) => {
    const collection = await context.databases.get(params.db)
    const document = await collection.local.get(checkLocalDocument(LOCAL_PREFIX + params.id, {})['_id'] as string)
    if (document === undefined) throw notFound('missing')
    return document
  })
  context.features.add(FEATURE)
  // A browser shows each 404 on its console, and a first replication finds no checkpoint.
  app.get<Local>('/:db/_pannier/local/:id', { config }, async ({ params }) => {
    const collection = await context.databases.get(params.db)
    const name = checkLocalDocument(LOCAL_PREFIX + params.id, {})['_id'] as string
    return { document: (await collection.local.get(name)) ?? null }
  })
  app.put<Local>(url, { config }, async (request, reply) => {
    const { db, id } = request.params
    await context.databases.get(db)
    const document = checkLocalDocument(LOCAL_PREFIX + id, await readJsonObject(request, jsonLimits(context)))
    const written = await context.databases.write(db, async (collection, room) => {
      await room.admit([document])
      return writeLocalDocument(collection, document)
    })
    return reply.code(document['_deleted'] === true ? 200 : 201).send({ ok: true, ...written })
  })
  app.delete<Local>(url, { config }, async ({ params }) => {
    const document = checkLocalDocument(LOCAL_PREFIX + params.id, { _deleted: true })
    return context.databases.write(params.db, async (collection) => {
      if ((await collection.local.get(document['_id'] as string)) === undefined) throw notFound('missing')
      return { ok: true, ...(await writeLocalDocument(collection, document)) }
    })
  })
  app.route<Local>({
    method: ['GET', 'PUT', 'DELETE'],
    url: `${url}/*`,
    config,
    handler: async ({ params }) => {
      await context.databases.get(params.db)
      throw badRequest('_local documents do not accept attachments.')
    },
  })
}
