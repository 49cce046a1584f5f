/** The file logic of OPFS over files of the system, for tests that kill real processes. */
import { closeSync, fstatSync, fsyncSync, ftruncateSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { constants } from 'node:fs'
import { join } from 'node:path'
import { FileDatabase } from '../../src/storage/opfs/file-database.ts'
import type { RawFile } from '../../src/storage/opfs/access-files.ts'

export function openInFolder(folder: string): FileDatabase {
  mkdirSync(folder, { recursive: true })
  const [pages, first, second] = ['pages', 'journal-a', 'journal-b'].map((name) => fileAt(join(folder, name)))
  return new FileDatabase({ pages: pages!, journals: [first!, second!] }, new Uint8Array(16).fill(7))
}

function fileAt(path: string): RawFile {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT)
  return {
    read: (into, at) => readSync(file, into, 0, into.length, at),
    write(bytes, at) {
      for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done, bytes.length - done, at + done)
    },
    flush: () => fsyncSync(file),
    truncate: (size) => ftruncateSync(file, size),
    size: () => fstatSync(file).size,
    close: () => closeSync(file),
  }
}
