/**
 * The page as a part of the server: a handful of files from memory at `/_app/`, a path that no database can have. Nobody but visitors
 * of this machine gets anything at all: a request has to name it as its host (so a page elsewhere can't reach it by DNS tricks).
 */
import type { ServerOptions } from '@pannier/server'
import type { Asset } from './bundle.ts'

type Plugin = NonNullable<ServerOptions['plugins']>[number]

export const PAGE_PATH = '/_app/'
const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}

/** `assets`: by their path below `/_app/`. */
export function pagePlugin(assets: ReadonlyMap<string, Asset>): Plugin {
  const plugin: Plugin = async (app) => {
    app.addHook('onRequest', async (request, reply) => {
      if (!LOOPBACK_HOST.test(request.headers.host ?? ''))
        return reply.code(403).send({ error: 'forbidden', reason: 'Unknown host.' })
      // A person who opens the server in a browser means the page; programs get what CouchDB says there.
      const asksForPage = request.url === '/' && request.headers.accept?.includes('text/html') === true
      return asksForPage ? reply.redirect(PAGE_PATH) : undefined
    })
    for (const [name, { type, body }] of assets) {
      app.get(`${PAGE_PATH}${name}`, { config: { needs: 'anyone' } }, (_request, reply) =>
        reply.headers(HEADERS).type(type).send(Buffer.from(body)),
      )
    }
  }
  // The hook is for all routes of the server, not only for those of this plugin.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}
