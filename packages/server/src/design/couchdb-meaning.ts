/** How selectors, keys and strings are to be understood that come through CouchDB's doors. */
import { ROOT_COLLATION } from './collation/root-collation.ts'

export const COUCHDB_MEANING: { readonly dialect: 'couchdb'; readonly collation: string } = {
  dialect: 'couchdb',
  collation: ROOT_COLLATION.name,
}
