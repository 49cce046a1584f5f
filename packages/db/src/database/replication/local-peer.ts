/**
 * A collection as a replication peer. Its sequences are `N-epoch`, as on Pannier's server. A sequence of another epoch
 * counts as the beginning.
 */
import { isPannierError, PannierError } from '../../base/errors.ts'
import { throwIfCancelled } from '../../base/long-work.ts'
import { streamChunks } from '../../base/async.ts'
import { encodeIdKey } from '../../codec/key-encoding.ts'
import { checkId } from '../../document/document-id.ts'
import { parseRevision } from '../../document/revision.ts'
import type { WriteOutcome } from '../../document/write-documents.ts'
import { sessionsOf } from '../../replication/checkpoint.ts'
import { dropped, replaced } from '../../replication/errors.ts'
import type {
  ChangesRequest,
  JsonDocument,
  PeerAttachment,
  PeerChange,
  PeerChanges,
  PeerRevision,
  ReplicationPeer,
  RevisionFailure,
  RevisionName,
  RevisionsRead,
  RevisionsWritten,
  ReplicationSequence,
  SnapshotLoaded,
  SnapshotProgress,
} from '../../replication/peer.ts'
import type { ChangeFeed, ChangesOptions } from '../feed/change-feed.ts'
import type { TransactionCollection } from '../collection/collection-operations.ts'
import type { DocumentInput, JsonObject } from '../collection/document-types.ts'
import { loadReplica } from '../transfer/load-replica.ts'

/** A collection; not one inside a transaction. */
export type LocalCollection = TransactionCollection<JsonObject> & {
  changes(options: ChangesOptions<JsonObject>): ChangeFeed<JsonObject>
}

/** The conditions of a collection's owner for its replication. */
export interface CollectionHost {
  /** Runs each write to the collection, or refuses it by throwing: then the replication fails. */
  readonly around?: (<T>(write: () => Promise<T>) => Promise<T>) | undefined
  /**
   * Called before revisions are written, each with `_id`, `_rev` and perhaps `_attachments`. Returns for each what to
   * write instead, or why it is denied.
   */
  readonly admit?:
    | ((documents: readonly JsonDocument[]) => Promise<readonly (JsonDocument | PannierError)[]>)
    | undefined
  /**
   * Writes what is admitted, instead of `collection.put` with `atomic: false` and `newEdits: false`. It has the same
   * outcomes.
   */
  readonly store?: ((documents: readonly JsonDocument[]) => Promise<readonly WriteOutcome[]>) | undefined
  /** Is asked which of the documents that have changed (winners, tombstones too) are to be replicated from here. */
  readonly accept?: ((documents: readonly JsonDocument[]) => Promise<readonly boolean[]>) | undefined
}

interface Position {
  readonly since: number
  readonly epoch: string
}

/** Content that is read into memory with its document, and not as a stream of its own. */
const INLINE_BYTES_MAX = 64 * 1024

export class LocalPeer implements ReplicationPeer {
  readonly name: string
  readonly remote = false
  readonly #collection: LocalCollection
  readonly #host: CollectionHost

  constructor(collection: LocalCollection, host: CollectionHost = {}) {
    this.name = `collection '${collection.name}'`
    this.#collection = collection
    this.#host = host
  }

  get collectionName(): string {
    return this.#collection.name
  }

  /** Filters of documents by the one who has the collection. */
  get filters(): boolean {
    return this.#host.accept !== undefined
  }

