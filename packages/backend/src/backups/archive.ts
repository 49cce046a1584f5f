/** Backups as zip files: snapshots of the databases, under the names that PocketBase has for the same. */
import type { Readable } from 'node:stream'
import type { Database } from 'pannier'
import { openPromise, type Entry, type ZipFile } from 'yauzl'
import { ZipFile as ZipWriter } from 'yazl'
import { handedStream } from '../gateway/handed-stream.ts'

/** The databases of a server, by their names in the archive. */
export interface Databases {
  readonly 'data.db': Database
  readonly 'auxiliary.db': Database
}

export type DatabaseName = keyof Databases

/** PocketBase keeps files there. Here they are in the database. */
const STORAGE = 'storage/'
const NAMES: readonly string[] = ['data.db', 'auxiliary.db']
const ENTRIES_MAX = 1000

/** The bytes of an archive. Each database is as it is when its turn comes; writes continue. */
export async function* archiveOf(databases: Databases, now: Date): AsyncGenerator<Uint8Array, void, undefined> {
  const zip = new ZipWriter()
  const opened: Readable[] = []
  // yazl has the stream, but its type does not say so.
  const output = zip.outputStream as Readable
  zip.on('error', (error: Error) => output.destroy(error))
  zip.addEmptyDirectory(STORAGE, { mtime: now })
  for (const [name, database] of Object.entries(databases) as [DatabaseName, Database][])
    zip.addReadStreamLazy(name, { mtime: now, mode: 0o100600, forceZip64Format: true }, (found) => {
      // The writer of the archive does not listen.
      const stream = handedStream(database.snapshot(), (error) => output.destroy(error))
      opened.push(stream)
      found(null, stream)
    })
  zip.end()
  try {
    for await (const piece of output) yield piece as Uint8Array
  } finally {
    for (const stream of opened) stream.destroy()
  }
}

/** An archive whose entries were checked. */
export class Archive {
  readonly #zip: ZipFile
  readonly #entries: ReadonlyMap<string, Entry>

  /** @throws Error that says what is wrong with it */
  static async open(path: string): Promise<Archive> {
    const zip = await openPromise(path, { lazyEntries: true, autoClose: false, strictFileNames: true })
    try {
      return new Archive(zip, await entriesOf(zip))
    } catch (error) {
      zip.close()
      throw error
    }
  }

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip
    this.#entries = entries
  }

  /** The bytes when unpacked, as the archive says. Reading fails where an entry has more. */
  get unpackedBytes(): number {
    let bytes = 0
    for (const { uncompressedSize } of this.#entries.values()) bytes += uncompressedSize
    return bytes
  }

  has(name: DatabaseName): boolean {
    return this.#entries.has(name)
  }

  /** Nothing is read before the first bytes are asked for: yauzl's stream tells damage once, and only to those who listen by then. */
  async *read(name: DatabaseName): AsyncGenerator<Uint8Array, void, undefined> {
    const stream = await this.#zip.openReadStreamPromise(this.#entries.get(name)!)
    // It may find damage when nobody reads it any more: that must not end the process.
    stream.on('error', () => {})
    yield* stream as AsyncIterable<Uint8Array>
  }

  close(): void {
    this.#zip.close()
  }
}

/** Only what `archiveOf` writes. */
async function entriesOf(zip: ZipFile): Promise<Map<string, Entry>> {
  if (zip.entryCount > ENTRIES_MAX) throw new Error(`it has ${zip.entryCount} entries, more than ${ENTRIES_MAX}`)
  const entries = new Map<string, Entry>()
  for await (const entry of zip.eachEntry()) {
    const { fileName } = entry
    if (fileName === STORAGE) continue
    if (!NAMES.includes(fileName))
      throw new Error(`it has ${JSON.stringify(fileName)}, which no backup of this server has`)
    if (entries.has(fileName)) throw new Error(`it has ${fileName} twice`)
    if (entry.isEncrypted()) throw new Error(`${fileName} is encrypted by the archive`)
    entries.set(fileName, entry)
  }
  if (!entries.has('data.db')) throw new Error('it has no data.db')
  return entries
}
