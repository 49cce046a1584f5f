/** The copy that a move makes. An interrupted move leaves it beside the original. */
import { PannierError } from '../../base/errors.ts'
import { loadedModule } from '../../base/lazy-module.ts'
import { Hash128, HASH_BYTES } from '../../codec/hash.ts'
import { toHex } from '../../codec/bytes.ts'
import { decodeMeta } from '../../kv/meta-body.ts'
import { isUntouchedCopy } from '../../kv/restore-snapshot.ts'
import type { CheckReport } from '../check/check-database.ts'
import type { Credential } from '../../storage/encrypted/slots.ts'
import type { DatabaseStorage, PageStore, StoreState } from '../../storage/page-store.ts'

/** The id of a copy of that database, and of no other. */
export function copyId(databaseId: string): string {
  const hash = new Hash128()
  hash.reset()
  hash.update(new TextEncoder().encode(`moved ${databaseId}`))
  const digest = new Uint8Array(HASH_BYTES)
  hash.digest(digest, 0)
  return toHex(digest)
}

/** Whether that is a complete copy of the database, to which nobody has written. */
export function isCopyOf(copy: StoreState | undefined, databaseId: string): boolean {
  return copy !== undefined && isUntouchedCopy(copy) && decodeMeta(copy.meta!).databaseId === copyId(databaseId)
}

/** The state of a storage under that name; undefined without a database, or without a key for an encrypted one. */
export async function stateIn(
  storage: DatabaseStorage,
  name: string,
  encryption: Credential | undefined,
): Promise<StoreState | undefined> {
  // Opening an encrypted database where there is none makes one.
  const found = await stateOf(await storage.open(name))
  if (found.meta === undefined || (found.keyring && !encryption)) return undefined
  return encryption === undefined ? found : stateOf(await openWith(storage, name, encryption))
}

/** How many commits were made to that database, also to an encrypted one: they are numbered. */
export async function commitsIn(storage: DatabaseStorage, name: string): Promise<number> {
  const { meta, log } = await stateOf(await storage.open(name))
  return log.at(-1)?.sequence ?? meta?.sequence ?? 0
}

/** Opens the database there, and makes it if need be: encrypted where there is a key. */
export async function openWith(
  storage: DatabaseStorage,
  name: string,
  encryption: Credential | undefined,
): Promise<PageStore> {
  if (encryption === undefined) return storage.open(name)
  const { sealing } = await loadedModule(import('../encryption/encryption.ts'))
  return sealing(encryption, true).open(storage, name)
}

/** @throws PANNIER_CORRUPT: then the copy may be all that there is. */
export async function assertSound(original: { check(): Promise<CheckReport> }): Promise<void> {
  const [problem] = (await original.check()).problems
  if (problem !== undefined)
    throw new PannierError(
      'PANNIER_CORRUPT',
      `The database is damaged, and an interrupted move has left a copy: ${problem.message}`,
    )
}

async function stateOf(store: PageStore): Promise<StoreState> {
  try {
    return await store.read()
  } finally {
    await store.close()
  }
}
