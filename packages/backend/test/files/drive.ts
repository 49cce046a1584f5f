/** A backend with files, for tests: alone, or with a bucket. */
import { memory } from 'pannier/memory'
import { open, type Database } from 'pannier'

import type { Actor, RequestInfo } from '../../src/access/actor.ts'
import { openBackend, type Backend } from '../../src/backend.ts'
import type { Download } from '../../src/files/files.ts'
import type { S3Options } from '../../src/files/s3-place.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import type { LogEntry } from '../../src/gateway/log-entry.ts'
import { SYSTEM } from '../../src/gateway/principal.ts'
import type { RecordJson, UploadedFile } from '../../src/records/record-types.ts'
import { IN_THREAD } from '../test-model.ts'

const REQUEST: RequestInfo = { context: 'default', method: 'POST', query: {}, headers: {} }
export const ROOT: Actor = { principal: SYSTEM, request: REQUEST }

export interface Drive {
  readonly database: Database
  readonly backend: Backend
  readonly printed: LogEntry[]
  create(input: JsonObject, collection?: string): Promise<RecordJson>
  update(record: RecordJson, input: JsonObject): Promise<RecordJson>
  delete(record: RecordJson): Promise<void>
  /** Undefined if it is missing. */
  text(record: RecordJson, name: unknown): Promise<string | undefined>
  thumb(record: RecordJson, name: unknown, size: string): Promise<Download>
  /** What is kept beside records. */
  kept(): Promise<string[]>
  useBucket(s3: S3Options | undefined): Promise<void>
  close(): Promise<void>
}

const COLLECTIONS = [
  {
    name: 'posts',
    type: 'base',
    fields: [
      { name: 'title', type: 'text', max: 10 },
      { name: 'cover', type: 'file', maxSelect: 1, thumbs: ['70x50', '30x0'] },
      { name: 'files', type: 'file', maxSelect: 5, maxSize: 100_000 },
    ],
  },
  {
    name: 'comments',
    type: 'base',
    fields: [
      { name: 'post', type: 'relation', collectionId: 'POSTS', cascadeDelete: true, maxSelect: 1 },
      { name: 'image', type: 'file', maxSelect: 1 },
    ],
  },
]

export async function openDrive(given?: Database): Promise<Drive> {
  const database = given ?? (await open('drive', { storage: memory() }))
  const printed: LogEntry[] = []
  const backend = await openBackend(database, { modelHome: IN_THREAD, print: (entry) => printed.push(entry) })
  const { definitions, records, files, settings } = backend
  for (const collection of COLLECTIONS) {
    if (definitions.find(collection.name) !== undefined) continue
    const fields = collection.fields.map((field) =>
      'collectionId' in field ? { ...field, collectionId: definitions.get('posts').id } : field,
    )
    await definitions.create(SYSTEM, { ...collection, fields })
  }
  return {
    database,
    backend,
    printed,
    create: (input, collection = 'posts') => records.create(ROOT, collection, input),
    update: ({ id, collectionName }, input) => records.update(ROOT, String(collectionName), String(id), input),
    delete: ({ id, collectionName }) => records.delete(ROOT, String(collectionName), String(id)),
    async text({ id, collectionName }, name) {
      try {
        return await contentOf(await files.open(ROOT, String(collectionName), String(id), String(name)))
      } catch (error) {
        if ((error as { code?: unknown }).code === 'NOT_FOUND') return undefined
        throw error
      }
    },
    thumb: ({ id, collectionName }, name, thumb) =>
      files.open(ROOT, String(collectionName), String(id), String(name), { thumb }),
    async kept() {
      await files.settled()
      const rows = await database.collection<JsonObject>('$files').find().toArray()
      return rows.map(({ _id: id }) => String(id).slice(1)).sort()
    },
    async useBucket(s3) {
      await settings.update(SYSTEM, { s3: s3 === undefined ? { enabled: false } : { ...s3, enabled: true } })
    },
    async close() {
      await backend.close()
      if (given === undefined) await database.close()
    },
  }
}

export async function contentOf(file: Download): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of await file.stream()) pieces.push(piece)
  return Buffer.concat(pieces).toString('latin1')
}

export function upload(content: string | Uint8Array, name = 'a.txt'): UploadedFile {
  const blob = new Blob([Buffer.from(content)])
  return { name, size: blob.size, stream: () => blob.stream() }
}

export async function picture(width = 300, height = 200): Promise<UploadedFile> {
  const { default: sharp } = await import('sharp')
  const image = sharp({ create: { width, height, channels: 3, background: '#4488cc' } })
  return upload(await image.png().toBuffer(), 'picture.png')
}

/** As PocketBase has it. */
export function keyOf({ collectionId, id }: RecordJson, name: unknown): string {
  return `${String(collectionId)}/${String(id)}/${String(name)}`
}
