/** The users who have a store, so that all stores can be destroyed: a small database, which is never encrypted. */
import { open } from 'pannier'
import type { Database, OpenOptions } from 'pannier'

export interface User {
  /** The name, as its id. */
  readonly _id: string
  /** For an encrypted store: the approximate number of bytes at its last close. */
  readonly size?: number
}

export async function rememberUser(registry: string, options: OpenOptions, user: User): Promise<void> {
  await withRegistry(registry, options, (database) => database.collection<User>('users').upsert(user))
}

export async function forgetUser(registry: string, options: OpenOptions, username: string): Promise<void> {
  await withRegistry(registry, options, (database) => database.collection<User>('users').delete(username))
}

export function users(registry: string, options: OpenOptions): Promise<User[]> {
  return withRegistry(registry, options, (database) => database.collection<User>('users').find().toArray())
}

async function withRegistry<R>(
  registry: string,
  options: OpenOptions,
  work: (database: Database) => Promise<R>,
): Promise<R> {
  const database = await open(registry, options)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}
