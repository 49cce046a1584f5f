/**
 * Which changes pass a feed's filters. The rule (docs/internals/change-feed.md): each filter is asked about the document as the feed
 * gives it, and of a deleted document that is its tombstone: `_id`, `_rev`, `_deleted: true` and the content it may have.
 */
import type { BodyView } from '../../document/body.ts'
import type { DocumentReader, StoredDocument } from '../../document/document-reader.ts'
import { isAlways, type Condition } from '../ast/normalise.ts'
import { compileCondition, type ReadField } from '../match.ts'
import { bodyFields } from '../operators/project.ts'

/** All of them have to be met. */
export interface ChangeFilters {
  readonly condition: Condition | undefined
  readonly ids: ReadonlySet<string> | undefined
  readonly accept: ((document: StoredDocument) => unknown) | undefined
}

/** Gives the document of a change that passes, decoded if a filter or `docs` needs it; false for one that does not. */
export type PassChange = (body: BodyView) => StoredDocument | boolean

export function compileFilters(documents: DocumentReader, filters: ChangeFilters, docs: boolean): PassChange {
  const { condition, ids, accept } = filters
  const test =
    condition === undefined || isAlways(condition) ? undefined : compileCondition(condition, changedFields(documents))
  return (body) => {
    if (ids !== undefined && !ids.has(body.id)) return false
    if (test !== undefined && !test(body)) return false
    if (accept === undefined && !docs) return true
    const document = documents.decode(body)
    return accept === undefined || Boolean(accept(document)) ? document : false
  }
}

/** As `bodyFields`, and `_deleted` is a field. */
function changedFields(documents: DocumentReader): (path: string) => ReadField<BodyView> {
  const fieldOf = bodyFields(documents)
  return (path) => {
    if (path === '_deleted') return (body) => (body.deleted ? true : undefined)
    const read = fieldOf(path)
    if (path === '_id' || path === '_rev') return read
    return (body) => (body.contentStart < body.contentEnd ? read(body) : undefined)
  }
}
