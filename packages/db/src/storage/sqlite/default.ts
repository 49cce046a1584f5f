/** Where `open` puts a database in Node unless told otherwise; chosen by `imports` of package.json as `#default-storage`. */
import { PannierError } from '../../base/errors.ts'
import type { DatabaseStorage } from '../page-store.ts'
import { sqlite } from './sqlite.ts'

/**
 * Files, as the name of a database is a path in Node; but no file where the code was meant for a browser.
 *
 * @throws PannierError PANNIER_UNAVAILABLE in a page that Next.js renders on its server, and beside a document that a test has made (jsdom,
 *   happy-dom).
 */
export function defaultStorage(): DatabaseStorage {
  const place = pageInNode()
  if (place === undefined) return sqlite()
  const message =
    `open() is called in ${place}, where it would make a file on this machine. Call it in the browser only, as in an effect; ` +
    `or pass a storage: \`memory()\` of pannier/memory in tests, \`sqlite()\` of pannier/sqlite to keep a file on a server.`
  throw new PannierError('PANNIER_UNAVAILABLE', message)
}

/** A page that runs in Node, in words; undefined elsewhere. */
function pageInNode(): string | undefined {
  if ('document' in globalThis) return 'a document that is simulated in Node (jsdom, happy-dom)'
  if (process.env['NEXT_RUNTIME'] !== undefined || process.env['NEXT_PHASE'] !== undefined)
    return 'a page that Next.js renders on its server'
  return undefined
}
