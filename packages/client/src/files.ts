/** Files of records. Loaded with the first file. docs/internals/client.md is the contract. */
import type { Database, Transaction } from 'pannier'
import type { Environment } from 'pannier/types'
import { ClientError } from './client-error.ts'
import { unreachable, type Server } from './server.ts'
import { FILES, queueId, Store, type Queued, type Sendable } from './store.ts'
import {
  fieldOf,
  hasFiles,
  listOf,
  NEW_FILE,
  shownValues,
  withValues,
  written,
  type NamedRecord,
  type SentFiles,
  type SentWrite,
  type Values,
} from './writes.ts'

const CONTENT = 'content'
/** The most bytes of spare content that nothing waits for. */
const SPARE_BYTES_MAX = 64 * 1024 * 1024
/** A larger file of the server does not stay: it would take the place of many. */
const FETCHED_BYTES_MAX = SPARE_BYTES_MAX / 8

/** An upload that is slower than 16 KiB a second has failed. */
const SLOWEST_BYTES_PER_MS = 16

/** A file that is sent, or is about to be. */
type NewFile = SentFiles[string][number]

/** Content on this device: of a new file, by its part, or fetched from the server. */
interface StoredFile {
  readonly _id: string
  readonly bytes: number
  /** By the clock of the device: which goes first depends on it, and nothing else. */
  readonly savedAt: number
  /** The number (n) of the transaction that has brought it. */
  readonly n?: number
  /** The record that it was fetched for. */
  readonly of?: { readonly collection: string; readonly id: string; readonly name: string }
}

