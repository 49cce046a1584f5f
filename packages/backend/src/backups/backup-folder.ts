/** The place of backups on this machine: a folder with a file for each. */
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { randomText, type Chance } from '../gateway/chance.ts'
import { ageMs } from '../gateway/seen-clock.ts'
import type { ByteRange, FileContent, FileHead, FileInfo, FilePlace } from '../files/file-place.ts'

export const ZIP_TYPE = 'application/zip'

/** Files that have not come to their end begin so. Names of backups don't begin with a dot. */
const UNFINISHED = '.unfinished-'
const NAME_BYTES_MAX = 200
const PRIVATE_FOLDER = 0o700
const PRIVATE_FILE = 0o600

/** Whether a file of the folder can have the name. */
export function isBackupName(name: string): boolean {
  // eslint-disable-next-line no-control-regex
  return !/^\.|^$|[/\\\u0000-\u001f\u007f]/.test(name) && Buffer.byteLength(name) <= NAME_BYTES_MAX
}

export class BackupFolder implements FilePlace {
  readonly #folder: string
  readonly #chance: Chance

  constructor(folder: string, chance: Chance) {
    this.#folder = folder
    this.#chance = chance
  }

  async put(key: string, content: FileContent): Promise<void> {
    await rename(await this.keepUnfinished(content), this.pathOf(key))
  }

  /** A file that the next `clean` removes. */
  async keepUnfinished(content: FileContent): Promise<string> {
    await mkdir(this.#folder, { recursive: true, mode: PRIVATE_FOLDER })
    const path = join(this.#folder, UNFINISHED + randomText(this.#chance, 10))
    const file = await open(path, 'wx', PRIVATE_FILE)
    try {
      await file.writeFile(content)
      await file.sync()
    } catch (error) {
      await rm(path, { force: true })
      throw error
    } finally {
      await file.close()
    }
    return path
  }

  async head(key: string): Promise<FileHead | undefined> {
    if (!isBackupName(key)) return undefined
    const found = await missingAs(undefined, stat(this.pathOf(key)))
    if (found?.isFile() !== true) return undefined
    return { key, size: found.size, modifiedMs: found.mtimeMs, type: ZIP_TYPE }
  }

  async get(
    key: string,
    range: ByteRange = { start: 0, end: Infinity },
  ): Promise<AsyncIterable<Uint8Array> | undefined> {
    if ((await this.head(key)) === undefined) return undefined
    return fileBytes(this.pathOf(key), range)
  }

  async delete(key: string): Promise<void> {
    if (isBackupName(key)) await rm(this.pathOf(key), { force: true })
  }

  async *list(prefix: string): AsyncGenerator<FileInfo, void, undefined> {
    const names = await missingAs([], readdir(this.#folder))
    for (const name of names.filter((one) => one.startsWith(prefix)).sort()) {
      const found = await this.head(name)
      if (found !== undefined) yield found
    }
  }

  /** Removes what a process has left that was killed. */
  async clean(): Promise<void> {
    for (const name of await missingAs([], readdir(this.#folder)))
      if (name.startsWith(UNFINISHED)) await rm(join(this.#folder, name), { force: true })
  }

  pathOf(key: string): string {
    return join(this.#folder, key)
  }
}

/** `otherwise` for a file or folder that is missing. */
async function missingAs<T>(otherwise: T, reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return otherwise
    throw error
  }
}

/** The bytes of a file. It is opened when the first are asked for: nobody would close it if they never are. */
export async function* fileBytes(path: string, { start, end }: ByteRange): AsyncGenerator<Uint8Array, void, undefined> {
  if (start < end) yield* createReadStream(path, { start, end: end - 1 }) as AsyncIterable<Uint8Array>
}

/** `newest`: it was made now, whatever the clock says. Those of one moment are in the order of the times in their names. */
export function newestFirst(known: readonly FileInfo[], newest: string, nowMs: number): readonly FileInfo[] {
  const age = ({ key, modifiedMs }: FileInfo): number => (key === newest ? -Infinity : ageMs(nowMs, modifiedMs))
  return known.toSorted(
    (one, other) => age(one) - age(other) || other.modifiedMs - one.modifiedMs || (one.key < other.key ? 1 : -1),
  )
}
