/**
 * The pages of an application: files of a folder. They come last: hooks' routes, the API, and databases with the name of the path's
 * first part keep their URLs.
 */
import { realpath, stat } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fileBytes } from '@pannier/backend/internal'
import { badArgument } from 'pannier/internal'
import { contentTypeOf } from './content-types.ts'
import { isRestUrl } from './declarations.ts'
import { HttpError } from './http-error.ts'
import { sendContent } from './send-content.ts'

export interface PublicFilesOptions {
  readonly dir: string
  /** Unknown pages are answered with the folder's `index.html`; true when left out. */
  readonly indexFallback?: boolean
}

interface FoundFile {
  readonly path: string
  readonly size: number
  readonly modifiedMs: number
}

const INDEX = 'index.html'
/** Cached, but browsers ask each time whether there is a newer one. */
const CACHED = 'no-cache'

/** Serves public files. Register it before authentication. @throws TypeError if there is no such folder */
export async function servePublicFiles(
  app: FastifyInstance,
  { dir, indexFallback = true }: PublicFilesOptions,
  isDatabase: (name: string) => Promise<boolean>,
): Promise<void> {
  const root = await realpath(dir).catch(() => '')
  if (root === '' || !(await stat(root)).isDirectory())
    throw badArgument('createServer()', 'public.dir must be a folder', dir)
  app.addHook('onRequest', async (request, reply) => {
    const segments = segmentsOf(request)
    const { db } = request.params as { readonly db?: string }
    if (segments === undefined || (db !== undefined && (await isDatabase(db)))) return undefined
    const file = await fileAt(root, segments)
    if (file === 'folder') return redirectInto(segments, reply)
    if (file !== undefined) return send(request, reply, file)
    const index = indexFallback && wantsPage(request) ? await fileAt(root, ['']) : undefined
    if (typeof index === 'object') return send(request, reply, index)
    // No database has a dot in its name: browsers ask for `favicon.ico`, and a 401 would be an error.
    if (segments[0]!.includes('.')) throw new HttpError(404, 'not_found', 'There is no such file.')
    return undefined
  })
}

/** The parts of the path. Undefined: the request is not for a page. */
function segmentsOf(request: FastifyRequest): readonly string[] | undefined {
  const { method, url, is404, routeOptions } = request
  if ((method !== 'GET' && method !== 'HEAD') || isRestUrl(url)) return undefined
  const isRoot = routeOptions.url === '/'
  // What no route names but by a parameter: `/:db`.
  if (!is404 && !isRoot && routeOptions.url?.startsWith('/:') !== true) return undefined
  // CouchDB's clients ask there who answers.
  if (isRoot && !wantsPage(request)) return undefined
  const path = url.split('?', 1)[0]!.replace(/^\/+/, '')
  try {
    return path.split('/').map(decodeURIComponent)
  } catch {
    return undefined
  }
}

function wantsPage({ headers: { accept = '' } }: FastifyRequest): boolean {
  return accept.includes('text/html')
}

/** Nothing outside of the folder, and nothing whose name begins with a dot, except `.well-known`. */
async function fileAt(root: string, segments: readonly string[]): Promise<FoundFile | 'folder' | undefined> {
  const isFolder = segments.at(-1) === ''
  const names = isFolder ? [...segments.slice(0, -1), INDEX] : segments
  if (!names.every((name, at) => isName(name) || (at === 0 && name === '.well-known'))) return undefined
  try {
    const path = await realpath(join(root, ...names))
    if (!path.startsWith(root + sep)) return undefined
    const found = await stat(path)
    if (found.isFile()) return { path, size: found.size, modifiedMs: found.mtimeMs }
    if (!found.isDirectory() || isFolder) return undefined
    return (await stat(join(path, INDEX))).isFile() ? 'folder' : undefined
  } catch {
    return undefined
  }
}

function isName(name: string): boolean {
  // eslint-disable-next-line no-control-regex
  return name !== '' && !/^\.|[/\\\u0000-\u001f]/.test(name)
}

/** Names in a page are relative to its folder. */
function redirectInto(segments: readonly string[], reply: FastifyReply): FastifyReply {
  return reply.redirect(`${encodeURIComponent(segments.at(-1)!)}/`, 302)
}

async function send(request: FastifyRequest, reply: FastifyReply, file: FoundFile): Promise<FastifyReply> {
  const { path, size, modifiedMs } = file
  const tag = `"${size.toString(36)}-${Math.round(modifiedMs * 1000).toString(36)}"`
  reply.header('etag', tag)
  if (request.headers['if-none-match'] === tag) return reply.code(304).header('cache-control', CACHED).send()
  const all = { start: 0, end: size }
  const stream = async (range = all): Promise<AsyncIterable<Uint8Array>> => fileBytes(path, range)
  return sendContent(
    request,
    reply,
    { size, modifiedMs, stream },
    { type: contentTypeOf(basename(path)), cacheControl: CACHED },
  )
}
