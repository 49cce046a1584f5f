/** Storages that stand for several (`firstOf`): resolves them to one before use. */
import { defaultStorage } from '#default-storage'
import { throwIfCancelled } from '../../base/long-work.ts'
import { badArgument } from '../../base/options.ts'
import type { Credential } from '../../storage/encrypted/slots.ts'
import type { DatabaseStorage, PageStore } from '../../storage/page-store.ts'

/** A database that `firstOf` has found, beside another one of that name. */
export interface FoundDatabase {
  /** The storage with which `open` opens this database. */
  readonly storage: DatabaseStorage
  /** How many commits were ever made to it. */
  readonly commits: number
}

/** The last argument of `firstOf`. */
export interface FirstOfOptions {
  /** Several storages have a database of that name: gives the one to open. The first has the most commits. The others stay as they are. */
  readonly onSeveral?: (found: readonly FoundDatabase[]) => FoundDatabase
}

export interface StorageChoice extends DatabaseStorage {
  /** The storage that has the database, or is to have it. */
  choose(name: string, how: ChooseOptions): Promise<ChosenStorage>
}

export interface ChooseOptions {
  /** Opens the database, if it is encrypted. */
  readonly encryption?: Credential
  readonly signal?: AbortSignal | undefined
}

export interface ChosenStorage {
  readonly storage: DatabaseStorage
  /** Keeps the database where it is, until the caller has it open and closes this. */
  readonly held: PageStore
}

export function isChoice(storage: DatabaseStorage): storage is StorageChoice {
  return 'choose' in storage
}

/** Runs `work` with the storage that has the database, or is to have it. */
export async function inStorage<T>(
  call: string,
  name: string,
  options: { readonly storage?: DatabaseStorage } & ChooseOptions,
  work: (storage: DatabaseStorage) => Promise<T>,
): Promise<T> {
  const { storage = defaultStorage(), signal } = options
  if (typeof storage?.open !== 'function') throw badArgument(call, 'storage must be a storage like memory()', storage)
  throwIfCancelled(signal, 'The opening')
  if (!isChoice(storage)) return work(storage)
  const chosen = await storage.choose(name, options)
  try {
    return await work(chosen.storage)
  } finally {
    await chosen.held.close()
  }
}
