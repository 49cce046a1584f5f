/** Saves everything readable of one collection into a new database. */
import type { Key } from '../../base/brand.ts'
import { isPannierError } from '../../base/errors.ts'
import { sameBytes } from '../../codec/bytes.ts'
import { decodeIdKey, keyNumber } from '../../codec/key-encoding.ts'
import { decodeAttachments, type AttachmentEntry } from '../../document/attachments/attachment-section.ts'
import { BlobReader, chunkCount } from '../../document/attachments/blob-store.ts'
import { Md5 } from '../../document/attachments/md5.ts'
import { BodyView, readNumber } from '../../document/body.ts'
import { migrationFailuresTree, type PendingMigration, type CollectionState } from '../../document/catalog.ts'
import { DocumentReader, type StoredDocument } from '../../document/document-reader.ts'
import { decodeLocal, localTreeName } from '../../document/local-documents.ts'
import { RevisionReader } from '../../document/revision-reads.ts'
import type { HeldSnapshot } from '../../kv/key-value-store.ts'
import type { Salvage } from '../../kv/salvage.ts'
import type { Collection } from '../collection/collection.ts'
import type { Database } from '../database.ts'
import type { JsonObject } from '../collection/document-types.ts'
import type { LocalInput } from '../collection/local-collection.ts'
import { REPAIR_IDS_MAX, type RepairedCollection } from './repair-report.ts'
import type { LaterDocument } from './repair-from-log.ts'

const BATCH_DOCUMENTS = 500
const BATCH_BYTES: number = 4 * 1024 * 1024

export class CollectionRepair {
  readonly state: CollectionState
  readonly target: Collection<JsonObject>
  readonly #salvage: Salvage
  readonly #progress: (documents: number) => void
  readonly #saved = new Set<number>()
  readonly #report: { -readonly [Name in keyof RepairedCollection]: RepairedCollection[Name] }
  readonly #idsLost: string[] = []
  readonly #revisionsLost: string[] = []
  readonly #attachmentsLost: { id: string; name: string }[] = []
  readonly #indexesLost: string[] = []
  /** Ranges that are not migrated yet, by the sequences of the new database. */
  #pending: readonly PendingMigration[] = []
  #batch: StoredDocument[] = []
  #batchBytes = 0

