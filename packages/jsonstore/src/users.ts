/** The users who have a store, so that all stores can be destroyed: a small database, which is never encrypted. */
import { open } from 'pannier'
import type { Database, OpenOptions } from 'pannier'

interface User {
  readonly _id: string
}

export async function rememberUser(registry: string, options: OpenOptions, username: string): Promise<void> {
  await withRegistry(registry, options, (database) => database.collection<User>('users').upsert({ _id: username }))
}

export async function forgetUser(registry: string, options: OpenOptions, username: string): Promise<void> {
  await withRegistry(registry, options, (database) => database.collection<User>('users').delete(username))
}

export function users(registry: string, options: OpenOptions): Promise<string[]> {
  return withRegistry(registry, options, async (database) => {
    const rows = await database.collection<User>('users').find().toArray()
    return rows.map(({ _id }) => _id)
  })
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
