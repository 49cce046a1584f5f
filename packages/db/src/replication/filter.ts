/** Filters of a replication: tests selectors for peers that can't, and identifies filters of design documents. */
import { expressionsOf, normalise } from '../query/ast/normalise.ts'
import { parseSelector } from '../query/ast/parse-selector.ts'
import { documentFields, compileCondition } from '../query/match.ts'
import { prepareRegexes } from '../query/regex/check-regex.ts'
import type { StoredDocument } from '../document/document-reader.ts'
import type { JsonDocument, PeerFilter } from './peer.ts'

export async function selectorTest(selector: JsonDocument): Promise<(document: JsonDocument) => boolean> {
  const condition = normalise(parseSelector(selector, { dialect: 'couchdb' }))
  await prepareRegexes(expressionsOf(condition))
  const test = compileCondition<StoredDocument>(condition, (path) =>
    path === '_deleted' ? (document) => document['_deleted'] : documentFields(path),
  )
  return (document) => test(document as StoredDocument)
}

/** Members of a design document that no function of it can ask for by `require`, or whose functions are of no concern to a filter. */
const OTHER_SECTIONS: ReadonlySet<string> = new Set([
  'filters',
  'indexes',
  'lists',
  'options',
  'rewrites',
  'shows',
  'updates',
  'validate_doc_update',
  'views',
])

/** The path to the function; undefined if it is not in a design document. */
export function filterPlace({
  name,
  parameters,
}: PeerFilter): { readonly id: string; readonly view: boolean; readonly member: string } | undefined {
  const view = name === '_view'
  const path = view ? parameters?.['view'] : name
  const slash = path?.indexOf('/') ?? -1
  if (path === undefined || slash < 0) return undefined
  return { id: `_design/${path.slice(0, slash)}`, view, member: path.slice(slash + 1) }
}

/** Includes the modules that the function may `require`. */
export function filterText(filter: PeerFilter, design: JsonDocument): string {
  const { view, member } = filterPlace(filter)!
  const section = (design[view ? 'views' : 'filters'] ?? {}) as JsonDocument
  const libraries = Object.entries(design).filter(([name]) => !name.startsWith('_') && !OTHER_SECTIONS.has(name))
  return JSON.stringify([section[member] ?? null, view ? (section['lib'] ?? null) : null, libraries])
}
