/** The files of a database in the origin's private file system. Only workers can open them. */
import { PannierError } from '../../base/errors.ts'
import type { ErrorCode } from '../../base/errors.ts'
import { FOLDER, folderName } from './folder.ts'
import type { DatabaseFiles, RawFile } from './raw-file.ts'

const FILE_NAMES = ['pages', 'journal-a', 'journal-b'] as const
/** Files of a tab that was just closed or killed may be locked a little longer. */
const LOCKED_MS_MAX = 10_000
const LOCKED_RETRY_MS = 20

/** A `FileSystemSyncAccessHandle`, which TypeScript knows in workers only. */
interface AccessHandle {
  readonly mode?: string
  read(into: Uint8Array, options: { readonly at: number }): number
  write(bytes: Uint8Array, options: { readonly at: number }): number
  flush(): void
  truncate(size: number): void
  getSize(): number
  close(): void
}

type MaybeAccess = FileSystemFileHandle & {
  createSyncAccessHandle(options: { readonly mode: 'readwrite-unsafe' }): Promise<AccessHandle>
}

export interface OpenFiles extends DatabaseFiles {
  /** Others may open the files meanwhile: whoever took them last has written so into them. */
  readonly isShared: boolean
  /** Writes who has taken them. */
  takeOver(token: Uint8Array): void
  close(): void
}

/** Undefined where there are none and none are to be created. `check` is called before anything is written. */
export async function openFiles(
  name: string,
  create: boolean,
  check: () => void,
  lockedMsMax: number = LOCKED_MS_MAX,
): Promise<OpenFiles | undefined> {
  const opened: AccessHandle[] = []
  try {
    const parent = await (await root()).getDirectoryHandle(FOLDER, { create })
    const folder = await parent.getDirectoryHandle(folderName(name), { create })
    const opening = FILE_NAMES.map(async (file, index) => {
      const handle = (await folder.getFileHandle(file, { create })) as MaybeAccess
      const access = await whileLocked(() => handle.createSyncAccessHandle({ mode: 'readwrite-unsafe' }), lockedMsMax)
      opened[index] = access
      return rawFile(access, check)
    })
    const [pages, first, second] = await allOf(opening)
    const isShared = opened.every((access) => access.mode === 'readwrite-unsafe')
    const takeOver = (token: Uint8Array): void => rawFile(opened[0]!, () => {}).write(token, 0)
    const close = (): void => opened.forEach((access) => access.close())
    return { pages: pages!, journals: [first!, second!], isShared, takeOver, close }
  } catch (error) {
    for (const access of opened) access.close()
    if (!create && (error as Error).name === 'NotFoundError') return undefined
    throw openError(error, name)
  }
}

/** Fine if there are none. `lockedMsMax`: how long to wait for whoever has them open. */
export async function deleteFiles(name: string, lockedMsMax: number = LOCKED_MS_MAX): Promise<void> {
  try {
    const parent = await (await root()).getDirectoryHandle(FOLDER)
    await whileLocked(() => parent.removeEntry(folderName(name), { recursive: true }), lockedMsMax)
  } catch (error) {
    if ((error as Error).name !== 'NotFoundError') throw openError(error, name)
  }
}

function root(): Promise<FileSystemDirectoryHandle> {
  const { storage } = navigator as { storage?: StorageManager }
  if (storage?.getDirectory === undefined || !('FileSystemSyncAccessHandle' in globalThis))
    throw new PannierError('PANNIER_UNAVAILABLE', 'The private file system is missing here.')
  return storage.getDirectory()
}

async function whileLocked<T>(open: () => Promise<T>, lockedMsMax: number): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += LOCKED_RETRY_MS) {
    try {
      return await open()
    } catch (error) {
      if ((error as Error).name !== 'NoModificationAllowedError' || waitedMs >= lockedMsMax) throw error
      await new Promise((resolve) => setTimeout(resolve, LOCKED_RETRY_MS))
    }
  }
}

/** As Promise.all, but it waits for the others when one fails. */
async function allOf<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises)
  return Promise.all(promises)
}

function rawFile(access: AccessHandle, check: () => void): RawFile {
  const attempt = <T>(operation: () => T): T => {
    try {
      return operation()
    } catch (error) {
      throw operationError(error)
    }
  }
  return {
    read: (into, at) => attempt(() => access.read(into, { at })),
    write(bytes, at) {
      check()
      const written = attempt(() => access.write(bytes, { at }))
      if (written !== bytes.length) throw noRoom()
    },
    flush: () => attempt(() => access.flush()),
    truncate(size) {
      check()
      attempt(() => access.truncate(size))
    },
    size: () => attempt(() => access.getSize()),
    close: () => access.close(),
  }
}

function openError(error: unknown, name: string): PannierError {
  if (error instanceof PannierError) return error
  const [code, what] = openFailure((error as Error).name)
  return new PannierError(code, `The database '${name}' can't be opened: ${what}.`, { cause: error })
}

function openFailure(name: string): [ErrorCode, string] {
  switch (name) {
    case 'SecurityError':
    case 'NotAllowedError':
    case 'NotSupportedError':
    case 'InvalidStateError':
      return ['PANNIER_UNAVAILABLE', 'this page may not store files (private mode, or storage is disabled)']
    case 'QuotaExceededError':
      return ['PANNIER_QUOTA_EXCEEDED', 'there is no room left']
    case 'NoModificationAllowedError':
      return ['PANNIER_BLOCKED', 'another tab keeps its files open and does not let go']
    default:
      return ['PANNIER_OPEN_FAILED', 'the browser failed to open its files']
  }
}

function operationError(error: unknown): PannierError {
  // Firefox has no name for it when a file is made longer.
  if ((error as Error).name === 'QuotaExceededError' || /NO_DEVICE_SPACE/.test(String(error))) return noRoom(error)
  return new PannierError('PANNIER_IO', `The browser failed to read or write a file: ${String(error)}.`, {
    cause: error,
  })
}

function noRoom(cause?: unknown): PannierError {
  return new PannierError('PANNIER_QUOTA_EXCEEDED', 'The storage of this page is full.', { cause })
}
