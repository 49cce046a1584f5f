/** Reads a replica file (docs/internals/replication.md) into an empty collection. Loaded with replication. */
import { throwIfCancelled } from '../../base/long-work.ts'
import { PannierError } from '../../base/errors.ts'
import { isPlainObject } from '../../codec/collation.ts'
import { fromCouchDocument } from '../../document/attachments/couch-attachments.ts'
import { isSequence } from '../../replication/peer.ts'
import type { JsonDocument, ReplicationSequence, SnapshotLoaded, SnapshotProgress } from '../../replication/peer.ts'
import { bytesOf } from './byte-streams.ts'
import { REPLICA_FORMAT, REPLICA_VERSION } from './export-replica.ts'
import { JsonLines } from './import-documents.ts'
import { PartReader, type ReplicaPart } from './replica-parts.ts'

/** Text of documents that are written at once, and how many they are: a tree that is empty takes a batch for half the work. */
const BATCH_CHARS: number = 8 * 1024 * 1024
const BATCH_DOCUMENTS = 20_000
const PIECE_BYTES: number = 1024 * 1024

type Write = (
  documents: readonly JsonDocument[],
) => Promise<readonly ({ readonly error: PannierError } | { readonly id: string })[]>

interface Head {
  readonly sequence: ReplicationSequence
  readonly documents: number
}

/**
 * Nothing of a part is written before its checksum matches, and nothing counts as loaded before the end mark.
 * @throws PANNIER_PEER_UNREACHABLE for an incomplete or damaged file. What was written until then equals the source;
 *   replicating in the usual way still works.
 */
export async function loadReplica(
  stream: ReadableStream<Uint8Array>,
  write: Write,
  onProgress: (progress: SnapshotProgress) => void,
  signal: AbortSignal,
): Promise<SnapshotLoaded> {
  const parts = new PartReader()
  const lines = new JsonLines()
  const failed = new Set<unknown>()
  let head: Head | undefined
  let end: ReplicaPart['end']
  let batch: JsonDocument[] = []
  let batchChars = 0
  let documents = 0
  let revisions = 0
  let lastId: unknown
  const flush = async (): Promise<void> => {
    const inBatch = batch
    batch = []
    batchChars = 0
    if (inBatch.length === 0) return
    throwIfCancelled(signal, 'The replication')
    const outcomes = await write(inBatch)
    outcomes.forEach((outcome, at) => void ('error' in outcome && failed.add(inBatch[at]!['_id'])))
    onProgress({ documents: documents - failed.size, documentsTotal: head!.documents })
  }
  const take = async (part: ReplicaPart): Promise<void> => {
    if (end !== undefined) throw damaged()
    end = part.end
    for (const { value, chars } of checked(() => lines.push(part.bytes))) {
      if (!isPlainObject(value)) throw damaged()
      if (head === undefined) {
        head = headOf(value)
        continue
      }
      if (value['_id'] !== lastId) documents++
      lastId = value['_id']
      revisions++
      batch.push(fromCouchDocument(value))
      batchChars += chars
      if (batchChars >= BATCH_CHARS || batch.length >= BATCH_DOCUMENTS) await flush()
    }
  }
  for await (const chunk of bytesOf(stream)) {
    throwIfCancelled(signal, 'The replication')
    for (let at = 0; at < chunk.length; at += PIECE_BYTES)
      for (const part of checked(() => parts.push(chunk.subarray(at, at + PIECE_BYTES)))) await take(part)
  }
  const isWhole = end?.documents === documents && end.revisions === revisions && head?.documents === documents
  if (!isWhole || !parts.isAtEnd) throw damaged()
  await flush()
  return { sequence: head!.sequence, isComplete: failed.size === 0 }
}

function* checked<T>(values: () => Iterable<T>): Iterable<T> {
  try {
    yield* values()
  } catch (error) {
    throw damaged(error)
  }
}

function headOf({ format, version, update_seq, documents }: Record<string, unknown>): Head {
  if (format !== REPLICA_FORMAT || version !== REPLICA_VERSION || !isSequence(update_seq)) throw damaged()
  if (typeof documents !== 'number') throw damaged()
  return { sequence: update_seq, documents }
}

function damaged(cause?: unknown): PannierError {
  return new PannierError('PANNIER_PEER_UNREACHABLE', 'The snapshot is incomplete or damaged.', { cause })
}
