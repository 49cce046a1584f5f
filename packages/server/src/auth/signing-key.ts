/**
 * The key that signs session cookies: a file beside the database that only the server's account may read. Nobody can
 * make cookies from a copy, dump or replica of the database.
 */
import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from 'pannier/types'
import { FOR_OTHERS, writePrivate } from '../http/private-files.ts'

const FILE_NAME = 'pannier.session-key'
const KEY_BYTES = 32

/**
 * The key of the server whose database is in that folder. A missing key is created. If others could read it, a new one
 * replaces it, and all sessions end. For the one process that has the database open.
 */
export async function signingKeyIn(dir: string, environment: Environment): Promise<Buffer> {
  const file = join(dir, FILE_NAME)
  const found = await keyAt(file)
  if (found !== undefined) return found
  const key = newSigningKey(environment)
  await writePrivate(file, key)
  return key
}

/** For a server whose database is not in a folder of its own: sessions end with the process. */
export function newSigningKey(environment: Environment): Buffer {
  return Buffer.from(environment.randomBytes(KEY_BYTES))
}

/** Forgets the key, which ends all sessions: for a folder that gets another database, in which it may not be known who has logged out. */
export async function forgetSigningKey(dir: string): Promise<void> {
  await rm(join(dir, FILE_NAME), { force: true })
}

async function keyAt(file: string): Promise<Buffer | undefined> {
  try {
    if (((await stat(file)).mode & FOR_OTHERS) !== 0) return undefined
    const key = await readFile(file)
    return key.length === KEY_BYTES ? key : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
