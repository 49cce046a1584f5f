/** Reads a replica file (docs/replication.md) into an empty collection. Loaded with replication. */
import { throwIfAborted } from '../base/abort.ts'
import { PannierError } from '../base/errors.ts'
import { isPlainObject } from '../codec/collation.ts'
import type { JsonDocument, RevisionFailure, Sequence, SnapshotLoaded, SnapshotProgress } from '../replication/peer.ts'
import { bytesOf } from './byte-source.ts'
import { REPLICA_FORMAT, REPLICA_VERSION } from './export-replica.ts'
import { JsonLines } from './json-lines.ts'
import type { JsonLine } from './json-lines.ts'

/** Text of documents that are written at once, and how many they are: a tree that is empty takes a batch for half the work. */
const BATCH_CHARS: number = 8 * 1024 * 1024
const BATCH_DOCUMENTS = 20_000
const PIECE_BYTES: number = 1024 * 1024

type Write = (
  documents: readonly JsonDocument[],
) => Promise<readonly ({ readonly error: PannierError } | { readonly id: string })[]>

interface Head {
  readonly sequence: Sequence
  readonly documents: number
}

/**
 * Nothing counts as loaded before the end mark was read. @throws PANNIER_PEER_UNREACHABLE for a file that is cut off or damaged;
 * what was written until then stays, and is no hindrance to replicating in the usual way.
 */
export async function loadReplica(
  stream: ReadableStream<Uint8Array>,
  write: Write,
  onProgress: (progress: SnapshotProgress) => void,
  signal: AbortSignal,
): Promise<SnapshotLoaded> {
  const lines = new JsonLines()
  const failures: RevisionFailure[] = []
  let head: Head | undefined
  let end: unknown
  let batch: JsonDocument[] = []
  let batchChars = 0
  let count = 0
  let lastId: unknown
  const flush = async (): Promise<void> => {
    const documents = batch
    batch = []
    batchChars = 0
    if (documents.length === 0) return
    throwIfAborted(signal, 'The replication')
    const outcomes = await write(documents)
    outcomes.forEach((outcome, at) => {
      const { _id, _rev } = documents[at]!
      if ('error' in outcome) failures.push({ id: String(_id), rev: String(_rev), error: outcome.error })
    })
    onProgress({ documents: count, documentsTotal: Math.max(count, head!.documents) })
  }
  const take = async (chunk: Uint8Array): Promise<void> => {
    for (const { value, chars } of linesOf(lines, chunk)) {
      if (!isPlainObject(value) || end !== undefined) throw damaged()
      if (head === undefined) head = headOf(value)
      else if (value['end'] === true) end = value['documents']
      else {
        if (value['_id'] !== lastId) count++
        lastId = value['_id']
        batch.push(value)
        batchChars += chars
        if (batchChars >= BATCH_CHARS || batch.length >= BATCH_DOCUMENTS) await flush()
      }
    }
  }
  for await (const chunk of bytesOf(stream)) {
    throwIfAborted(signal, 'The replication')
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) await take(chunk.subarray(at, at + PIECE_BYTES))
  }
  await flush()
  if (head === undefined || end !== head.documents || count !== end || !lines.isAtEnd) throw damaged()
  return { sequence: head.sequence, failures }
}

function* linesOf(lines: JsonLines, chunk: Uint8Array): Iterable<JsonLine> {
  try {
    yield* lines.push(chunk)
  } catch {
    throw damaged()
  }
}

function headOf({ format, version, update_seq, documents }: Record<string, unknown>): Head {
  if (format !== REPLICA_FORMAT || version !== REPLICA_VERSION || update_seq === undefined) throw damaged()
  if (typeof documents !== 'number') throw damaged()
  return { sequence: update_seq, documents }
}

function damaged(): PannierError {
  return new PannierError('PANNIER_PEER_UNREACHABLE', 'The snapshot is cut off or damaged.')
}
