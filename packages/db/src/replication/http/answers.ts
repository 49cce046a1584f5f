/** Checks answers of CouchDB servers: an answer has the expected shape, or counts as no answer. */
import { isPlainObject } from '../../codec/collation.ts'
import { fromCouchDocument } from '../../document/attachments/couch-attachments.ts'
import { unreachable } from '../errors.ts'
import { isSequence, type PeerChange, type ReplicationSequence } from '../peer.ts'

export type Fields = Record<string, unknown>

interface ChangesAnswer {
  readonly changes: readonly (PeerChange & { readonly document: Fields | undefined })[]
  readonly lastSeq: ReplicationSequence
  readonly pending: number | undefined
}

export interface BulkGetEntry {
  readonly id: string
  readonly documents: readonly (
    | { readonly ok: Fields }
    | { readonly error: string; readonly reason: string; rev: string }
  )[]
}

export function objectOf(peer: string, answer: unknown): Fields {
  if (!isPlainObject(answer)) throw wrong(peer)
  return answer
}

export function changesOf(peer: string, answer: unknown): ChangesAnswer {
  const { results, last_seq, pending } = objectOf(peer, answer)
  if (!Array.isArray(results) || !isSequence(last_seq)) throw wrong(peer)
  const changes = (results as unknown[]).map((row) => {
    const { id, changes: revs, doc } = objectOf(peer, row)
    if (typeof id !== 'string' || !Array.isArray(revs)) throw wrong(peer)
    const names = (revs as unknown[]).map((one) => stringOf(peer, objectOf(peer, one)['rev']))
    return { id, revs: names, document: isPlainObject(doc) ? fromCouchDocument(doc) : undefined }
  })
  return { changes, lastSeq: last_seq, pending: typeof pending === 'number' ? pending : undefined }
}

/** The missing ones among the revisions that were asked about. */
export function missingOf(
  peer: string,
  answer: unknown,
  asked: ReadonlyMap<string, readonly string[]>,
): Map<string, readonly string[]> {
  const missing = new Map<string, readonly string[]>()
  for (const [id, lacks] of Object.entries(objectOf(peer, answer))) {
    const revs = objectOf(peer, lacks)['missing'] ?? []
    const known: ReadonlySet<unknown> = new Set(asked.get(id))
    if (!Array.isArray(revs) || !revs.every((rev) => known.has(rev))) throw wrong(peer)
    if (revs.length > 0) missing.set(id, revs as string[])
  }
  return missing
}

/** Each id that was asked for has an entry, and no other has. */
export function bulkGetOf(peer: string, answer: unknown, ids: readonly string[]): BulkGetEntry[] {
  const { results } = objectOf(peer, answer)
  if (!Array.isArray(results)) throw wrong(peer)
  const entries = (results as unknown[]).map((entry): BulkGetEntry => {
    const { id, docs } = objectOf(peer, entry)
    if (typeof id !== 'string' || !Array.isArray(docs)) throw wrong(peer)
    return { id, documents: (docs as unknown[]).map((one) => resultOf(peer, id, one)) }
  })
  const asked = new Set(ids)
  const found = new Set(entries.map(({ id }) => id))
  if (!ids.every((id) => found.has(id)) || entries.some(({ id }) => !asked.has(id))) throw wrong(peer)
  return entries
}

/** Checks an answer to `open_revs`. */
export function openRevisionsOf(peer: string, answer: unknown, id: string): BulkGetEntry {
  if (!Array.isArray(answer)) throw wrong(peer)
  return { id, documents: (answer as unknown[]).map((one) => resultOf(peer, id, one)) }
}

/** The answers of `_bulk_docs` for documents that it did not take. */
export function bulkFailuresOf(peer: string, answer: unknown): Fields[] {
  if (!Array.isArray(answer)) throw wrong(peer)
  return (answer as unknown[]).map((one) => objectOf(peer, one)).filter(({ error }) => error !== undefined)
}

export function wrong(peer: string): Error {
  return unreachable(peer, 'the answer is not of the form that was asked for')
}

function resultOf(peer: string, id: string, result: unknown): BulkGetEntry['documents'][number] {
  const { ok, error, missing } = objectOf(peer, result)
  if (isPlainObject(ok)) {
    if (ok['_id'] !== id || typeof ok['_rev'] !== 'string') throw wrong(peer)
    return { ok }
  }
  if (typeof missing === 'string') return { error: 'not_found', reason: 'missing', rev: missing }
  const facts = isPlainObject(error) ? error : objectOf(peer, result)
  const name = facts['error'] ?? facts['name']
  return {
    error: typeof name === 'string' ? name : 'unknown_error',
    reason: typeof facts['reason'] === 'string' ? facts['reason'] : '',
    rev: typeof facts['rev'] === 'string' ? facts['rev'] : '',
  }
}

function stringOf(peer: string, value: unknown): string {
  if (typeof value !== 'string') throw wrong(peer)
  return value
}
