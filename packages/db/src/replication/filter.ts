/** Tests documents against a selector where a peer does not do that itself: as CouchDB does, whatever the peer is. */
import { expressionsOf, normalise } from '../query/ast/normalise.ts'
import { parseSelector } from '../query/ast/parse-selector.ts'
import { documentFields } from '../query/live/document-fields.ts'
import { compileCondition } from '../query/match.ts'
import { prepareRegexes } from '../query/regex/check-regex.ts'
import type { StoredDocument } from '../document/document-reader.ts'
import type { JsonDocument } from './peer.ts'

export async function selectorTest(selector: JsonDocument): Promise<(document: JsonDocument) => boolean> {
  const condition = normalise(parseSelector(selector, { dialect: 'couchdb' }))
  await prepareRegexes(expressionsOf(condition))
  const test = compileCondition<StoredDocument>(condition, (path) =>
    path === '_deleted' ? (document) => document['_deleted'] : documentFields(path),
  )
  return (document) => test(document as StoredDocument)
}
