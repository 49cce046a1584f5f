/**
 * The page as a part of the server: a handful of files from memory at `/_app/`, a path that no database can have. The server
 * listens on loopback, so it answers to visitors of this machine alone.
 */
import type { HttpOptions } from '@pannier/server'
import { pageHeaders } from '../../tools/web/loopback.ts'
import type { PageFile } from './bundle.ts'

type Plugin = NonNullable<HttpOptions['plugins']>[number]

export const PAGE_PATH = '/_app/'
/** `blob:`: photos come out of the page's own database. */
const HEADERS = pageHeaders({ 'img-src': 'blob:' })
/** Angular and Solid compile their templates in the page, as the demo has no build step of theirs. */
const FRAMEWORK_HEADERS = pageHeaders({ 'script-src': "'unsafe-eval'" })

/** `assets`: by their path below `/_app/`. */
export function pagePlugin(assets: ReadonlyMap<string, PageFile>): Plugin {
  const plugin: Plugin = async (app) => {
    app.addHook('onRequest', async (request, reply) => {
      // A person who opens the server in a browser means the page; programs get what CouchDB says there.
      const asksForPage = request.url === '/' && request.headers.accept?.includes('text/html') === true
      return asksForPage ? reply.redirect(PAGE_PATH) : undefined
    })
    for (const [name, file] of assets) {
      const headers = name.startsWith('frameworks/') ? FRAMEWORK_HEADERS : HEADERS
      app.get(`${PAGE_PATH}${name}`, { config: { needs: 'anyone' } }, async (_request, reply) => {
        const { type, body } = typeof file === 'function' ? await file() : file
        return reply.headers(headers).type(type).send(Buffer.from(body))
      })
    }
  }
  // The hook is for all routes of the server, not only for those of this plugin.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}
