/**
 * A store of attachments without collections: a document is only the section of its attachments, in a tree of its own.
 * For tests of the layers below documents.
 */
import type { Key } from '../src/base/brand.ts'
import { attach } from '../src/document/attachments/attach.ts'
import { BlobChanges } from '../src/document/attachments/blob-changes.ts'
import { checkAttachments } from '../src/document/attachments/attachment-input.ts'
import type { AttachmentInputs } from '../src/document/attachments/attachment-input.ts'
import { decodeAttachments } from '../src/document/attachments/attachment-section.ts'
import { Attachment } from '../src/document/attachments/attachment.ts'
import { BlobReader, chunkCount } from '../src/document/attachments/blob-store.ts'
import { BlobCheck } from '../src/document/attachments/check-blobs.ts'
import { reclaimUploads, UPLOAD_SILENCE_MS_MAX } from '../src/document/attachments/pending-uploads.ts'
import { AttachmentPreparation } from '../src/document/attachments/prepare.ts'
import type { UploadTarget } from '../src/document/attachments/upload.ts'
import type { HeldSnapshot, KeyValueStore } from '../src/kv/key-value-store.ts'
import { assertEqual } from './check.ts'

/** The number of the collection. */
export const COLLECTION = 1
const DOCUMENTS = 'documents'

export interface Clock {
  now: number
}

export class AttachmentStore {
  readonly target: UploadTarget
  readonly kv: KeyValueStore
  readonly clock: Clock

  constructor(
    kv: KeyValueStore,
    environment: Omit<UploadTarget['environment'], 'wallClock'>,
    clock: Clock = { now: 1_700_000_000_000 },
  ) {
    this.kv = kv
    this.clock = clock
    this.target = {
      environment: { ...environment, wallClock: () => clock.now },
      write: (run) => kv.write(run),
      snapshot: () => kv.snapshot(),
      create: () => COLLECTION,
      find: () => COLLECTION,
      closing: new AbortController().signal,
      live: new Set(),
    }
  }

  async put(id: string, attachments: AttachmentInputs, signal?: AbortSignal): Promise<void> {
    const checked = checkAttachments(attachments)
    const preparation = new AttachmentPreparation(this.target, signal)
    try {
      const prepared = await preparation.prepare(checked)
      await this.kv.write((transaction) => {
        const old = transaction.tree(DOCUMENTS)?.get(id as Key)
        const changes = new BlobChanges(transaction, COLLECTION)
        const section = attach(changes, prepared, { id, parents: old === undefined ? [] : [old], generation: 1 })
        if (old !== undefined) changes.remove(old)
        if (section !== undefined) changes.add(section)
        changes.load()
        const tree = transaction.tree(DOCUMENTS) ?? transaction.createTree(DOCUMENTS, 'ordered')
        if (section !== undefined) tree.put(id as Key, section)
        else if (old !== undefined) tree.remove(id as Key, old.length)
        changes.apply(transaction, COLLECTION)
      })
    } finally {
      await preparation.end()
    }
  }

  async get(id: string, name: string): Promise<Attachment | undefined> {
    const section = await this.kv.read((snapshot) => snapshot.tree(DOCUMENTS)?.get(id as Key))
    const entry = section && decodeAttachments(section).find((one) => one.name === name)
    return entry && new Attachment(entry, COLLECTION, async () => this.#open())
  }

  async ids(): Promise<string[]> {
    return await this.kv.read((snapshot) => {
      const cursor = snapshot.tree(DOCUMENTS)?.cursor()
      const ids: string[] = []
      while (cursor?.next() === true) ids.push(cursor.key)
      return ids
    })
  }

  async names(id: string): Promise<string[]> {
    const section = await this.kv.read((snapshot) => snapshot.tree(DOCUMENTS)?.get(id as Key))
    return section === undefined ? [] : decodeAttachments(section).map(({ name }) => name)
  }

  /** As if nobody else lived: uploads that are pending are of the dead. */
  async reclaim(): Promise<void> {
    this.clock.now += 2 * UPLOAD_SILENCE_MS_MAX
    await this.kv.write((transaction) => reclaimUploads(transaction, COLLECTION, this.clock.now, () => false))
  }

  /** Everything fits together; with `settled` there is nothing beside what documents refer to. */
  async check(settled: boolean): Promise<void> {
    const snapshot = this.kv.snapshot()
    try {
      const check = new BlobCheck()
      const blobs = new Map<number, number>()
      await snapshot.attempt(() => {
        blobs.clear()
        const cursor = snapshot.tree(DOCUMENTS)?.cursor()
        while (cursor?.next() === true)
          for (const { blob, length } of decodeAttachments(cursor.value)) blobs.set(blob, length)
      })
      for (const section of await sections(snapshot)) check.add(section)
      assertEqual(await check.run(snapshot, COLLECTION, () => undefined), [])
      if (!settled) return
      const reader = new BlobReader(snapshot, COLLECTION)
      const chunks = [...blobs.values()].reduce((sum, length) => sum + chunkCount(length), 0)
      assertEqual(reader.chunks?.count() ?? 0, chunks, 'chunks')
      // Each blob has its record and its digest; beside them stands the next number.
      const entries = reader.blobs?.count() ?? 0
      assertEqual(Math.max(0, entries - 1), 2 * blobs.size, 'entries of blobs')
    } finally {
      snapshot.release()
    }
  }

  #open(): { snapshot: HeldSnapshot; collectionNumber: number } & Pick<HeldSnapshot, 'attempt' | 'release'> {
    const snapshot = this.kv.snapshot()
    return {
      snapshot,
      collectionNumber: COLLECTION,
      attempt: (read) => snapshot.attempt(read),
      release: () => snapshot.release(),
    }
  }
}

async function sections(snapshot: HeldSnapshot): Promise<Uint8Array[]> {
  return await snapshot.attempt(() => {
    const cursor = snapshot.tree(DOCUMENTS)?.cursor()
    const found: Uint8Array[] = []
    while (cursor?.next() === true) found.push(cursor.value)
    return found
  })
}

/** Bytes that follow from a seed, as a stream would give them: in pieces of odd sizes. */
export async function* contentPieces(seed: number, length: number, pieceBytes = 100_003): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < length; at += pieceBytes) yield contentBytes(seed, Math.min(pieceBytes, length - at), at)
}

/** The bytes from `at` on. Each 256 KiB differs from the one before. */
export function contentBytes(seed: number, length: number, at = 0): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i++) bytes[i] = seed * 31 + (at + i) + ((at + i) >>> 8) * 7 + ((at + i) >>> 18) * 13
  return bytes
}
