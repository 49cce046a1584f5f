/**
 * The contract of a replication peer: a database to read revisions from and to write them to. The replicator knows
 * nothing else about either peer. docs/internals/replication.md is normative; testing/conformance/replication-peer.ts
 * tests it.
 *
 * Guarantees: an answer is whole and checked, or the call rejects (PANNIER_PEER_UNREACHABLE if another try may help).
 * Revisions that `writeRevisions` does not list as failed are as durable as anything else in the database. An aborted
 * signal ends a call at once. Relies on: nothing. Calls may overlap and may be repeated.
 */
import type { PannierError } from '../base/errors.ts'

/** A place in the change feed of a peer: any JSON, which only that peer understands. */
export type ReplicationSequence = unknown

/** CouchDB's grow with the shards of a database, to some thousand characters. */
const SEQUENCE_CHARS_MAX = 65_536

/** Whether a sequence fits into replication checkpoints and URLs. */
export function isSequence(value: unknown): boolean {
  try {
    return value !== undefined && value !== null && JSON.stringify(value).length <= SEQUENCE_CHARS_MAX
  } catch {
    // Nested too deep.
    return false
  }
}

export type JsonDocument = Readonly<Record<string, unknown>>

/** The wanted changes of a peer. All conditions must hold. */
export interface PeerFilter {
  readonly ids?: readonly string[] | undefined
  readonly selector?: JsonDocument | undefined
  /** Is asked about the winner, also when that is a tombstone. */
  readonly accept?: ((document: object) => boolean) | undefined
  /** Names `accept`: data, or a token of this function object. */
  readonly identity?: unknown
  /** False: nothing outside this run names `accept`, so no other run may continue from what it has left out. */
  readonly isLasting?: boolean
  /** A filter of the peer's own: 'design/filter', '_view', '_design'. Only over HTTP. */
  readonly name?: string | undefined
  /** The parameters of that filter. */
  readonly parameters?: Readonly<Record<string, string>> | undefined
}

export interface ChangesRequest {
  /** The sequence since when. Undefined: from the beginning. */
  readonly since: ReplicationSequence
  readonly limit: number
  /** Waits until there is a change, or for a while: then it gives an empty page. */
  readonly wait: boolean
  readonly style: 'winner' | 'all'
  readonly filter: PeerFilter
  readonly signal: AbortSignal
}

export interface PeerChange {
  readonly id: string
  readonly revs: readonly string[]
}

export interface PeerChanges {
  readonly changes: readonly PeerChange[]
  readonly lastSeq: ReplicationSequence
  /** Changes after `lastSeq`, as far as known. */
  readonly pending: number | undefined
  /** Whether it has ended: there was no more when it was read. */
  readonly ended: boolean
}

export interface RevisionName {
  readonly id: string
  readonly rev: string
}

/** An attachment on its way. */
export interface PeerAttachment {
  readonly contentType: string
  /** The generation that it came with (`revpos`). */
  readonly revpos: number | undefined
  /** As the source has it; of content that it keeps compressed it may be that of what is compressed. */
  readonly digest: string | undefined
  readonly length: number
  /** Inline content, small, that came along as bytes or in base64. */
  readonly inline?: Uint8Array<ArrayBuffer> | string
  /** The content, again for each call; it rejects, or the stream fails, if it is not all there. */
  open(signal: AbortSignal): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>
}

/** A revision on its way. */
export interface PeerRevision {
  /** With `_id`, `_rev`, `_revisions`, perhaps `_deleted`; without `_attachments`. */
  readonly document: JsonDocument & { readonly _id: string; readonly _rev: string }
  readonly attachments: ReadonlyMap<string, PeerAttachment> | undefined
}

/** A revision that was not read or not written; the others were. */
export interface RevisionFailure extends RevisionName {
  readonly error: PannierError
}

export interface RevisionsRead {
  /** Leaves out revisions that are gone: newer ones replace them. */
  readonly revisions: readonly PeerRevision[]
  readonly failures: readonly RevisionFailure[]
  /** About how many bytes they take. */
  readonly bytes: number
}

export interface RevisionsWritten {
  readonly failures: readonly RevisionFailure[]
  /** Ids of written documents that now have conflicts, if the peer can tell. */
  readonly conflicts: readonly string[]
}

export interface SnapshotProgress {
  /** The number of documents that were taken. */
  readonly documents: number
  readonly documentsTotal: number
}

export interface SnapshotLoaded {
  /** The sequence of the source: what comes after it is not in the snapshot. */
  readonly sequence: ReplicationSequence
  /** False: some of it was not taken, so it brings no replication to a place in the feed. */
  readonly isComplete: boolean
}

export interface ReplicationPeer {
  /** The name for people: never with credentials. */
  readonly name: string
  /** True for a peer behind a network, which may be offline. */
  readonly remote: boolean
  /**
   * Names this store and no other, as long as it lives. A store that was wiped or created again has another name. Finds
   * out whether the peer exists; with `create` a missing one is created.
   */
  identify(create: boolean, signal: AbortSignal): Promise<string>
  /** The design document with this id, which has a filter by name; undefined: it does not exist, or may not be read. */
  readDesign(id: string, signal: AbortSignal): Promise<JsonDocument | undefined>
  /** Each document once, in the order of its last change. */
  readChanges(request: ChangesRequest): Promise<PeerChanges>
  /** The revisions that it does not have. */
  missingRevisions(
    revisions: ReadonlyMap<string, readonly string[]>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, readonly string[]>>
  /** For a revision that was replaced in the meantime, returns the leaf revision that descends from it. */
  readRevisions(names: readonly RevisionName[], signal: AbortSignal): Promise<RevisionsRead>
  /** Takes revisions up as they are. One that is known already changes nothing. */
  writeRevisions(revisions: readonly PeerRevision[], signal: AbortSignal): Promise<RevisionsWritten>
  /** The `_local` document with this name. */
  getLocal(name: string, signal: AbortSignal): Promise<JsonDocument | undefined>
  /** Gives its new revision. @throws PANNIER_CONFLICT if its `_rev` is not the current one. */
  putLocal(name: string, document: JsonDocument, signal: AbortSignal): Promise<string>
  /** Everything at once, where the peer offers that. */
  openSnapshot?(signal: AbortSignal): Promise<ReadableStream<Uint8Array> | undefined>
  /** Loads such a snapshot if the peer is empty. Undefined: it is not, or there is no snapshot. */
  loadSnapshot?(
    open: () => Promise<ReadableStream<Uint8Array> | undefined>,
    onProgress: (progress: SnapshotProgress) => void,
    signal: AbortSignal,
  ): Promise<SnapshotLoaded | undefined>
}
