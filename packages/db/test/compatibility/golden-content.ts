/** What is written down beside a golden database, and how that is read out of an open one. */
import { createHash } from 'node:crypto'
import { localCoordinator } from '../../src/database/coordination/local-coordinator.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import type { Collection, Database, JsonObject } from '../../src/index.ts'
import type { RevisionResult } from '../../src/types.ts'
import { toCouchDocument } from '../../src/document/attachments/couch-attachments.ts'
import { openKeyValueStore, type PagedKeyValueStore } from '../../src/kv/open.ts'
import type { TreeReader } from '../../src/kv/key-value-store.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'

export interface GoldenContent {
  readonly formatVersion: number
  readonly collections: readonly GoldenCollection[]
  /** Trees beside those of the collections. */
  readonly trees: readonly GoldenTree[]
}

export interface GoldenCollection {
  readonly name: string
  readonly indexes: readonly GoldenIndex[]
  /** In the order of their ids. */
  readonly documents: readonly GoldenDocument[]
  /** Of documents with several leaves: each with its history. */
  readonly leaves: readonly (readonly RevisionResult<JsonObject>[])[]
  /** Local documents. */
  readonly local: readonly unknown[]
  /** Digests of the content of all attachments. */
  readonly attachments: readonly string[]
}

export interface GoldenIndex {
  readonly name: string
  readonly fields: readonly { readonly path: string; readonly descending: boolean }[]
  readonly multi: boolean
  /** Digest of all ids in the order of the index; not of a multi index, which gives no order. */
  readonly order?: string
}

/** Small documents whole, large ones as a digest. */
export type GoldenDocument =
  | Readonly<Record<string, unknown>>
  | { readonly _id: string; readonly _rev: string; readonly sha256: string; readonly chars: number }

export interface GoldenTree {
  readonly name: string
  readonly entries: number
  /** Of all keys and values, in order. */
  readonly sha256: string
}

const DOCUMENT_CHARS_MAX = 400

/** Documents are in CouchDB's JSON. */
export async function goldenCollection(db: Database, name: string): Promise<GoldenCollection> {
  const collection = db.collection(name)
  const documents: GoldenDocument[] = []
  for await (const document of collection.find().sort('_id')) documents.push(goldenDocument(toCouchDocument(document)))
  const indexes: GoldenIndex[] = []
  for (const { name: index, fields, multi } of await collection.indexes()) {
    const sort = fields.map(({ path, descending }) => (descending ? `-${path}` : path))
    const ids = multi
      ? []
      : await collection
          .find()
          .sort(...sort)
          .fields('_id')
          .toArray()
    const order = sha256(ids.map(({ _id }) => _id).join('\n'))
    indexes.push({ name: index, fields, multi, ...(multi ? {} : { order }) })
  }
  const leaves: RevisionResult<JsonObject>[][] = []
  for (const { id } of await collection.conflicts())
    leaves.push((await collection.getRevisions(id, 'all', { revs: true })).map(goldenRevision))
  const local = await collection.local.list()
  return { name, indexes, documents, leaves, local, attachments: await attachmentDigests(collection) }
}

async function attachmentDigests(collection: Collection<JsonObject>): Promise<string[]> {
  const digests: string[] = []
  for await (const { _id, _attachments = {} } of collection.find().sort('_id')) {
    for (const name of Object.keys(_attachments)) {
      const attachment = await collection.getAttachment(_id, name)
      const content = await attachment!.bytes()
      digests.push(`${_id}/${name} ${createHash('sha256').update(content).digest('hex')}`)
    }
  }
  return digests
}

function goldenRevision(result: RevisionResult<JsonObject>): RevisionResult<JsonObject> {
  return 'ok' in result ? { ok: toCouchDocument(result.ok) } : result
}

function goldenDocument(document: Readonly<Record<string, unknown>>): GoldenDocument {
  const text = JSON.stringify(document)
  if (text.length <= DOCUMENT_CHARS_MAX) return document
  const { _id, _rev } = document as { _id: string; _rev: string }
  return { _id, _rev, sha256: sha256(text), chars: text.length }
}

export async function goldenTree(store: PagedKeyValueStore, name: string): Promise<GoldenTree> {
  return await store.read((snapshot) => {
    const tree = snapshot.tree(name)
    if (tree === undefined) throw new Error(`there is no tree ${name}`)
    return { name, entries: tree.count(), sha256: digestOf(tree) }
  })
}

function digestOf(tree: TreeReader): string {
  const hash = createHash('sha256')
  const cursor = tree.cursor()
  while (cursor.next()) {
    const { key, value } = cursor
    hash.update(`${key.length}:${value.length};`).update(key, 'latin1').update(value)
  }
  return hash.digest('hex')
}

/** The engine below a database, without collections. */
export async function openEngine(storage: DatabaseStorage, name: string): Promise<PagedKeyValueStore> {
  const environment = systemEnvironment()
  const coordinator = localCoordinator({ key: storage.identify(name), environment })
  const store = await storage.open(name)
  return openKeyValueStore({ store, coordinator, environment, durability: 'relaxed', cacheBytesMax: 2 ** 22 })
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
