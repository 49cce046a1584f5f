/** `_local/` documents: replication checkpoints and the like. */
import { asBadRequest, badRequest, conflict, HttpError, notFound } from '../http/http-error.ts'
import { QueryParameters } from '../http/query-parameters.ts'
import { readJsonObject } from '../http/request-body.ts'
import { jsonLimits } from './body-limits.ts'
import type { Routes } from './server-context.ts'

interface Local {
  Params: { readonly db: string; readonly '*': string }
}

/** Fields that tell of revisions and mean nothing here. */
const PASSED_OVER: ReadonlySet<string> = new Set(['_revisions', '_local_seq', '_deleted'])

export const localRoutes: Routes = (app, context) => {
  const config = { needs: 'member' } as const
  const url = '/:db/_local/*'
  app.get<Local>(url, { config }, async ({ params }) => {
    const collection = await context.databases.get(params.db)
    const document = await collection.local.get(checkName(params['*']))
    if (document === undefined) throw notFound('missing')
    return document
  })
  app.put<Local>(url, { config }, async (request, reply) => {
    const { db, '*': name } = request.params
    checkName(name)
    await context.databases.get(db)
    const body = await readJsonObject(request, jsonLimits(context))
    for (const field of Object.keys(body)) {
      if (field.startsWith('_') && field !== '_id' && field !== '_rev' && !PASSED_OVER.has(field))
        throw new HttpError(400, 'doc_validation', `Bad special document member: ${field.slice(0, 80)}`)
    }
    const rev = new QueryParameters(request).text('rev') ?? body['_rev']
    if (rev !== undefined && typeof rev !== 'string') throw badRequest('Invalid rev format')
    const content = Object.fromEntries(Object.entries(body).filter(([field]) => !field.startsWith('_')))
    const document = { ...content, _id: name, ...(rev !== undefined && { _rev: rev }) }
    const written = await context.databases.write(db, (collection) =>
      asBadRequest(() => collection.local.put(document)),
    )
    return reply.code(201).send({ ok: true, ...written })
  })
  app.delete<Local>(url, { config }, async (request) => {
    const { db, '*': name } = request.params
    checkName(name)
    const rev = new QueryParameters(request).text('rev')
    const written = await context.databases.write(db, async (collection) => {
      if (rev === undefined && (await collection.local.get(name)) !== undefined) throw conflict()
      return asBadRequest(() => collection.local.delete({ _id: name, ...(rev !== undefined && { _rev: rev }) }))
    })
    if (written === undefined) throw notFound('missing')
    return { ok: true, ...written }
  })
}

function checkName(name: string): string {
  if (name === '') throw new HttpError(400, 'illegal_docid', 'Document id must not be empty')
  return name
}
