/**
 * Keeps the snapshots that were sent last, for replicas that arrive one after another without a write in between. A
 * snapshot is identified by the collection's epoch and last sequence. Every change raises the sequence, even a purge,
 * so a stale snapshot is never found.
 */
import type { GuardedCollection } from '@pannier/backend'
import { LruMap } from 'pannier/internal'

/** Limit of all snapshots together, and of one. A larger one costs its reader more than it costs the server. */
const BYTES_MAX: number = 32 * 1024 * 1024
const SNAPSHOT_BYTES_MAX: number = BYTES_MAX / 2

interface Kept {
  readonly state: string
  readonly chunks: readonly Uint8Array[]
}

type Exportable = Pick<GuardedCollection, 'name' | 'info' | 'exportReplica'>

export class SnapshotCache {
  /** By name of the collection. */
  readonly #kept = new LruMap<string, Kept>(BYTES_MAX)

  /** The collection as a replica file. */
  async *read(collection: Exportable, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const { name } = collection
    const { epoch, lastSeq } = await collection.info()
    const state = `${lastSeq}-${epoch}`
    const found = this.#kept.get(name)
    if (found?.state === state) {
      for (const chunk of found.chunks) {
        signal.throwIfAborted()
        yield chunk
      }
      return
    }
    this.#kept.delete(name)
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of collection.exportReplica(signal)) {
      bytes += chunk.length
      if (bytes <= SNAPSHOT_BYTES_MAX) chunks.push(chunk)
      else chunks.length = 0
      yield chunk
    }
    if (bytes <= SNAPSHOT_BYTES_MAX) this.#kept.set(name, { state, chunks }, bytes)
  }
}
