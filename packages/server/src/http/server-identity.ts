/** The names and versions that the server reports about itself. */
import { readFileSync } from 'node:fs'
import { getAsset, isSea } from 'node:sea'

export const SERVER_NAME = 'Pannier'
/** Version of this package, whose folder is above both `src` and `dist`. */
export const SERVER_VERSION: string = isSea()
  ? getAsset('version', 'utf8')
  : versionIn(new URL('../../package.json', import.meta.url))
/** The version of CouchDB whose API this is: clients look at it. */
export const COUCHDB_VERSION = '3.5.0'
/** CouchDB's name of a node that is alone. */
export const NODE_NAME = 'nonode@nohost'

function versionIn(manifest: URL): string {
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }
  return version
}
