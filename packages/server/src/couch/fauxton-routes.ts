/**
 * `/_utils`: serves the files of a folder, for example Fauxton's. It serves only files that it listed at start, so no
 * path of a request reaches the file system.
 */
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { contentTypeOf } from '../http/content-types.ts'
import { notFound } from '../http/http-error.ts'
import type { Routes } from './server-context.ts'

interface ServedFile {
  readonly path: string
  readonly length: number
  readonly contentType: string
}

const INDEX = 'index.html'
/** Fauxton has styles in its page, and editors whose workers it makes of text; no script of the page or of strings may run. */
const POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
  "worker-src 'self' blob:; connect-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"

/** @throws TypeError if there is no such folder */
export async function fauxtonRoutes(folder: string): Promise<Routes> {
  const files = await filesIn(folder).catch((error: NodeJS.ErrnoException) => {
    throw new TypeError(`createServer(): couch.fauxton must be a folder of pages, got '${folder}' (${error.message})`, {
      cause: error,
    })
  })
  return (app) => {
    const handler = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
      const { '*': name = '' } = request.params as { readonly '*'?: string }
      // Names in the page are relative to the folder.
      if (name === '' && !request.url.startsWith('/_utils/')) return reply.redirect('/_utils/', 301)
      const file = files.get(name === '' ? INDEX : name)
      if (file === undefined) throw notFound('missing')
      reply.headers({
        'content-type': file.contentType,
        'content-length': file.length,
        'content-security-policy': POLICY,
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
      })
      return request.method === 'HEAD' ? reply.send() : reply.send(createReadStream(file.path))
    }
    for (const url of ['/_utils', '/_utils/*']) app.get(url, { config: { needs: 'anyone', unlogged: true } }, handler)
  }
}

/** By the name that a request has, with slashes. */
async function filesIn(folder: string): Promise<Map<string, ServedFile>> {
  const files = new Map<string, ServedFile>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const name = relative(folder, path).split(sep).join('/')
    const contentType = contentTypeOf(name)
    files.set(name, { path, length: (await stat(path)).size, contentType })
  }
  return files
}
