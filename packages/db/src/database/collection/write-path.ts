/** What writes documents, and keeps indexes and views in step with them. */
import type { IndexMaintenance } from '../../document/document-write.ts'
import type { IndexDeclaration } from '../../index/index-definition.ts'
import { indexMaintenance } from '../../index/maintain-indexes.ts'
import { selectorTest } from '../../query/selector-test.ts'
import { notePurged } from '../../view/purged-documents.ts'

export { deleteDocuments, putDocuments, updateDocuments } from '../../document/write-documents.ts'

/** `declared`: the indexes that the collection gets when it is made. */
export function collectionMaintenance(declared: () => readonly IndexDeclaration[]): IndexMaintenance {
  return withViews(indexMaintenance(selectorTest, declared))
}

/** Views, too, have to know of documents that leave nothing behind. */
function withViews(indexes: IndexMaintenance): IndexMaintenance {
  return {
    prepare: (transaction, state, work) => indexes.prepare(transaction, state, work),
    apply: (transaction, state, writes) => {
      indexes.apply(transaction, state, writes)
      const gone = writes.filter(({ isGone }) => isGone)
      if (gone.length > 0) notePurged(transaction, state.number, gone)
    },
  }
}
