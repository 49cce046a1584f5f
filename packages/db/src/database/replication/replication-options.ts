/** The options of replications, and what they show to observers. */
import type { CheckpointSides } from '../../replication/checkpoint.ts'
import type { HttpPeerOptions } from '../../replication/http/http-peer.ts'
import type { ReplicationSequence } from '../../replication/peer.ts'
import type {
  NetworkStatus,
  ReplicationDirection,
  ReplicationEvent,
  ReplicationPart,
  ReplicationProgress,
  ReplicationStatus,
} from '../../replication/types.ts'
import type { JsonObject } from '../collection/document-types.ts'
import type { CollectionHost } from './local-peer.ts'

/** The URL of a CouchDB database (or of one that speaks its protocol), or a collection, of this database or another one. */
export type ReplicationTarget = string | URL | { readonly name: string; info(): Promise<unknown> }

/** A CouchDB database with options of its own. */
export interface RemoteSide extends HttpPeerOptions {
  /** The URL of the database. It may have a user name and a password. */
  readonly url: string | URL
}

/** A collection, and the rules of its owner for replicating from or to it. */
export interface CollectionSide extends CollectionHost {
  /** The collection to replicate from or to. */
  readonly collection: Exclude<ReplicationTarget, string | URL>
}

/** The source or the target of `db.replicate`. */
export type ReplicationSide = ReplicationTarget | RemoteSide | CollectionSide

/** Data for a filter. */
type FilterParameters = Readonly<Record<string, string>> | undefined

/** Options of one direction. */
export interface DirectionOptions {
  /** Only documents with these ids. */
  readonly ids?: readonly string[] | undefined
  /** Only documents that it matches, and deletions: a tombstone has no fields that it could match. */
  readonly selector?: Readonly<Record<string, unknown>> | undefined
  /**
   * Only documents that it returns true for, at once; or the name of a filter of the source (over HTTP): 'design/filter'. A function
   * begins from the start in each run, unless `version` or `parameters` say which filter it is.
   */
  readonly filter?: string | ((document: JsonObject, parameters: FilterParameters) => unknown) | undefined
  /** Which deletions pass a selector: 'all' (default), or 'selected' ones, whose tombstones it matches, as in CouchDB. */
  readonly tombstones?: 'all' | 'selected' | undefined
  /** The parameters of the filter, beside the document. Another run with the same source and parameters continues. */
  readonly parameters?: FilterParameters
  /** Names a filter function: another run with the same source, version and parameters continues. */
  readonly version?: string | number | undefined
  /** A view of the source (over HTTP), 'design/view': only documents for which it emits something. */
  readonly view?: string | undefined
  /** Where to begin in the feed of the source, whatever was done before: a `lastSeq`, or 'now'. */
  readonly since?: ReplicationSequence
  /** 'winner': only winning revisions, so conflicts stay where they are. 'all' (default) makes replicas equal. */
  readonly style?: 'winner' | 'all' | undefined
  /** Changes that are looked at together; 500 when left out. */
  readonly batchSize?: number | undefined
  /** Batches that are under way at a time; 3 when left out. */
  readonly batchesAhead?: number | undefined
  /** Where it is recorded how far it is: on 'both' sides (default), on one, or nowhere. */
  readonly checkpoint?: CheckpointSides | undefined
  /** Milliseconds between two records of that while there is work; 5,000 when left out. */
  readonly checkpointIntervalMs?: number | undefined
  /** False: everything goes through the feed, also where the source offers a snapshot. */
  readonly snapshot?: boolean | undefined
}

/** Options of `sync` and `replicate`. */
export interface ReplicationOptions extends DirectionOptions, HttpPeerOptions {
  /** Continues with changes as they are made. */
  readonly live?: boolean | undefined
  /** Tries again, for as long as it takes, when the other side can't be reached. Default: if `live`. */
  readonly retry?: boolean | undefined
  /** Milliseconds to wait before the next try, of those waited before (0 at first). */
  readonly backOff?: ((delayMs: number) => number) | undefined
  /** False: a missing database is not created. */
  readonly create?: boolean | undefined
  /** Ends it: awaiting it rejects with PANNIER_ABORTED. */
  readonly signal?: AbortSignal | undefined
  /** Tells whether there is a network; by default the browser does. */
  readonly network?: NetworkStatus | undefined
  /** Other options for one direction of a `sync`. */
  readonly push?: DirectionOptions | undefined
  /** Other options for the direction from the other side to here. */
  readonly pull?: DirectionOptions | undefined
}

/** Options of `db.sync`. */
export interface DatabaseSyncOptions extends ReplicationOptions {
  /** The names of the collections, or the target of each of them. */
  readonly collections: readonly string[] | Readonly<Record<string, ReplicationTarget>>
}

/** Options of `collection.replicate`: `to` sends this collection's changes there, `from` fetches the changes of that one. */
export type CollectionReplicateOptions = ReplicationOptions &
  (
    | { readonly to: ReplicationTarget; readonly from?: undefined }
    | { readonly from: ReplicationTarget; readonly to?: undefined }
  )

/** Options of `db.replicate`. */
export interface DatabaseReplicateOptions extends ReplicationOptions {
  /** The source. */
  readonly from: ReplicationSide
  /** The target. */
  readonly to: ReplicationSide
}

/** The request for a replication: collections of a database, or one. */
export type ReplicationRequest =
  | { readonly url: string | URL; readonly open: (name: string) => unknown }
  | { readonly source: ReplicationSide; readonly target: ReplicationSide }
  | ReplicationJob

export interface ReplicationJob {
  readonly collection: unknown
  readonly target: ReplicationTarget
  readonly directions: readonly ReplicationDirection[]
}

/** Shared with what does the work. */
export interface ReplicationState {
  paused: boolean
  cancelled: boolean
  view: ReplicationView
  /** Counts what the other sides have not got; undefined until it is begun. */
  unsent: (() => Promise<number>) | undefined
  readonly listeners: Set<(event: ReplicationEvent) => void>
  /** Called when `paused` or `cancelled` changes. */
  changed: (() => void) | undefined
}

export interface ReplicationView {
  readonly status: ReplicationStatus
  readonly error: unknown
  readonly progress: ReplicationProgress
  readonly parts: readonly ReplicationPart[]
}
