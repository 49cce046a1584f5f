/** Files of records: `/api/files`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Download } from '@pannier/backend'
import { isContentType } from '../couch/document-input.ts'
import { contentDisposition } from '../http/content-disposition.ts'
import { sendContent } from '../http/send-content.ts'
import { actorOf, queryText } from './actor.ts'
import { tagged } from './rest-context.ts'
import type { RestRoutes } from './rest-context.ts'

interface FileRoute {
  Params: { readonly collection: string; readonly record: string; readonly name: string }
}

/** True, as Go reads a boolean. */
const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])
/** Cached for a month, as another content has another name. */
const CACHED = 'max-age=2592000, stale-while-revalidate=86400'
/** The policy for files: a file runs nothing, and reads nothing of this origin. */
const POLICY = "default-src 'none'; media-src 'self'; style-src 'unsafe-inline'; sandbox"
const UNKNOWN = 'application/octet-stream'

export const fileRoutes: RestRoutes = (app, context) => {
  const { files } = context.backend
  app.post('/api/files/token', async (request) => ({ token: await files.newToken(actorOf(request)) }))
  app.route<FileRoute>({
    method: ['GET', 'HEAD'],
    url: '/api/files/:collection/:record/:name',
    ...tagged('file'),
    handler: async (request, reply) => {
      const { collection, record, name } = request.params
      const options = { thumb: queryText(request, 'thumb'), token: queryText(request, 'token') }
      return serve(request, reply, await files.open(actorOf(request), collection, record, name, options))
    },
  })
}

async function serve(request: FastifyRequest, reply: FastifyReply, file: Download): Promise<FastifyReply> {
  // What came with an attachment may be any text.
  const type = isContentType(file.type) ? file.type : UNKNOWN
  const form = file.isShown && !TRUE.has(queryText(request, 'download')) ? 'inline' : 'attachment'
  reply
    .removeHeader('x-frame-options')
    .header('content-disposition', dispositionOf(file.name, form))
    .header('content-security-policy', POLICY)
  // A shared cache would keep it for longer than the token counts.
  const cacheControl = file.isProtected ? `private, ${CACHED}` : CACHED
  return sendContent(request, reply, file, { type, cacheControl })
}

/** Names that PocketBase has made stand as they are. */
function dispositionOf(name: string, form: 'inline' | 'attachment'): string {
  return /^[\w.*+=#-]+$/.test(name) ? `${form}; filename=${name}` : contentDisposition(name, form)
}