/** The write with its files beside its values. What is new is stored. `shown`: the record before it. `n`: of its transaction. */
export async function takeFiles(
  tx: Transaction,
  write: SentWrite,
  shown: Values | undefined,
  n: number,
  environment: Environment,
): Promise<SentWrite> {
  if (write.action === 'delete') return write
  const values: Record<string, unknown> = {}
  const files: Record<string, readonly NewFile[]> = {}
  for (const [given, asked] of Object.entries(shownValues(write))) {
    // The server does not know what is taken away, so what is left is sent.
    const isTaken = given.endsWith('-') && listOf(asked).some((one) => newFileOf(one) !== undefined)
    const key = isTaken ? fieldOf(given) : given
    const value = isTaken ? written(shown ?? {}, withValues(write, { [given]: asked }))![key] : asked
    const added: NewFile[] = []
    const kept: unknown[] = []
    for (const one of listOf(value)) {
      const file = one instanceof Blob ? await stored(tx, one, n, environment) : newFileOf(one)
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

async function stored(tx: Transaction, content: Blob, n: number, environment: Environment): Promise<NewFile> {
  const part = environment.randomId()
  await keep(tx, content, { _id: part, n, savedAt: environment.wallClock() })
  const name = content instanceof File ? content.name.replaceAll('/', '_') : ''
  // A form takes no file without a name, nor one that is a folder's.
  return { part, name: /^\.*$/.test(name) ? 'file' : name }
}

async function keep(tx: Transaction, content: Blob, file: Omit<StoredFile, 'bytes'>): Promise<void> {
  const _attachments = { [CONTENT]: { data: content } }
  await tx.collection(FILES).upsert({ ...file, bytes: content.size, _attachments })
}

/** The new file that a name stands for; undefined for a name of the server's. */
function newFileOf(name: unknown): NewFile | undefined {
  const [, part, file = ''] = NEW_FILE.exec(typeof name === 'string' ? name : '') ?? []
  return part === undefined ? undefined : { part, name: file }
}

/** The form of a push with files, and the time that it may take more. */
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
  return [form, Math.ceil(bytes / SLOWEST_BYTES_PER_MS)]
}

function filesOf(write: SentWrite): readonly NewFile[] {
  return write.action === 'delete' ? [] : Object.values(write.files ?? {}).flat()
}

async function contentOf(db: Database, id: string): Promise<Blob | undefined> {
  return await (await db.collection(FILES).getAttachment(id, CONTENT))?.blob()
}

/**
 * The transactions that may be sent now, at most `limit`, and the next transaction with files. Files may take long, so others go past
 * them. A transaction waits if it names a record that an earlier one writes, or writes a record that an earlier one names.
 */
export function besideFiles(waiting: readonly Queued[], limit: number): Sendable {
  const ready: Queued[] = []
  const blocked: Queued[] = []
  const [blockedIds, blockedTexts] = [new Set<string>(), new Set<string>()]
  for (const queued of waiting) {
    const { writes } = queued
    const [ids, texts] = [new Set(writes.map(({ id }) => id)), textsOf(writes)]
    const isNaming = [...ids].some((id) => blockedTexts.has(id)) || [...texts].some((text) => blockedIds.has(text))
    if (!isNaming && !writes.some(hasFiles)) ready.push(queued)
    else {
      blocked.push(queued)
      for (const id of ids) blockedIds.add(id)
      for (const text of texts) blockedTexts.add(text)
    }
  }
  return { ready: ready.slice(0, limit), upload: blocked[0] }
}

function textsOf(writes: readonly SentWrite[]): Set<string> {
  const texts = new Set<string>()
  JSON.stringify(writes, (_key, value: unknown) => {
    if (typeof value === 'string') texts.add(value)
    return value
  })
  return texts
}

/**
 * Deletes content that nothing names any more: of transactions that are forgotten, and of records that are not here. What the server has
 * taken stays for one that is restored, and what was fetched for a time without a network, up to `bytesMax`. The oldest goes first.
 */
export async function dropFiles(db: Database, bytesMax: number = SPARE_BYTES_MAX): Promise<void> {
  await db.transaction(async (tx) => {
    const store = new Store(tx)
    const files = tx.collection<StoredFile>(FILES)
    const used = [...(await store.queue.find({ touches: { $gt: '' } }).toArray()), ...(await store.undecided())]
    const named = new Set(used.flatMap(({ writes }) => writes.flatMap(filesOf)).map(({ part }) => part))
    let room = bytesMax
    for (const file of (await files.find().toArray()).toSorted(newestFirst)) {
      if (named.has(file._id)) continue
      if ((await isNamed(store, file)) && (room -= file.bytes) >= 0) continue
      await files.purge(file._id)
    }
  })
}

function newestFirst(one: StoredFile, other: StoredFile): number {
  return other.savedAt - one.savedAt || (other.n ?? 0) - (one.n ?? 0)
}

async function isNamed(store: Store, { of, n }: Pick<StoredFile, 'of' | 'n'>): Promise<boolean> {
  if (of === undefined) return n !== undefined && (await store.queue.get(queueId(n))) !== undefined
  const record = await store.records(of.collection).get(of.id)
  return Object.values(record ?? {}).some((value) => listOf(value).includes(of.name))
}

interface FileSource {
  readonly db: Database
  readonly server: Server
  readonly token: () => Promise<string | undefined>
  readonly signal: AbortSignal | undefined
}

/** The content of a file of a record. @throws ClientError PANNIER_NOT_FOUND, PANNIER_PEER_UNREACHABLE, PANNIER_SIGNED_OUT */
export async function fileOf(asked: FileSource, record: NamedRecord, name: string): Promise<Blob> {
  const { db, server } = asked
  const { collectionName: collection, id } = record
  const part = newFileOf(name)?.part
  const of = { collection, id, name }
  const file = { _id: part ?? `${collection}/${id}/${name}`, of, savedAt: server.environment.wallClock() }
  // A record that has left takes its files with it.
  const isHere = (await db.collections()).includes(collection) && (await isNamed(new Store(db), { of }))
  const known = part !== undefined || isHere ? await contentOf(db, file._id) : undefined
  if (known !== undefined) return known
  const content = await fetched(asked, of)
  if (isHere && content.size <= FETCHED_BYTES_MAX) await db.transaction((tx) => keep(tx, content, file))
  return content
}

async function fetched(source: FileSource, of: NonNullable<StoredFile['of']>): Promise<Blob> {
  const path = `/api/files/${[of.collection, of.id, of.name].map(encodeURIComponent).join('/')}`
  const { server, signal } = source
  const token = await source.token()
  let response = await answerTo(source, path)
  if (isRefused(response) && token !== undefined) {
    // A protected file is given to those who may see the record.
    const { token: once } = await server.send<{ token: string }>('POST /api/files/token', {}, { token, signal })
    response = await answerTo(source, `${path}?token=${once}`)
  }
  if (response.ok) return await response.blob().catch(unreachable)
  if (!isRefused(response)) return unreachable(response.status)
  throw new ClientError(
    'PANNIER_NOT_FOUND',
    `The server has no file "${of.name}" of the record "${of.id}", or does not show it.`,
  )
}

/** Content may take long. Its beginning may not. */
function answerTo({ server, signal }: FileSource, path: string): Promise<Response> {
  return server.inTime(0, signal, (ended) => server.open(`GET ${path}`, undefined, { signal: ended }))
}

function isRefused({ status }: Response): boolean {
  return status >= 400 && status < 429
}
