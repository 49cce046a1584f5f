/**
 * The admin page at `/_/`. Its first link has a secret behind `#`, which browsers send to nobody. Mails and providers of OAuth2 send users
 * to the page too. The project's build makes its files (tools/web/admin-page.ts).
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getAsset, isSea } from 'node:sea'
import { gunzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { contentTypeOf } from './content-types.ts'
import { HttpError, notFound } from './http-error.ts'

/** The path of the setup; the secret stands behind it. */
export const SETUP_PATH = '/_/#/setup/'

/** Files of the page (admin), compressed by gzip, by name. */
type AdminFiles = ReadonlyMap<string, Buffer>

const INDEX = 'index.html'
/** The file of the page. The path is right from `src/http` and from `dist/http`. */
const FILE = join(import.meta.dirname, '../../dist/admin.json')
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
const NOT_BUILT = "The admin page is not built. In a checkout of the sources, 'npm run build' builds it."

let ownFiles: Promise<AdminFiles> | undefined

/** `files` is called with the first request. */
export function adminPage(app: FastifyInstance, files: () => Promise<AdminFiles> = readOwnFiles): void {
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { name = INDEX } = request.params as { readonly name?: string }
    // Names in the page are relative to its folder. So is this one: a proxy may have taken a part of the path away.
    if (name === INDEX && !/^\/+_\/+(?:\?|$)/.test(request.url))
      return reply.redirect(/^\/[^/?]*\//.test(request.url) ? '../_/' : '_/', 301)
    const content = (await files()).get(name)
    if (content === undefined) throw notFound('missing')
    reply.headers(headersOf(name))
    if (acceptsGzip(request)) return reply.header('content-encoding', 'gzip').send(content)
    return reply.send(gunzipSync(content))
  }
  for (const url of ['/_/', '/_/:name']) app.get(url, { config: { needs: 'anyone', unlogged: true } }, handler)
}

function headersOf(name: string): Readonly<Record<string, string>> {
  const hasHash = /-[\dA-Z]{8}\.\w+$/.test(name)
  return {
    'content-type': contentTypeOf(name),
    'cache-control': hasHash ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'Accept-Encoding',
    'content-security-policy': POLICY,
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
  }
}

function acceptsGzip({ headers }: FastifyRequest): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/i.test(String(headers['accept-encoding'] ?? ''))
}

/**
 * Reads the page's files. The build makes them, and they do not change while the process runs. What is not there may
 * come.
 */
function readOwnFiles(): Promise<AdminFiles> {
  ownFiles ??= read().catch((error: unknown) => {
    ownFiles = undefined
    throw new HttpError(503, 'unavailable', NOT_BUILT, { cause: error })
  })
  return ownFiles
}

async function read(): Promise<AdminFiles> {
  const text = isSea() ? getAsset('admin.json', 'utf8') : await readFile(FILE, 'utf8')
  const files = JSON.parse(text) as Readonly<Record<string, string>>
  return new Map(Object.entries(files).map(([name, base64]) => [name, Buffer.from(base64, 'base64')]))
}
