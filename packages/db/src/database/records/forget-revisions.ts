/** Compaction of one document, for the adapter of PouchDB. */
import { keyAfter } from '../../document/document-id.ts'
import { DocumentReader } from '../../document/document-reader.ts'
import { revisionKey } from '../../document/revision-entry.ts'
import { RevisionReader } from '../../document/revision-reads.ts'
import { compactRevisions } from '../../document/revision-writes.ts'
import { parseRevision } from '../../document/revision.ts'
import type { JsonObject } from '../collection/document-types.ts'
import type { Database } from '../database.ts'

/** Forgets the content of these revisions of a document. Leaves keep theirs. */
export async function forgetRevisions(db: Database, name: string, id: string, revs: readonly string[]): Promise<void> {
  const { access } = db.collection<JsonObject>(name)
  await access.write((transaction) => {
    const state = access.writing.catalog.collection(transaction, name)
    const [winner] = state === undefined ? [] : new RevisionReader(new DocumentReader(transaction, state)).winners([id])
    if (state === undefined || winner === undefined) return
    for (const rev of revs) {
      const key = revisionKey(winner.number, parseRevision(rev))
      compactRevisions(transaction, state, { gte: key, lt: keyAfter(key) })
    }
  })
}
