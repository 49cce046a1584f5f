/** How selectors, keys and strings are to be understood that come through CouchDB's doors. */
import type { SelectorMeaning } from 'pannier'

export const COUCHDB_MEANING: SelectorMeaning = { dialect: 'couchdb' }
