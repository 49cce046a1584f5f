/** ETags (the revision of a document, the digest of an attachment), and the revision that a request says it changes. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { badRequest } from '../http/http-error.ts'
import type { QueryParameters } from '../http/query-parameters.ts'
import { checkRevision } from './document-input.ts'

/** Answers a write of a document or attachment. `location` is its URL if it was made by PUT. */
export function written(
  reply: FastifyReply,
  { id, rev }: { readonly id: string; readonly rev: string },
  location?: string,
): object {
  reply.header('etag', entityTag(rev))
  if (location !== undefined) reply.header('location', location)
  return { ok: true, id, rev }
}

/** The revision in `?rev=` or `If-Match`. */
export function givenRevision(request: FastifyRequest, parameters: QueryParameters): string | undefined {
  const header = request.headers['if-match']?.trim().replace(/^(?:W\/)?"(.*)"$/, '$1')
  const rev = parameters.text('rev')
  if (rev !== undefined && header !== undefined && rev !== header)
    throw badRequest('Document rev and etag have different values')
  const given = rev ?? header
  return given === undefined || (rev === undefined && given === '') ? undefined : checkRevision(given)
}

export function entityTag(text: unknown): string {
  return `"${String(text)}"`
}

export function matches(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag || one.trim() === '*')
}
