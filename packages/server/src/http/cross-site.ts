/**
 * Refuses cross-site requests (CSRF) that could change anything: a page of another site makes a browser send them with
 * its user's cookie or Basic credentials. Browsers name the origin of a request (`Origin`, `Sec-Fetch-Site`). Other
 * clients name none, and have no cookies that a page could misuse.
 */
import type { FastifyRequest } from 'fastify'
import { HttpError } from './http-error.ts'

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Content types that any page may send without a preflight request. */
const FORM_TYPES: ReadonlySet<string> = new Set([
  '',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
])

/** @throws HttpError 403, 415 */
export function refuseCrossSite(
  request: FastifyRequest,
  allowedOrigins: ReadonlySet<string>,
  hasSession: boolean,
): void {
  if (SAFE_METHODS.has(request.method)) return
  const { origin, 'sec-fetch-site': site } = request.headers
  const isAllowed = origin !== undefined && (allowedOrigins.has(origin) || isOwn(origin, request))
  const isForeign = (origin !== undefined && !isAllowed) || (site !== undefined && !OWN.has(site) && !isAllowed)
  if (isForeign) throw new HttpError(403, 'forbidden', 'Pages of this origin may not change anything here.')
  if (request.method !== 'POST' || !hasSession) return
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  if (FORM_TYPES.has(type) && request.routeOptions.config.contentTypes?.includes(type) !== true)
    throw new HttpError(415, 'bad_content_type', 'Content-Type must be application/json')
}

/** A proxy that ends TLS and is not trusted makes a page of `https:` look like one of another scheme, so that is let pass. */
function isOwn(origin: string, { host, protocol }: FastifyRequest): boolean {
  const url = URL.parse(origin)
  return url?.host === host && (url.protocol === `${protocol}:` || url.protocol === 'https:')
}

/** `none`: typed by the user. */
const OWN: ReadonlySet<unknown> = new Set(['same-origin', 'none'])