  /** The collection is created if it does not exist, because only then it has an epoch. */
  async identify(_create: boolean, signal: AbortSignal): Promise<string> {
    throwIfCancelled(signal, 'The replication')
    const { epoch } = await this.#collection.info()
    return epoch ?? (await this.#made())
  }

  /** The sequence of the newest replication checkpoint with this address, or undefined. */
  async recorded(address: string): Promise<ReplicationSequence> {
    const documents = await this.#collection.local.list()
    const sessions = documents.filter((document) => document['address'] === address).flatMap(sessionsOf)
    const { epoch = '' } = await this.#collection.info()
    const places = sessions.map(({ recorded_seq }) => sinceOf(recorded_seq, epoch))
    return places.length === 0 ? undefined : `${Math.max(...places)}-${epoch}`
  }

  /** How many changes come after a place in its feed. */
  async changesAfter(sequence: ReplicationSequence): Promise<number> {
    const { epoch, lastSeq } = await this.#collection.info()
    if (epoch === undefined) return 0
    const since = Math.min(lastSeq, sinceOf(sequence, epoch))
    return (await this.#collection.changes({ since, epoch, limit: 0 }).page()).pending
  }

  async readDesign(id: string, signal: AbortSignal): Promise<JsonDocument | undefined> {
    throwIfCancelled(signal, 'The replication')
    return this.#collection.get(id)
  }

  async readChanges(request: ChangesRequest): Promise<PeerChanges> {
    const { epoch = await this.#made(), lastSeq } = await this.#collection.info()
    try {
      const since = request.since === 'now' ? lastSeq : sinceOf(request.since, epoch)
      return await this.#readFrom(request, { since, epoch })
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_EPOCH_MISMATCH')) throw error
      const info = await this.#collection.info()
      return this.#readFrom(request, { since: 0, epoch: info.epoch ?? (await this.#made()) })
    }
  }

  async missingRevisions(
    revisions: ReadonlyMap<string, readonly string[]>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    throwIfCancelled(signal, 'The replication')
    const entries = [...revisions]
    const found = await this.#collection.revsDiff(Object.fromEntries(entries.filter(isSound)))
    // What can't be a revision here is asked for all the same, so that its writing tells what is wrong with it.
    const unsound = entries.filter((entry) => !isSound(entry))
    return new Map([...Object.entries(found).map(([id, { missing }]) => [id, missing] as const), ...unsound])
  }

  async readRevisions(names: readonly RevisionName[], signal: AbortSignal): Promise<RevisionsRead> {
    throwIfCancelled(signal, 'The replication')
    const revisions: PeerRevision[] = []
    let bytes = 0
    for (const one of await this.#read(names)) {
      if (!('ok' in one)) continue
      const revision = await this.#revision(one.ok as JsonDocument)
      revisions.push(revision)
      bytes += roughSize(revision.document)
      for (const { inline } of revision.attachments?.values() ?? []) bytes += inline?.length ?? 0
    }
    return { revisions, failures: [], bytes }
  }

  async writeRevisions(revisions: readonly PeerRevision[], signal: AbortSignal): Promise<RevisionsWritten> {
    throwIfCancelled(signal, 'The replication')
    // What came with an earlier revision is here already, more often than not.
    const outcomes = await this.#put(revisions.map((revision) => inputOf(revision, true, signal)))
    const again = outcomes.flatMap((outcome, at) =>
      'error' in outcome && isPannierError(outcome.error, 'PANNIER_ATTACHMENT_MISSING') ? [at] : [],
    )
    if (again.length > 0) {
      const whole = await this.#put(again.map((at) => inputOf(revisions[at]!, false, signal)))
      again.forEach((at, position) => (outcomes[at] = whole[position]!))
    }
    const failures = outcomes.flatMap((outcome, at): RevisionFailure[] => {
      const { _id: id, _rev: rev } = revisions[at]!.document
      return 'error' in outcome ? [{ id, rev, error: outcome.error }] : []
    })
    const ids = revisions.map(({ document }) => document._id)
    return { failures, conflicts: await this.#conflicting(ids, new Set(failures.map(({ id }) => id))) }
  }

  async getLocal(name: string, signal: AbortSignal): Promise<JsonDocument | undefined> {
    throwIfCancelled(signal, 'The replication')
    return this.#collection.local.get(name)
  }

  async putLocal(name: string, document: JsonDocument, signal: AbortSignal): Promise<string> {
    throwIfCancelled(signal, 'The replication')
    const { rev } = await this.#writing(() => this.#collection.local.put({ ...document, _id: name }))
    return rev
  }

  async loadSnapshot(
    open: () => Promise<ReadableStream<Uint8Array> | undefined>,
    onProgress: (progress: SnapshotProgress) => void,
    signal: AbortSignal,
  ): Promise<SnapshotLoaded | undefined> {
    const { lastSeq } = await this.#collection.info()
    const stream = lastSeq > 0 ? undefined : await open()
    if (stream === undefined) return undefined
    return loadReplica(stream, (documents) => this.#put(documents), onProgress, signal)
  }

  async #readFrom(request: ChangesRequest, { since, epoch }: Position): Promise<PeerChanges> {
    const { limit, wait, style, filter, signal } = request
    const { ids, selector, accept } = filter
    const feed = this.#collection.changes({
      since,
      epoch,
      limit,
      style,
      live: wait,
      docs: this.filters,
      signal,
      ...(ids === undefined ? {} : { ids }),
      ...(selector === undefined ? {} : { selector, dialect: 'couchdb' as const }),
      ...(accept === undefined ? {} : { filter: accept as () => unknown }),
    })
    if (!wait) {
      const { changes, lastSeq, pending } = await feed.page()
      const wanted = await this.#wanted(changes)
      return { changes: wanted, lastSeq: `${lastSeq}-${epoch}`, pending, ended: pending === 0 }
    }
    for await (const rows of feed.batches())
      return {
        changes: await this.#wanted(rows),
        lastSeq: `${feed.lastSeq}-${epoch}`,
        pending: undefined,
        ended: false,
      }
    // The feed has no other end than these. Of a database that is closed the next attempt says so.
    throw dropped(this.name)
  }

  async #wanted(rows: readonly Row[]): Promise<PeerChange[]> {
    const { accept } = this.#host
    if (accept === undefined || rows.length === 0) return rows.map(changeOf)
    const accepted = await accept(rows.map(({ doc }) => doc as JsonDocument))
    return rows.filter((_row, at) => accepted[at] === true).map(changeOf)
  }

  #writing<T>(write: () => Promise<T>): Promise<T> {
    const { around } = this.#host
    return around === undefined ? write() : around(write)
  }

