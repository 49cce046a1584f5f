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
import type { Database } from './database.ts'
import type { MoveOptions } from './move-options.ts'
import { open } from './open.ts'

/** Where the database is now. */
export interface MoveSource {
  readonly name: string
  readonly storage: Storage
  readonly store: KeyValueStore
}

/** So often another one may write while the database is copied; then it is copied anew. */
const ATTEMPTS_MAX = 10

export async function moveDatabase(
  database: Pick<Database, 'snapshot' | 'close' | 'encryption'>,
  source: MoveSource,
  target: Storage,
  work: MoveOptions,
): Promise<void> {
  const { name, storage } = source
  if (target.identify(name) === storage.identify(name)) throw new TypeError('that is where the database is')
  if (database.encryption && !work.encryption) {
    const message =
      'The database is encrypted: to be moved it needs a password or key again, as the option `encryption`.'
    throw new PannierError('PANNIER_ENCRYPTED', message)
  }
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const copied = await sequenceAfterTurn(source.store)
    if (await moveOnce(source, copied, database.snapshot(work), target, work)) return database.close()
  }
  throw new PannierError('PANNIER_LIMIT', `Others wrote to the database whenever it was copied, ${ATTEMPTS_MAX} times.`)
}

/** False if somebody wrote meanwhile. */
async function moveOnce(
  { name, storage, store }: MoveSource,
  copied: CommitSequence,
  snapshot: ReadableStream<Uint8Array>,
  target: Storage,
  { signal, onProgress, encryption }: MoveOptions,
): Promise<boolean> {
  const options = {
    ...(signal !== undefined && { signal }),
    ...(onProgress !== undefined && { onProgress }),
    ...(encryption !== undefined && { encryption }),
  }
  const copy = await open(name, { storage: target, from: snapshot, durability: 'strict', ...options })
  await copy.close()
  const turn = await store.begin()
  try {
    if (turn.sequence === copied) {
      await storage.destroy(name)
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
