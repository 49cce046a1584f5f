/**
 * Limits the bytes of one database (`limits.databaseBytesMax`). A full database refuses writes. The content of
 * attachments counts while it comes. One write may exceed the limit by the JSON of its documents, which counts only
 * after it is stored.
 */
import { isObject } from 'pannier/internal'
import type { Collection } from 'pannier'
import { isLocalId } from './documents.ts'
import type { JsonObject } from './documents.ts'
import { ServiceError } from './service-error.ts'

/** Replication checkpoints and deletions may use a tenth more, so that a full database can be replicated and emptied. */
const RESERVE = 1.1
const LOOK_AGAIN_BYTES: number = 1024 * 1024

/** The quota limits what each database may take. */
export class Quota {
  readonly #bytesMax: number
  /** Content that is not stored yet, by name of the database. */
  readonly #coming = new Map<string, number>()

  constructor(bytesMax: number = Infinity) {
    this.#bytesMax = bytesMax
  }

  /** For one write: what it brings counts until it leaves. */
  enter(name: string, collection: Collection<JsonObject>): Room {
    let own = 0
    const count = (bytes: number): number => {
      own += bytes
      const coming = (this.#coming.get(name) ?? 0) + bytes
      if (coming === 0) this.#coming.delete(name)
      else this.#coming.set(name, coming)
      return coming
    }
    return new Room(name, collection, this.#bytesMax, count, () => void count(-own))
  }
}

export class Room {
  readonly #name: string
  readonly #collection: Collection<JsonObject>
  readonly #bytesMax: number
  /** Adds bytes; returns all bytes that are coming to the database. */
  readonly #count: (bytes: number) => number
  readonly leave: () => void

  constructor(
    name: string,
    collection: Collection<JsonObject>,
    bytesMax: number,
    count: (bytes: number) => number,
    leave: () => void,
  ) {
    this.#name = name
    this.#collection = collection
    this.#bytesMax = bytesMax
    this.#count = count
    this.leave = leave
  }

  /** The documents, with attachments that are counted as they are read. @throws ServiceError QUOTA_EXCEEDED; so does reading them */
  async admit(documents: readonly JsonObject[]): Promise<readonly JsonObject[]> {
    if (this.#bytesMax === Infinity || documents.length === 0) return documents
    const isReserved = documents.every(({ _id, _deleted }) => isLocalId(_id) || _deleted === true)
    const bytesMax = isReserved ? this.#bytesMax * RESERVE : this.#bytesMax
    await this.#check(this.#count(0), bytesMax)
    return documents.map((document) => {
      const { _attachments } = document
      if (!isObject(_attachments)) return document
      const attachments = Object.entries(_attachments).map(([name, one]) => [name, this.#counted(one, bytesMax)])
      return { ...document, _attachments: Object.fromEntries(attachments) }
    })
  }

  #counted(attachment: unknown, bytesMax: number): unknown {
    if (!isObject(attachment)) return attachment
    const { data } = attachment
    if (typeof data !== 'object' || data === null || !(Symbol.asyncIterator in data)) return attachment
    return { ...attachment, data: this.#pieces(data as AsyncIterable<Uint8Array>, bytesMax) }
  }

  async *#pieces(pieces: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Uint8Array> {
    let unseen = 0
    for await (const piece of pieces) {
      const coming = this.#count(piece.length)
      unseen += piece.length
      if (unseen >= LOOK_AGAIN_BYTES || coming > bytesMax) {
        unseen = 0
        await this.#check(coming, bytesMax)
      }
      yield piece
    }
  }

  async #check(coming: number, bytesMax: number): Promise<void> {
    const { storedBytes = 0 } = await this.#collection.info()
    if (storedBytes + coming < bytesMax) return
    throw new ServiceError(
      'QUOTA_EXCEEDED',
      `The database '${this.#name}' is full: it may take ${this.#bytesMax} bytes. Delete what is not needed, or raise its quota (pannier serve --quota).`,
    )
  }
}