  async #made(): Promise<string> {
    const access = this.#collection['access']
    await this.#writing(() =>
      access.write((transaction) => {
        const { catalog, name } = access.writing
        if (catalog.collection(transaction, name) === undefined) access.writing.create(transaction)
      }),
    )
    const { epoch } = await this.#collection.info()
    return epoch!
  }

  /** The revisions of one document together, as each read of one loads what is known of all. */
  async #read(names: readonly RevisionName[]): Promise<readonly ({ readonly ok: object } | object)[]> {
    const byId = new Map<string, RevisionName[]>()
    for (const name of names) {
      const group = byId.get(name.id)
      if (group === undefined) byId.set(name.id, [name])
      else group.push(name)
    }
    const options = { revs: true, latest: true }
    const single = [...byId.values()].flatMap((group) => (group.length === 1 ? group : []))
    const found: object[] = await this.#collection.bulkGet(single, options)
    for (const [id, group] of byId) {
      if (group.length === 1) continue
      const revs = group.map(({ rev }) => rev)
      found.push(...(await this.#collection.getRevisions(id, revs, options)))
    }
    return found
  }

  async #revision(found: JsonDocument): Promise<PeerRevision> {
    const { _attachments, ...document } = found as JsonDocument & PeerRevision['document']
    if (_attachments === undefined) return { document, attachments: undefined }
    const attachments = new Map<string, PeerAttachment>()
    for (const [name, stub] of Object.entries(_attachments as Record<string, Stub>)) {
      const { contentType, revpos, digest, length } = stub
      const open = (): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> => this.#open(document, name)
      const inline =
        length > INLINE_BYTES_MAX ? undefined : new Uint8Array(await new Response(await open()).arrayBuffer())
      const attachment = { contentType, revpos, digest, length, open }
      attachments.set(name, inline === undefined ? attachment : { ...attachment, inline })
    }
    return { document, attachments }
  }

  async #open({ _id, _rev }: PeerRevision['document'], name: string): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const attachment = await this.#collection.getAttachment(_id, name, { rev: _rev })
    if (attachment === undefined) throw replaced(this.name, `the attachment '${name}' of '${_id}'`)
    return attachment.stream()
  }

  /** Stores the documents that are admitted. */
  async #put(documents: readonly JsonDocument[]): Promise<Outcome[]> {
    const { admit } = this.#host
    if (admit === undefined) return this.#writing(() => this.#store(documents))
    return this.#writing(async () => {
      const admitted = await admit(documents)
      const written = await this.#store(admitted.filter((one): one is JsonDocument => !(one instanceof PannierError)))
      let next = 0
      return admitted.map((one) => (one instanceof PannierError ? { error: one } : written[next++]!))
    })
  }

  /** Stores documents. A document that fails does not keep the others from being stored. */
  async #store(documents: readonly JsonDocument[]): Promise<Outcome[]> {
    if (documents.length === 0) return []
    try {
      const { store } = this.#host
      if (store !== undefined) return [...(await store(documents))]
      const inputs = documents as DocumentInput<JsonObject>[]
      return [...(await this.#collection.put(inputs, { newEdits: false, atomic: false }))]
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      if (documents.length === 1)
        return [{ error: new PannierError('PANNIER_DOCUMENT_INVALID', error.message, { cause: error }) }]
      const half = documents.length >> 1
      return [...(await this.#store(documents.slice(0, half))), ...(await this.#store(documents.slice(half)))]
    }
  }

  /** Ids of the documents that have several live leaves. */
  async #conflicting(ids: readonly string[], failed: ReadonlySet<string>): Promise<string[]> {
    const access = this.#collection['access']
    return await access.read((snapshot) => {
      const state = access.writing.catalog.collection(snapshot, access.writing.name)
      const tree = state && snapshot.tree(state.trees.conflicts)
      if (tree === undefined || tree.count() === 0) return []
      const asked = [...new Set(ids)].filter((id) => !failed.has(id)).map((id) => ({ id, key: encodeIdKey(id) }))
      asked.sort((left, right) => (left.key < right.key ? -1 : 1))
      const found = tree.getMany(asked.map(({ key }) => key))
      return asked.flatMap(({ id }, at) => (found[at] === undefined ? [] : [id]))
    })
  }
}

type Outcome = WriteOutcome | { readonly error: PannierError }

interface Stub {
  readonly contentType: string
  readonly revpos: number
  readonly digest: string
  readonly length: number
}

function sinceOf(sequence: ReplicationSequence, epoch: string): number {
  const parts = typeof sequence === 'string' ? /^(\d{1,15})-(.+)$/.exec(sequence) : null
  return parts !== null && parts[2] === epoch ? Number(parts[1]) : typeof sequence === 'number' ? sequence : 0
}

interface Row {
  readonly id: string
  readonly changes: readonly { readonly rev: string }[]
  readonly doc?: unknown
}

function changeOf({ id, changes }: Row): PeerChange {
  return { id, revs: changes.map(({ rev }) => rev) }
}

/** `reuse`: attachments that came with an earlier revision are only named. */
function inputOf({ document, attachments }: PeerRevision, reuse: boolean, signal: AbortSignal): JsonDocument {
  if (attachments === undefined) return document
  const generation = Number.parseInt(document._rev, 10)
  const entries = [...attachments].map(([name, attachment]): [string, object] => {
    const { contentType, revpos, digest, inline } = attachment
    if (reuse && inline === undefined && digest !== undefined && revpos !== undefined && revpos < generation)
      return [name, { stub: true, digest }]
    return [name, { contentType, revpos, data: inline ?? contentOf(attachment, signal) }]
  })
  return { ...document, _attachments: Object.fromEntries(entries) }
}

/** Opened when it is read, as a batch may have many. */
async function* contentOf(
  attachment: PeerAttachment,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  yield* streamChunks(await attachment.open(signal))
}

function isSound([id, revs]: readonly [string, readonly string[]]): boolean {
  try {
    checkId(id)
    revs.forEach(parseRevision)
    return true
  } catch {
    return false
  }
}

function roughSize(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 8
  if (ArrayBuffer.isView(value)) return value.byteLength
  let size = 2
  for (const [name, inner] of Object.entries(value)) size += name.length + 4 + roughSize(inner)
  return size
}
