/**
 * `sync`: keeps a collection in step with a CouchDB database, one way. `NAME.remote` is a replica of that database in the same store;
 * documents go from it to the collection, or from the collection to it, under the ids that they have there (`r` of a stored document).
 */
import type { TransactionCollection, ReplicationTarget } from 'pannier'
import type { FetchFunction } from 'pannier/types'
import { failure, toJSONStoreError } from './errors.ts'
import type { Access, Session } from './session.ts'
import { idKey, remoteName, removedName } from './stored-document.ts'
import type { JsonObject } from './stored-document.ts'
import { dirtyDocuments, markClean } from './dirty.ts'
import { SYNC_POLICIES } from './sync-options.ts'
import { addDocuments, replacedBy } from './writes.ts'
import type { Target } from './writes.ts'

/** How a collection is synchronized. */
export interface SyncOptions {
  /** SYNC_DOWNSTREAM: documents come from the database; SYNC_UPSTREAM: they go there; SYNC_NONE: neither. */
  readonly syncPolicy: 0 | 1 | 2
  /** The URL of the database. */
  readonly syncAdapterPath?: ReplicationTarget | undefined
  /** Called after each sync that succeeded. */
  readonly onSyncSuccess?: ((result: SyncResult) => unknown) | undefined
  /** Called after each sync that failed (failure). */
  readonly onSyncFailure?: ((error: unknown) => unknown) | undefined
}

interface SyncResult {
  readonly received: number
  readonly sent: number
}

/** The local document of the replica that tells how far it was applied. */
const APPLIED = 'applied'

export async function synchronise(
  session: Session,
  target: Target,
  options: SyncOptions | undefined,
  fetch: FetchFunction | undefined,
): Promise<SyncResult> {
  if (options?.syncAdapterPath === undefined || options.syncPolicy === SYNC_POLICIES.SYNC_NONE)
    throw failure('NO_ADAPTER_LINKED_TO_COLLECTION')
  // Replication takes turns of its own, and would wait for the transaction to end.
  if (session.inTransaction) throw failure('TRANSACTION_IN_PROGRESS')
  const http = fetch === undefined ? {} : { fetch }
  try {
    const isUpstream = options.syncPolicy === SYNC_POLICIES.SYNC_UPSTREAM
    const result = isUpstream
      ? { received: 0, sent: await send(session, target, options.syncAdapterPath, http) }
      : { received: await receive(session, target, options.syncAdapterPath, http), sent: 0 }
    options.onSyncSuccess?.(result)
    return result
  } catch (error) {
    const failed = toJSONStoreError(error, { src: 'sync', col: target.name }, 'ADAPTER_FAILURE')
    options.onSyncFailure?.(failed)
    throw failed
  }
}

type Http = { readonly fetch?: FetchFunction }

async function receive(session: Session, target: Target, from: ReplicationTarget, http: Http): Promise<number> {
  const remote = session.database.collection<JsonObject>(remoteName(target.name))
  await remote.replicate({ from, ...http })
  const applied = await remote.local.get(APPLIED)
  let received = 0
  const { changes, lastSeq } = await remote
    .changes({ since: (applied?.['seq'] as number | undefined) ?? 0, docs: true })
    .page()
  await session.write(async (access) => {
    received = 0
    for (const { id, doc, deleted } of changes)
      received += await apply(access, target, id, deleted === true ? undefined : contentOf(doc as JsonObject))
    const { local } = access(remoteName(target.name))
    await local.put({ ...(await local.get(APPLIED)), _id: APPLIED, seq: lastSeq })
  })
  return received
}

/** A document that was changed here and not pushed stays as it is. */
async function apply(access: Access, target: Target, remoteId: string, json: JsonObject | undefined): Promise<number> {
  const collection = access(target.name)
  const known = await collection.find({ r: remoteId }).first()
  if (known?.d !== undefined) return 0
  if (json === undefined) return known === undefined ? 0 : Number((await collection.delete(known)) !== undefined)
  if (known !== undefined) await collection.put(replacedBy(target, known, json, false))
  else await addDocuments(access, target, [{ json, additional: {}, remoteId }], false)
  return 1
}

async function send(session: Session, target: Target, to: ReplicationTarget, http: Http): Promise<number> {
  const sent = await session.write(async (access) => {
    const dirty = await dirtyDocuments(access, target.name)
    const remote = access(remoteName(target.name)) as unknown as TransactionCollection<JsonObject>
    for (const { _id, json, _operation } of dirty) {
      const collection = access(_operation === 'remove' ? removedName(target.name) : target.name)
      const stored = (await collection.get(idKey(_id)))!
      if (_operation === 'remove') {
        if (stored.r !== undefined) await remote.delete(stored.r)
        continue
      }
      const id = stored.r ?? session.environment.randomId()
      // Known from now on, so that nothing is sent twice under two ids.
      if (stored.r === undefined) await collection.put({ ...stored, r: id })
      await remote.upsert({ ...contentOf(json), _id: id })
    }
    return dirty
  })
  await session.database.collection<JsonObject>(remoteName(target.name)).replicate({ to, ...http })
  if (sent.length > 0) await session.write((access) => markClean(access, target.name, sent))
  return sent.length
}

/** The content of a document, without what CouchDB reserves. */
function contentOf(document: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(document).filter(([name]) => !name.startsWith('_')))
}
