/**
 * Moves a database from one storage to another. Loaded when it is asked for.
 *
 * Guarantees: what is deleted at the end has been copied to its last commit: between the comparison and the end nobody else can write. A
 * move that fails, or is cut off, leaves the source as it is; cut off in the last moment, it leaves a complete copy beside it.
 */
import type { CommitSequence } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import type { KeyValueStore } from '../kv/key-value-store.ts'
import type { Storage } from '../storage/page-store.ts'
import type { LongWork } from './byte-stream.ts'
import { open } from './open.ts'

export interface Move {
  readonly name: string
  readonly source: Storage
  readonly target: Storage
  /** Of the source, open. */
  readonly store: KeyValueStore
  readonly snapshot: () => ReadableStream<Uint8Array>
}

/** So often another one may write while the database is copied; then it is copied anew. */
const ATTEMPTS_MAX = 10

export async function moveDatabase(move: Move, work: LongWork): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) if (await moveOnce(move, work)) return
  throw new PannierError('PANNIER_LIMIT', `Others wrote to the database whenever it was copied, ${ATTEMPTS_MAX} times.`)
}

/** False if somebody wrote meanwhile. */
async function moveOnce({ name, source, target, store, snapshot }: Move, work: LongWork): Promise<boolean> {
  const { signal, onProgress } = work
  const copied = await sequenceAfterTurn(store)
  const options = { ...(signal !== undefined && { signal }), ...(onProgress !== undefined && { onProgress }) }
  const copy = await open(name, { storage: target, from: snapshot(), durability: 'strict', ...options })
  await copy.close()
  const turn = await store.begin()
  try {
    if (turn.sequence === copied) {
      await source.destroy(name)
      return true
    }
  } finally {
    turn.rollback()
  }
  await target.destroy(name)
  return false
}

/** As of when everything that was asked for before is written. */
async function sequenceAfterTurn(store: KeyValueStore): Promise<CommitSequence> {
  const turn = await store.begin()
  turn.rollback()
  return turn.sequence
}
