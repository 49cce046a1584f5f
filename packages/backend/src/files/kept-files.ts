/**
 * Files that the backend keeps beside records: thumbs, and notes about files in a bucket. A note is written before its content, so that a
 * crash leaves nothing that nobody knows. The sweeper deletes what belongs to no record any more.
 */
import type { Collection, Database } from 'pannier'
import type { JsonObject } from '../gateway/documents.ts'

/** The collection of files: no CouchDB database can have this name. */
const FILES_COLLECTION = '$files'
const CONTENT = 'content'
const STEP_DOCUMENTS = 200

/** The file of a record to which something belongs. */
export interface FileOwner {
  /** The id of the definition. */
  readonly collection: string
  readonly record: string
  readonly name: string
}

/** The note about a key. */
export interface KeptFile extends FileOwner {
  readonly key: string
  readonly modifiedMs: number
  /** Where the content is, if it is in a bucket. */
  readonly bucket?: string
  /** The digest of the attachment that a thumb was made from. */
  readonly madeOf?: string
}

/** The key of a file, as PocketBase has it in its folders and buckets. */
export function fileKey({ collection, record, name }: FileOwner): string {
  return `${collection}/${record}/${name}`
}

/** The prefix of the keys of all thumbs of a file. */
export function thumbKeys({ collection, record, name }: FileOwner): string {
  return `${collection}/${record}/thumbs_${name}/`
}

export function thumbKey(owner: FileOwner, size: string): string {
  return `${thumbKeys(owner)}${size}_${owner.name}`
}

export class KeptFiles {
  readonly #documents: Collection<JsonObject>
  /** False: the collection is empty. */
  #isUsed = false

  /** `isShared`: other servers may keep files too. */
  static async open(database: Database, isShared: boolean): Promise<KeptFiles> {
    const files = new KeptFiles(database)
    const { documents } = await files.#documents.info()
    files.#isUsed = isShared || documents > 0
    return files
  }

  private constructor(database: Database) {
    this.#documents = database.collection<JsonObject>(FILES_COLLECTION)
  }

  get isUsed(): boolean {
    return this.#isUsed
  }

  /** `content`: what is kept here, and not in a bucket. */
  async put(
    { key, ...facts }: KeptFile,
    content?: { readonly bytes: Uint8Array; readonly type: string },
  ): Promise<void> {
    this.#isUsed = true
    const attachments =
      content === undefined ? {} : { _attachments: { [CONTENT]: { data: content.bytes, contentType: content.type } } }
    await this.#documents.upsert({ _id: idOf(key), ...facts, ...attachments })
  }

  async get(key: string): Promise<KeptFile | undefined> {
    if (!this.#isUsed) return undefined
    const document = await this.#documents.get(idOf(key))
    return document && keptFile(document)
  }

  /** The content of a key. Undefined if it is not here. */
  async content(key: string): ReturnType<Collection<JsonObject>['getAttachment']> {
    return this.#documents.getAttachment(idOf(key), CONTENT)
  }

  /** Files whose keys begin with a text that ends in `/`; all for ''. */
  async *under(prefix: string): AsyncGenerator<KeptFile> {
    if (!this.#isUsed) return
    // `0` is the character after `/`.
    const $lt = idOf(prefix).replace(/\/$/, '0')
    for (let from: object = { $gte: idOf(prefix) }; ;) {
      const step = await this.#documents
        .find({ _id: { ...from, $lt } })
        .sort('_id')
        .limit(STEP_DOCUMENTS)
        .toArray()
      for (const document of step) yield keptFile(document)
      if (step.length < STEP_DOCUMENTS) return
      from = { $gt: step.at(-1)!['_id'] }
    }
  }

  async forget(key: string): Promise<void> {
    await this.#documents.purge(idOf(key))
  }
}

/** The library keeps ids that begin with `_` for itself. */
function idOf(key: string): string {
  return `/${key}`
}

function keptFile({ _id: id, _rev, _attachments, ...facts }: JsonObject): KeptFile {
  return { key: String(id).slice(1), ...facts } as KeptFile
}
