/** Files of records. Loaded with the first file. docs/internals/client.md is the contract. */
import type { Database, Transaction } from 'pannier'
import { ClientError } from './client-error.ts'
import type { Server } from './server.ts'
import { FILES, Store } from './store.ts'
import {
  listOf,
  NEW_FILE,
  randomName,
  shownValues,
  withValues,
  type NamedRecord,
  type SentFiles,
  type SentWrite,
} from './writes.ts'

const CONTENT = 'content'

/** A file that is sent, or is about to be. */
type NewFile = SentFiles[string][number]

/** The write with its files beside its values. What is new is stored. */
export async function takeFiles(tx: Transaction, write: SentWrite): Promise<SentWrite> {
  if (write.action === 'delete') return write
  const values: Record<string, unknown> = {}
  const files: Record<string, readonly NewFile[]> = {}
  for (const [key, value] of Object.entries(shownValues(write))) {
    const added: NewFile[] = []
    const kept: unknown[] = []
    for (const one of listOf(value)) {
      const file = one instanceof Blob ? await stored(tx, one) : newFileOf(one)
      if (file === undefined) kept.push(one)
      else added.push(file)
    }
    if (added.length > 0) files[key] = added
    // A list stays one, and so does a value without files.
    if (added.length === 0) values[key] = value
    else if (Array.isArray(value)) values[key] = kept
  }
  return { ...withValues(write, values), files }
}

async function stored(tx: Transaction, content: Blob): Promise<NewFile> {
  const part = randomName()
  await tx.collection(FILES).insert({ _id: part, _attachments: { [CONTENT]: { data: content } } })
  const name = content instanceof File ? content.name : 'file'
  return { part, name: name.replaceAll('/', '_') }
}

/** What a name stands for that the server does not have. */
function newFileOf(name: unknown): NewFile | undefined {
  const [, part, file = ''] = NEW_FILE.exec(typeof name === 'string' ? name : '') ?? []
  return part === undefined ? undefined : { part, name: file }
}

/** What a push with files sends, and its bytes. */
export async function formOf(db: Database, body: object, writes: readonly SentWrite[]): Promise<[FormData, number]> {
  const form = new FormData()
  form.append('@jsonPayload', JSON.stringify(body))
  const files = new Map(writes.flatMap(filesOf).map((file) => [file.part, file]))
  let bytes = 0
  for (const { part, name } of files.values()) {
    const content = await contentOf(db, part)
    // Without it the server refuses the transaction, and no other.
    if (content === undefined) continue
    form.append(part, content, name)
    bytes += content.size
  }
  return [form, bytes]
}

function filesOf(write: SentWrite): readonly NewFile[] {
  return write.action === 'delete' ? [] : Object.values(write.files ?? {}).flat()
}

async function contentOf(db: Database, part: string): Promise<Blob | undefined> {
  return await (await db.collection(FILES).getAttachment(part, CONTENT))?.blob()
}

/** Deletes the content that no transaction names any more. */
export async function dropFiles(db: Database): Promise<void> {
  await db.transaction(async (tx) => {
    const { queue, rejected } = new Store(tx)
    const all = [...(await queue.find().toArray()), ...(await rejected.find().toArray())]
    const named = new Set(all.flatMap(({ writes }) => writes.flatMap(filesOf)).map(({ part }) => part))
    const files = tx.collection(FILES)
    for (const { _id } of await files.find().fields('_id').toArray())
      if (!named.has(String(_id))) await files.purge(String(_id))
  })
}

interface Asked {
  readonly db: Database
  readonly server: Server
  readonly token: () => Promise<string | undefined>
}

/** The content of a file of a record. @throws ClientError NOT_FOUND, UNREACHABLE */
export async function fileOf(
  { db, server, token }: Asked,
  { collectionName, id }: NamedRecord,
  name: string,
): Promise<Blob> {
  const waiting = newFileOf(name)
  const content = waiting && (await contentOf(db, waiting.part))
  if (content !== undefined) return content
  const path = `/api/files/${encodeURIComponent(collectionName)}/${id}/${encodeURIComponent(name)}`
  const held = await token()
  let response = await server.open(`GET ${path}`, undefined, {})
  if (!response.ok && held !== undefined) {
    // A protected file is given to those who may see the record.
    const { token: once } = await server.send<{ token: string }>('POST /api/files/token', {}, { token: held })
    response = await server.open(`GET ${path}?token=${once}`, undefined, {})
  }
  if (response.ok) return await response.blob()
  throw new ClientError('NOT_FOUND', `The server has no file "${name}" of the record "${id}", or does not show it.`)
}
