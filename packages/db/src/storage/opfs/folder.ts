/** Where the files of a database are. Of its own, as pages load it too, and no other code of the worker. */
import { PannierError } from '../../base/errors.ts'

/** Where the files of databases are in the origin's private file system: a folder in this one for each. */
export const FOLDER = 'pannier'

/** Names of folders on any system: of letters only small ones, as some take no notice of case. */
export function folderName(name: string): string {
  return name.replaceAll(/[^a-z0-9_-]/g, (char) => `%${char.charCodeAt(0).toString(16)}.`)
}

/** The errors of `getDirectory` where no page of the origin may keep files: no database is there. */
const NOT_ALLOWED: ReadonlySet<string> = new Set(['SecurityError', 'NotAllowedError', 'NotSupportedError'])

/** Whether there is a folder for it. Pages can ask that, too. */
export async function hasFolder(name: string): Promise<boolean> {
  try {
    const root = await navigator.storage.getDirectory()
    await (await root.getDirectoryHandle(FOLDER)).getDirectoryHandle(folderName(name))
    return true
  } catch (cause) {
    const { name: reason } = cause as Error
    if (reason === 'NotFoundError' || NOT_ALLOWED.has(reason)) return false
    throw new PannierError('PANNIER_OPEN_FAILED', 'The browser failed to read its private file system.', { cause })
  }
}
