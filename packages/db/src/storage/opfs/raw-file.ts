/**
 * What the file logic needs of a file, and no more; synchronous. In a browser it is a `FileSystemSyncAccessHandle`, in tests a
 * file on a simulated disk.
 *
 * What may be relied on: bytes that were written, and sizes that were set, before a `flush` that returned survive a loss of power. Of
 * what was written since then any part may survive, in any order and torn anywhere. A file that grows without being written
 * reads as anything there.
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
  /** Of these one is current. */
  readonly journals: readonly [RawFile, RawFile]
}

/** All bytes of the range; fewer only where the file ends. */
export function readRange(file: RawFile, at: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  const count = file.read(bytes, at)
  return count === length ? bytes : bytes.subarray(0, count)
}
