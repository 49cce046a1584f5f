/** Gives only the server's account access to its folders and files: a reader of the database file has all its data. */
import { chmod, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

const PRIVATE_FOLDER = 0o700
export const PRIVATE_FILE = 0o600
/** Permissions of group and others. On Windows the mode always has all bits, so the check is off. */
export const FOR_OTHERS: number = process.platform === 'win32' ? 0 : 0o077

/** Makes the folder if it is missing. An existing one stays as it is: it may be meant to hold other things too. */
export async function makePrivateFolder(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: PRIVATE_FOLDER })
}

/** The file has this content or what it had before, whenever the process or the machine ends. */
export async function writePrivate(file: string, content: string | Uint8Array): Promise<void> {
  const unfinished = `${file}.unfinished`
  await rm(unfinished, { force: true })
  const handle = await open(unfinished, 'wx', PRIVATE_FILE)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(unfinished, file)
}

/**
 * Takes the files from group and others, where an earlier version or a careless copy has left them to these.
 * Gives what the operator should know.
 */
export async function makePrivate(dir: string, names: readonly string[]): Promise<string[]> {
  const warnings: string[] = []
  if ((await modeForOthers(dir)) !== 0)
    warnings.push(`Other accounts of this machine can enter the folder ${dir}: chmod 700 ${dir}`)
  for (const name of names) {
    const file = join(dir, name)
    if ((await modeForOthers(file)) === 0) continue
    try {
      await chmod(file, PRIVATE_FILE)
      warnings.push(`Other accounts of this machine could open ${file} until now. They can't any more.`)
    } catch (error) {
      warnings.push(`Other accounts of this machine can open ${file}: ${(error as Error).message}`)
    }
  }
  return warnings
}

/** 0 also for what is not there. */
async function modeForOthers(path: string): Promise<number> {
  try {
    return (await stat(path)).mode & FOR_OTHERS
  } catch {
    return 0
  }
}
