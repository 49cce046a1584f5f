/**
 * Reads any number of revisions of any size, in the order asked for. Memory holds one batch of the library at a time:
 * about a mebibyte, or one document. A revision that is asked for several times in a row is read once.
 */
import { toCouchDocument } from 'pannier/internal'
import type { JsonObject } from '@pannier/backend/internal'
import type { GuardedCollection } from '@pannier/backend'

export interface RevisionReference {
  readonly id: string
  readonly rev: string
}

/** The revision asked for; undefined if it can't exist. */
export type WantedRevision = RevisionReference | undefined

/** How many revisions are read at a time. */
export const REVISIONS_PER_READ = 256

/** The first of the wanted revisions, one at least, with `_revisions`, in CouchDB's JSON. Undefined stands for a missing one. */
export async function readSome(
  collection: GuardedCollection,
  wanted: readonly WantedRevision[],
  latest: boolean,
): Promise<(JsonObject | undefined)[]> {
  const distinct = new Map<string, RevisionReference>()
  for (const one of wanted) if (one !== undefined) distinct.set(nameOf(one), one)
  const references = [...distinct.values()]
  const options = { revs: true, latest, partial: true }
  const results = references.length === 0 ? [] : await collection.bulkGet(references, options)
  const found = new Map<string, JsonObject | undefined>()
  for (const [at, result] of results.entries())
    found.set(nameOf(references[at]!), 'ok' in result ? toCouchDocument(result.ok as JsonObject) : undefined)
  const end = wanted.findIndex((one) => one !== undefined && !found.has(nameOf(one)))
  return wanted.slice(0, end === -1 ? undefined : end).map((one) => one && found.get(nameOf(one)))
}

/** The leaf revisions of each of these documents, the winner first. Leaves out missing documents. */
export async function leavesOf(
  collection: GuardedCollection,
  ids: readonly string[],
): Promise<Map<string, RevisionReference[]>> {
  const leaves = new Map<string, RevisionReference[]>()
  if (ids.length === 0) return leaves
  for await (const { id, changes } of collection.changes({ ids: [...ids], style: 'all' }))
    leaves.set(
      id,
      changes.map(({ rev }) => ({ id, rev })),
    )
  return leaves
}

function nameOf({ id, rev }: RevisionReference): string {
  return `${rev} ${id}`
}
