/** The content of files of records: attachments, or objects of the bucket that the settings name. Thumbs are where their original is. */
import type { Attachment, Database } from 'pannier'
import { LruMap } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { availableParallelism } from 'node:os'
import type { Definition } from '../definitions/definition.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { holdsFiles, typeOfField } from '../fields/field-types.ts'
import type { NewFile } from '../fields/new-file.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { missing, ServiceError } from '../gateway/service-error.ts'
import { errorText, LOG_LEVELS, type LogWriter } from '../gateway/log-entry.ts'
import { WorkQueue } from '../gateway/work-queue.ts'
import type { Settings } from '../settings/settings.ts'
import { bucketOf, type Bucket } from './bucket.ts'
import type { ByteRange, FileHead } from './file-place.ts'
import { FileSweeper } from './file-sweeper.ts'
import { fileKey, KeptFiles, thumbKey, type FileOwner } from './kept-files.ts'
import { makeThumb, NoSharp, NoThumb, PICTURE_BYTES_MAX, PICTURE_TYPES } from './make-thumb.ts'
import { attachmentIn, fileNames } from './record-content.ts'

/** Content that can be read, also in parts. */
export interface Content extends Pick<FileHead, 'size' | 'type' | 'modifiedMs'> {
  stream(range?: ByteRange): Promise<AsyncIterable<Uint8Array>>
}

interface FilesHost {
  readonly database: Database
  readonly fleet: Fleet
  readonly definitions: Definitions
  readonly settings: Settings
  readonly environment: Environment
  readonly logs: LogWriter
}

/** Thumbs that wait; the next request gets the original. */
const WAITING_MAX = 256
const HOPELESS_MAX = 10_000
/** No key is empty. */
const EVERY_KEY = ''

