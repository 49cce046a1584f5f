/** Documents on their way in: PouchDB's rules for their names, and what of them is stored. */
import { LOCAL_PREFIX } from 'pannier/internal'
import { createError, DOC_VALIDATION, INVALID_REV } from 'pouchdb-errors'
import { invalidIdError, uuid } from 'pouchdb-utils'
import { attachmentsIn } from './attachments.ts'
import type { PouchDocument } from './pouch.ts'

/** A document as the library takes it. */
export type Input = PouchDocument & { readonly _id: string; readonly _rev?: string; readonly _deleted?: true }

/** Members that begin with an underscore and are content. */
const CONTENT: ReadonlySet<string> = new Set([
  '_access',
  '_replication_id',
  '_replication_state',
  '_replication_state_time',
  '_replication_state_reason',
  '_replication_stats',
])
/** Members that are read below. */
const READ: ReadonlySet<string> = new Set(['_id', '_rev', '_deleted', '_attachments', '_revisions'])
/** Members that say something about a document which nobody stores. `__proto__` is one that PouchDB's copies lack. */
const IGNORED: ReadonlySet<string> = new Set(
  '_revs_info _conflicts _deleted_conflicts _local_seq _rev_tree _removed _cv __proto__'.split(' '),
)
/** PouchDB's own rule. */
const REVISION = /^\d+-/
const UNDERSCORE = 95

export function isLocal(id: unknown): id is string {
  return typeof id === 'string' && id.startsWith(LOCAL_PREFIX)
}

/** @throws PouchDB's errors */
export function inputOf(document: PouchDocument, newEdits: boolean): Input {
  const input: PouchDocument = {}
  for (const name of Object.keys(document)) {
    if (name.charCodeAt(0) !== UNDERSCORE || CONTENT.has(name)) input[name] = document[name]
    else if (!READ.has(name) && !IGNORED.has(name)) throw badMember(name)
  }
  const { _id, _deleted, _attachments } = document
  input['_id'] = newEdits && !_id ? uuid() : _id
  invalidIdError(input['_id'])
  if (_deleted) input['_deleted'] = true
  if (_attachments) input['_attachments'] = attachmentsIn(_attachments)
  if (newEdits) nameParent(input, document)
  else nameRevision(input, document)
  return input as Input
}

function nameParent(input: PouchDocument, { _rev }: PouchDocument): void {
  if (_rev) input['_rev'] = checkedRevision(_rev)
}

/** As in CouchDB, `_revisions` wins over `_rev`. */
function nameRevision(input: PouchDocument, { _rev, _revisions }: PouchDocument): void {
  if (_revisions) {
    const { start, ids } = _revisions as { readonly start: number; readonly ids: readonly string[] }
    input['_revisions'] = _revisions
    input['_rev'] = `${start}-${ids[0]}`
  } else input['_rev'] = checkedRevision(_rev)
}

function checkedRevision(rev: unknown): string {
  if (typeof rev === 'string' && REVISION.test(rev)) return rev
  throw createError(INVALID_REV)
}

function badMember(name: string): Error {
  const error = createError(DOC_VALIDATION, name)
  error.message = `${DOC_VALIDATION.message}: ${name}`
  return error
}