  constructor(salvage: Salvage, target: Database, state: CollectionState, progress: (documents: number) => void) {
    this.#salvage = salvage
    this.state = state
    this.target = target.collection<JsonObject>(state.name)
    this.#progress = progress
    this.#report = {
      name: state.name,
      documents: 0,
      tombstones: 0,
      fromLaterCommits: 0,
      documentsLost: 0,
      idsLost: this.#idsLost,
      revisionsLost: this.#revisionsLost,
      attachmentsLost: this.#attachmentsLost,
      local: 0,
      indexesLost: this.#indexesLost,
    }
  }

  /** Makes the collection, with its settings. */
  async make(): Promise<void> {
    const { access } = this.target.declarations
    await access.write((transaction) => {
      access.writing.catalog.create(transaction, this.state.name, this.state.settings)
    })
  }

  async run(): Promise<void> {
    await this.make()
    await this.#takeBodies()
    await this.#listLost()
    await this.#takeLocal()
  }

  async takeLater(documents: ReadonlyMap<string, LaterDocument>): Promise<void> {
    for (const { document, body, snapshot, state } of documents.values()) {
      await this.#add(await this.#withAttachments(snapshot, state, body, document), body)
      this.#report.fromLaterCommits++
    }
    await this.#write()
  }

  /** Waits for the indexes; unique ones that the documents do not fit are dropped. */
  async build(database: Database): Promise<void> {
    const collection = database.collection<JsonObject>(this.state.name)
    try {
      await collection.ready()
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_NOT_UNIQUE')) throw error
    }
    const there = new Set((await collection.indexes()).map(({ name }) => name))
    for (const { name } of this.state.indexes) if (!there.has(name)) this.#indexesLost.push(name)
    const { documents, deleted } = await collection.info()
    this.#report.documents = documents
    this.#report.tombstones = deleted
  }

  report(): RepairedCollection {
    return this.#report
  }

  async #takeBodies(): Promise<void> {
    const { snapshot } = this.#salvage
    const { trees } = this.state
    const total = snapshot.tree(trees.bodies)?.count() ?? 0
    let read = 0
    const migration = new PendingMap(this.state.schema?.pending ?? [])
    const reached = async (): Promise<number> => {
      await this.#write()
      return (await this.target.info()).lastSeq
    }
    for await (const { key, value } of this.#salvage.entries(trees.bodies)) {
      const sequence = keyNumber(key)
      if (migration.isPassedBy(sequence)) migration.pass(sequence, await reached())
      if (await this.#takeBody(value, sequence)) read++
    }
    migration.pass(Infinity, await reached())
    this.#pending = migration.mapped()
    this.#report.documentsLost = Math.max(0, total - read)
  }

  /** False if it can't be read. */
  async #takeBody(value: Uint8Array, sequence: number): Promise<boolean> {
    const { snapshot } = this.#salvage
    const body = new BodyView()
    let leaves: readonly StoredDocument[]
    try {
      body.load(value.slice(), sequence)
      leaves = await this.#leaves(body)
      if (leaves.length === 0) return false
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_CORRUPT')) throw error
      return false
    }
    this.#saved.add(body.number)
    for (const leaf of leaves) {
      const isWinner = leaf._rev === body.revision
      await this.#add(isWinner ? await this.#withAttachments(snapshot, this.state, body, leaf) : leaf, body)
    }
    return true
  }

  /** The winner alone, without its history, where that can't be read. */
  async #leaves(body: BodyView): Promise<readonly StoredDocument[]> {
    const { snapshot } = this.#salvage
    const reader = new DocumentReader(snapshot, this.state)
    const revisions = new RevisionReader(reader)
    try {
      return await snapshot.attempt(() => revisions.leaves(body))
    } catch (error) {
      if (!isPannierError(error)) throw error
    }
    try {
      const there = await snapshot.attempt(() => revisions.leavesThere(body))
      // Stubs of attachments of others than the winner name nothing that is there.
      const leaves = there.map((leaf) => (leaf._rev === body.revision ? leaf : withoutAttachments(leaf)))
      if (there.length === 1 && !body.otherLeaves) return leaves
      this.#note(this.#revisionsLost, body.id)
      return leaves
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_CORRUPT')) throw error
    }
    this.#note(this.#revisionsLost, body.id)
    return [reader.decode(body)]
  }

  /** With those whose content is there, and is what its digest says. */
  async #withAttachments(
    snapshot: HeldSnapshot,
    { number }: CollectionState,
    body: BodyView,
    document: StoredDocument,
  ): Promise<StoredDocument> {
    if (body.attachments === undefined) return document
    const kept: [string, object][] = []
    const blobs = new BlobReader(snapshot, number)
    for (const entry of decodeAttachments(body.attachments)) {
      const data = await this.#content(snapshot, blobs, entry)
      if (data === undefined) this.#note(this.#attachmentsLost, { id: body.id, name: entry.name })
      else kept.push([entry.name, { contentType: entry.contentType, revpos: entry.revpos, data }])
    }
    const rest = withoutAttachments(document)
    return kept.length === 0 ? rest : { ...rest, _attachments: Object.fromEntries(kept) }
  }

  async #content(
    snapshot: HeldSnapshot,
    blobs: BlobReader,
    { blob, length, digest }: AttachmentEntry,
  ): Promise<Blob | undefined> {
    const pieces: Uint8Array<ArrayBuffer>[] = []
    const sum = new Md5()
    try {
      for (let index = 0; index < chunkCount(length); index++) {
        const [chunk] = await snapshot.attempt(() => blobs.chunksOf(blob, index, index + 1))
        sum.update(chunk!)
        pieces.push(chunk!.slice())
      }
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_CORRUPT')) throw error
      return undefined
    }
    return sameBytes(sum.digest(), digest) ? new Blob(pieces) : undefined
  }

  /** Lists ids of `ids` and `deleted` without a readable body. */
  async #listLost(): Promise<void> {
    const { trees } = this.state
    for (const tree of [trees.ids, trees.deleted])
      for await (const { key, value } of this.#salvage.entries(tree))
        if (!this.#saved.has(readNumber(value))) this.#note(this.#idsLost, decodeIdKey(key))
  }

  async #takeLocal(): Promise<void> {
    for await (const { key, value } of this.#salvage.entries(localTreeName(this.state.number))) {
      const document = readLocal(key, value)
      if (document === undefined || isCheckpoint(document)) continue
      await this.target.local.put(document as LocalInput)
      this.#report.local++
    }
  }

  /** Last: then writes ask for the schema. Documents keep the version that they have: what was not migrated yet is still to be. */
  async takeSchema(): Promise<void> {
    const { schema, name, number } = this.state
    if (schema === undefined) return
    const { access } = this.target.declarations
    const failures: { key: Key; value: Uint8Array }[] = []
    for await (const entry of this.#salvage.entries(migrationFailuresTree(number))) failures.push(entry)
    await access.write((transaction) => {
      const { catalog } = access.writing
      const current = catalog.collection(transaction, name)!
      catalog.change(transaction, current, { schema: { ...schema, pending: this.#pending } })
      if (failures.length === 0) return
      const tree = transaction.createTree(migrationFailuresTree(current.number), 'ordered')
      for (const { key, value } of failures) tree.put(key, value)
    })
  }

  async #add(document: StoredDocument, body: BodyView): Promise<void> {
    this.#batch.push(document)
    this.#batchBytes += body.bytes.length
    if (this.#batch.length >= BATCH_DOCUMENTS || this.#batchBytes >= BATCH_BYTES) await this.#write()
  }

  async #write(): Promise<void> {
    const documents = this.#batch
    this.#batch = []
    this.#batchBytes = 0
    this.#progress(documents.length)
    if (documents.length === 0) return
    const outcomes = await this.target.put(documents as JsonObject[], { newEdits: false, atomic: false })
    outcomes.forEach((outcome, at) => {
      if (!('error' in outcome)) return
      this.#report.documentsLost++
      this.#note(this.#idsLost, documents[at]!._id)
    })
  }

  #note<T>(list: T[], one: T): void {
    if (list.length < REPAIR_IDS_MAX) list.push(one)
  }
}

/** Bodies are written in the order of their sequences, but not under them: what a range of these becomes. */
class PendingMap {
  readonly #pending: readonly PendingMigration[]
  readonly #bounds: number[]
  readonly #mapped = new Map<number, number>()

  constructor(pending: readonly PendingMigration[]) {
    this.#pending = pending
    this.#bounds = [...new Set(pending.flatMap(({ after, upTo }) => [after, upTo]))].sort((a, b) => a - b)
  }

  isPassedBy(sequence: number): boolean {
    return this.#bounds.length > 0 && this.#bounds[0]! < sequence
  }

  /** Everything before `sequence` is written, up to `reached`. */
  pass(sequence: number, reached: number): void {
    while (this.isPassedBy(sequence)) this.#mapped.set(this.#bounds.shift()!, reached)
  }

  mapped(): PendingMigration[] {
    return this.#pending
      .map(({ after, upTo, from }) => ({ after: this.#mapped.get(after)!, upTo: this.#mapped.get(upTo)!, from }))
      .filter(({ after, upTo }) => after < upTo)
  }
}

/** Undefined if it can't be read. */
function readLocal(key: Key, value: Uint8Array): Record<string, unknown> | undefined {
  try {
    const { _rev, ...document } = decodeLocal(key, value)
    return document
  } catch (error) {
    if (!isPannierError(error, 'PANNIER_CORRUPT')) throw error
    return undefined
  }
}

function withoutAttachments({ _attachments, ...document }: StoredDocument): StoredDocument {
  return document as StoredDocument
}

/** Says that all up to some sequence is there, which is not so any more. Without it replication compares again. */
function isCheckpoint(document: Readonly<Record<string, unknown>>): boolean {
  return typeof document['session_id'] === 'string' && document['source_last_seq'] !== undefined
}
