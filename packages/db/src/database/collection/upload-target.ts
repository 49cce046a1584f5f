/** Where the uploads of a collection go. Loaded with what handles attachments. */
import type { UploadTarget } from '../../document/attachments/upload.ts'
import type { CollectionAccess } from './collection-access.ts'

/** Undefined inside a transaction. */
export function uploadTarget(access: CollectionAccess): UploadTarget | undefined {
  const context = access.uploads()
  if (context === undefined) return undefined
  const { store, environment, closing, liveUploads } = context
  const { writing } = access
  const { catalog, name } = writing
  return {
    environment,
    closing,
    live: liveUploads,
    write: (run) => store.write(run),
    snapshot: () => store.snapshot(),
    create: (transaction) => (catalog.collection(transaction, name) ?? writing.create(transaction)).number,
    find: (transaction) => catalog.collection(transaction, name)?.number,
  }
}