export class RecordFiles {
  readonly #host: FilesHost
  readonly #kept: KeptFiles
  readonly #sweeper: FileSweeper
  readonly #bucket: () => Bucket | undefined
  /** Thumbs that are being made, by key. */
  readonly #making = new Map<string, Promise<Content>>()
  readonly #makers = new WorkQueue(
    { concurrencyMax: Math.max(1, availableParallelism() - 1), waitingMax: WAITING_MAX },
    () => new ServiceError('UNAVAILABLE', 'Too many thumbs are being made.'),
  )
  /** Keys of thumbs that can't be, with the originals. */
  readonly #hopeless = new LruMap<string, true>(HOPELESS_MAX)

  static async open(host: FilesHost): Promise<RecordFiles> {
    return new RecordFiles(host, await KeptFiles.open(host.database, host.fleet.id !== ''))
  }

  private constructor(host: FilesHost, kept: KeptFiles) {
    const { settings, environment } = host
    this.#host = host
    this.#kept = kept
    this.#bucket = bucketOf(settings, environment)
    this.#sweeper = new FileSweeper({ ...host, kept, bucket: this.#bucket })
  }

  /** Undefined if the content is nowhere. */
  async open(definition: Definition, record: JsonObject, name: string): Promise<Content | undefined> {
    const attachment = attachmentIn(record, name)
    if (attachment === undefined) {
      const bucket = this.#bucket()
      return bucket && objectIn(bucket, fileKey(ownerOf(definition, record, name)))
    }
    const { _id: id, _rev: rev } = record as { readonly _id: string; readonly _rev: string }
    const found = await this.#host.definitions.records(definition).getAttachment(id, name, { rev })
    if (found === undefined) return undefined
    return contentOf(found, modifiedMsOf(definition, record))
  }

  /** A thumb, made if need be. Undefined if it can't be made: the log has the reason. */
  async openThumb(
    definition: Definition,
    record: JsonObject,
    name: string,
    size: string,
    original: Content,
  ): Promise<Content | undefined> {
    if (!PICTURE_TYPES.includes(original.type)) return undefined
    const owner = ownerOf(definition, record, name)
    const key = thumbKey(owner, size)
    const flight = flightOf(key, record, name)
    if (this.#hopeless.get(flight) || this.#hopeless.get(EVERY_KEY)) return undefined
    try {
      return (await this.#storedThumb(record, name, key)) ?? (await this.#sharedThumb(owner, record, size, original))
    } catch (error) {
      this.#thumbFailed(error, flight)
      return undefined
    }
  }

  /**
   * Puts new files of a record into the bucket, if there is one. Call `release` when the record is written, or not: what it does not
   * name goes again.
   */
  async store(
    definition: Definition,
    record: string,
    files: readonly NewFile[],
  ): Promise<{ readonly names: ReadonlySet<string>; release(): void } | undefined> {
    const bucket = this.#bucket()
    if (bucket === undefined || files.length === 0) return undefined
    const owners = files.map(({ name }) => ({ collection: definition.id, record, name }))
    const letGo = this.#sweeper.hold(owners.map(fileKey))
    const release = (): void => {
      letGo()
      this.#sweeper.sweep(`${definition.id}/${record}/`)
    }
    try {
      for (const [at, owner] of owners.entries()) {
        const file = files[at]!
        const key = fileKey(owner)
        await this.#kept.put({ key, ...owner, bucket: bucket.id, modifiedMs: this.#host.environment.wallClock() })
        await bucket.place.put(key, file.stream(), file.type)
      }
    } catch (error) {
      release()
      this.#host.logs.write({ level: LOG_LEVELS.error, message: `A file was not stored. ${(error as Error).message}` })
      throw new ServiceError('UNAVAILABLE', 'The place of the files does not take them now. Try again later.', {
        cause: error,
      })
    }
    return { names: new Set(owners.map(({ name }) => name)), release }
  }

  /** Notes what a record has in the bucket since before it was ours, so that a change of the record can delete it. */
  async adopt(definition: Definition, id: string): Promise<void> {
    const bucket = this.#bucket()
    if (bucket === undefined || !definition.fields.some(holdsFiles)) return
    const record = await this.#host.definitions.records(definition).get(id)
    if (record === undefined) return
    for (const name of fileNames(definition, record)) {
      const owner = ownerOf(definition, record, name)
      const key = fileKey(owner)
      if (attachmentIn(record, name) !== undefined || (await this.#kept.get(key)) !== undefined) continue
      await this.#kept.put({ key, ...owner, bucket: bucket.id, modifiedMs: this.#host.environment.wallClock() })
    }
  }

  /** Resolves when nothing is left to delete. */
  settled(): Promise<void> {
    return this.#sweeper.settled()
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#making.values())
    await this.#sweeper.close()
  }

  async #storedThumb(record: JsonObject, name: string, key: string): Promise<Content | undefined> {
    const digest = attachmentIn(record, name)?.digest
    if (digest === undefined) return objectIn(this.#bucket()!, key)
    const kept = await this.#kept.get(key)
    // The original may have been replaced under its name.
    if (kept === undefined || kept.madeOf !== digest) return undefined
    const found = await this.#kept.content(key)
    return found && contentOf(found, kept.modifiedMs)
  }

  /** Makes a thumb once, also for requests that come at the same time. */
  #sharedThumb(owner: FileOwner, record: JsonObject, size: string, original: Content): Promise<Content> {
    const key = thumbKey(owner, size)
    const digest = attachmentIn(record, owner.name)?.digest
    const flight = flightOf(key, record, owner.name)
    const running = this.#making.get(flight)
    if (running !== undefined) return running
    const made = this.#makers
      .run(() => this.#makeThumb(owner, key, size, original, digest))
      .finally(() => this.#making.delete(flight))
    this.#making.set(flight, made)
    return made
  }

  async #makeThumb(
    owner: FileOwner,
    key: string,
    size: string,
    original: Content,
    digest: string | undefined,
  ): Promise<Content> {
    if (original.size > PICTURE_BYTES_MAX) throw new NoThumb(`The picture has ${original.size} bytes.`)
    const { bytes, type } = await makeThumb(await bytesOf(original), size)
    const modifiedMs = this.#host.environment.wallClock()
    const bucket = this.#bucket()
    if (digest !== undefined) await this.#kept.put({ key, ...owner, modifiedMs, madeOf: digest }, { bytes, type })
    else if (bucket !== undefined) {
      await this.#kept.put({ key, ...owner, modifiedMs, bucket: bucket.id })
      await bucket.place.put(key, bytes, type)
    }
    // The record may have gone meanwhile.
    this.#sweeper.sweep(`${owner.collection}/${owner.record}/`)
    return {
      size: bytes.length,
      type,
      modifiedMs,
      stream: async (range) => piece(bytes.subarray(range?.start, range?.end)),
    }
  }

  #thumbFailed(error: unknown, key: string): void {
    const what = error instanceof NoSharp ? 'Pictures have no thumbs' : `There is no thumb ${key}`
    const message = `${what}, so the original is served. ${errorText(error)}`
    this.#host.logs.write({ level: LOG_LEVELS.warn, message })
    if (!(error instanceof NoThumb)) return
    // Nobody makes the server try again and again.
    this.#hopeless.set(error instanceof NoSharp ? EVERY_KEY : key, true)
  }
}

/** The original may be replaced under its name. */
function flightOf(key: string, record: JsonObject, name: string): string {
  return `${key} ${attachmentIn(record, name)?.digest}`
}

function ownerOf({ id }: Definition, { _id: record }: JsonObject, name: string): FileOwner {
  return { collection: id, record: String(record), name }
}

async function objectIn({ place }: Bucket, key: string): Promise<Content | undefined> {
  const head = await place.head(key)
  if (head === undefined) return undefined
  const stream = async (range?: ByteRange): Promise<AsyncIterable<Uint8Array>> => {
    const content = await place.get(key, range)
    if (content === undefined) throw missing('')
    return content
  }
  return { ...head, stream }
}

function contentOf(attachment: Attachment, modifiedMs: number): Content {
  const { length: size, contentType: type } = attachment
  return { size, type, modifiedMs, stream: async (range) => attachment.stream(range) }
}

/** When the record was written, as it says itself. A file does not change under its name. */
function modifiedMsOf({ fields, updated }: Definition, record: JsonObject): number {
  const dates = fields.flatMap((field) => (typeOfField(field).isAutomatic ? [record[field.name]] : []))
  const times = dates.flatMap((date) => (typeof date === 'string' && date !== '' ? [timeOf(date)] : []))
  return times.length === 0 ? timeOf(updated) : Math.max(...times)
}

function timeOf(date: string): number {
  return Date.parse(date.replace(' ', 'T')) || 0
}

async function bytesOf(content: Content): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  for await (const bytes of await content.stream()) pieces.push(bytes)
  return Buffer.concat(pieces)
}

async function* piece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
