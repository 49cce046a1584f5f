/** Registers routes for a document and for paths below it. A design document has an id with a slash in the URL. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../http/http-error.ts'
import { checkDocumentId } from './document-input.ts'
import type { ServerContext } from './server-context.ts'

/** A document, or an attachment, as its URL names it. */
export interface DocumentAddress {
  readonly database: string
  readonly id: string
  /** The path below the document; '' for the document itself. */
  readonly name: string
}

export type DocumentHandler = (
  context: ServerContext,
  address: DocumentAddress,
  request: FastifyRequest,
  reply: FastifyReply,
) => unknown

type RouteHandler = (request: FastifyRequest, reply: FastifyReply) => unknown

/** Calls `register` for each kind of document, with its URL and what makes a route's handler. `below`: '', or '/*'. */
export function atDocuments(
  context: ServerContext,
  below: '' | '/*',
  register: (url: string, handler: (handle: DocumentHandler) => RouteHandler) => void,
): void {
  const kinds = {
    '/:db/:id': (id: string | undefined, method: string) => {
      // Nothing of that name is there; nor can it be made.
      if (method !== 'PUT' && id?.startsWith('_') === true && !id.startsWith('_design/')) throw notFound('missing')
      return checkDocumentId(id)
    },
    '/:db/_design/:id': (id: string | undefined) => `_design/${id}`,
  }
  for (const [url, idOf] of Object.entries(kinds)) {
    register(url + below, (handle) => (request, reply) => {
      const { db, id, '*': name = '' } = request.params as Readonly<Record<string, string>>
      return handle(context, { database: db!, id: idOf(id, request.method), name }, request, reply)
    })
  }
}
