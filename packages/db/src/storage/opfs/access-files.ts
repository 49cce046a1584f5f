/** The files of a database in the origin's private file system. Only workers can open them. */
import { PannierError, type ErrorCode } from '../../base/errors.ts'
import { FOLDER, folderName } from './folder.ts'

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
  /** True if other workers may open the files meanwhile; the last owner has written its token into them. */
  readonly isShared: boolean
  /** Takes over: writes who has taken them. */
  takeOver(token: Uint8Array): void
  close(): void
}

/** Undefined if the files don't exist and are not to be created. `check` is called before any write. */
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

/** Does nothing if they don't exist. `lockedMsMax`: how long to wait for a worker that has them open. */
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
  const convertErrors = <T>(operation: () => T): T => {
    try {
      return operation()
    } catch (error) {
      throw operationError(error)
    }
  }
  return {
    read: (into, at) => convertErrors(() => access.read(into, { at })),
    write(bytes, at) {
      check()
      const written = convertErrors(() => access.write(bytes, { at }))
      if (written !== bytes.length) throw noRoom()
    },
    flush: () => convertErrors(() => access.flush()),
    truncate(size) {
      check()
      convertErrors(() => access.truncate(size))
    },
    size: () => convertErrors(() => access.getSize()),
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
  return new PannierError('PANNIER_IO_FAILED', `The browser failed to read or write a file: ${String(error)}.`, {
    cause: error,
  })
}

function noRoom(cause?: unknown): PannierError {
  return new PannierError('PANNIER_QUOTA_EXCEEDED', 'The storage of this page is full.', { cause })
}

/**
 * The contract of a file for the file logic, and no more; synchronous. In a browser it is a `FileSystemSyncAccessHandle`, in tests a file
 * on a simulated disk.
 *
 * What may be relied on: bytes that were written, and sizes that were set, before a `flush` that returned survive a
 * loss of power. Any part of later writes may survive, in any order and torn anywhere. A file that grows without being
 * written reads as anything there.
 */
export interface RawFile {
  /** Reads as many bytes as there are from `at` on, up to the length of `into`; gives how many. */
  read(into: Uint8Array, at: number): number
  /** Writes all of the bytes, or throws. Grows the file. */
  write(bytes: Uint8Array, at: number): void
  flush(): void
  /** Shortens or lengthens the file. */
  truncate(size: number): void
  size(): number
  close(): void
}

/** The files of one database. */
export interface DatabaseFiles {
  /** Pages at whole blocks; the first block is not the file logic's own. */
  readonly pages: RawFile
  /** The two journals: one is current. */
  readonly journals: readonly [RawFile, RawFile]
}

/** All bytes of the range; fewer only where the file ends. */
export function readRange(file: RawFile, at: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  const count = file.read(bytes, at)
  return count === length ? bytes : bytes.subarray(0, count)
}
