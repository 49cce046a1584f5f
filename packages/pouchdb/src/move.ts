/** Moves a database of another adapter of PouchDB: copies it, compares, and only then deletes it. */
import type { JsonObject } from 'pannier'
import { BAD_REQUEST, createError, type PouchError } from 'pouchdb-errors'
import { errorKind } from './failures.ts'

interface Copying extends PromiseLike<unknown> {
  /** Called after each batch of documents. */
  on(event: 'change', listener: (result: { readonly last_seq: unknown }) => void): unknown
  /** Stops the replication. */
  cancel(): void
}

interface FoundRevisions {
  /** The id of the document. */
  readonly id: string
  /** A document for each revision, or an error. */
  readonly docs: readonly object[]
}

/** The methods of a PouchDB database that a move calls; `replicate` comes with the plug-in pouchdb-replication, and with `pouchdb`. */
export interface MovableDatabase {
  /** The name, for errors. */
  readonly name: string
  /** The methods of pouchdb-replication. */
  readonly replicate: {
    /** Copies what the target lacks. */
    to(target: MovableDatabase, options: object): Copying
  }
  /** The id that the database was made with. */
  id(): Promise<string>
  /** The facts of the database, with the newest sequence. */
  info(): Promise<{ readonly update_seq: unknown }>
  /** The change feed. */
  changes(options: object): PromiseLike<{
    readonly results: readonly { readonly id: string; readonly changes: readonly { readonly rev: string }[] }[]
    readonly last_seq: unknown
  }>
  /** Revisions with their content. */
  bulkGet(options: object): Promise<{ readonly results: readonly FoundRevisions[] }>
  /** Deletes the database. */
  destroy(): Promise<unknown>
}

/** Options of `movePouch`. */
export interface MoveOptions {
  /** Deletes the source when both are the same. False by default. */
  readonly deleteSource?: boolean
  /** Documents that are copied at a time, 500 by default. */
  readonly batchSize?: number
  /** Called with the part that is done, 0 to 1. */
  readonly onProgress?: (done: number) => void
  /** Stops the copy of documents. The next move continues where it was. */
  readonly signal?: AbortSignal
}

const BATCH = 500
/** The type of attachments whose type nobody gave. */
const DEFAULT_TYPE = 'application/octet-stream'
/** The copy is that part of a move, and the comparison is the rest. */
const COPY_PART = 0.8

/**
 * Copies all documents with their conflicts, tombstones and attachments, and compares the two databases. A move that was interrupted
 * continues where it was. Local documents (`_local/…`) stay behind, because no adapter lists them. So do the contents of replaced revisions.
 *
 * @throws PouchDB's errors. `not_the_same`: a document is not the same in both, as the source was written meanwhile, say. Nothing is deleted
 *   then.
 * @example
 * const old = new PouchDB('shop', { adapter: 'idb' })
 * const db = new PouchDB('shop', { adapter: 'pannier' })
 * await movePouch(old, db, { deleteSource: true, onProgress: (done) => show(done) })
 */
export async function movePouch(
  source: MovableDatabase,
  target: MovableDatabase,
  options: MoveOptions = {},
): Promise<void> {
  const { batchSize = BATCH, deleteSource = false, signal } = options
  signal?.throwIfAborted()
  if ((await source.id()) === (await target.id())) throw sameDatabase(source)
  const { update_seq: end } = await source.info()
  const report = reporter(options.onProgress, Number(end))
  const copying = source.replicate.to(target, { batch_size: batchSize, style: 'all_docs' })
  const stop = (): void => copying.cancel()
  signal?.addEventListener('abort', stop)
  copying.on('change', ({ last_seq: sequence }) => report(Number(sequence), 0, COPY_PART))
  try {
    await copying
    signal?.throwIfAborted()
    await compare(source, target, batchSize, (sequence) => {
      signal?.throwIfAborted()
      report(sequence, COPY_PART, 1)
    })
  } finally {
    signal?.removeEventListener('abort', stop)
  }
  if (deleteSource) await destroy(source, target)
  options.onProgress?.(1)
}

/** PouchDB says to all databases of a name that they were destroyed. So a target of the same name does not listen meanwhile. */
async function destroy(source: MovableDatabase, target: MovableDatabase): Promise<void> {
  const pouch = target.constructor as unknown as { emit(event: string, value: unknown): void }
  if (source.name !== target.name) return void (await source.destroy())
  pouch.emit('unref', target)
  await source.destroy()
  pouch.emit('ref', target)
  pouch.emit('created', target.name)
}

/** Reports never fall, and are below 1 until all is done. */
function reporter(
  onProgress: MoveOptions['onProgress'],
  end: number,
): (sequence: number, from: number, to: number) => void {
  let last = 0
  return (sequence, from, to) => {
    const done = from + (to - from) * (end > 0 ? Math.min(sequence / end, 0.999) : 0)
    if (!(done > last)) return
    last = done
    onProgress?.(done)
  }
}

/** All leaves of the source are in the target, with the same content. */
async function compare(
  source: MovableDatabase,
  target: MovableDatabase,
  limit: number,
  onBatch: (sequence: number) => void,
): Promise<void> {
  let since: unknown = 0
  for (;;) {
    const { results, last_seq: sequence } = await source.changes({ since, limit, style: 'all_docs' })
    if (results.length === 0) return
    const docs = results.flatMap(({ id, changes }) => changes.map(({ rev }) => ({ id, rev })))
    const [theirs, ours] = await Promise.all([contentsOf(source, docs), contentsOf(target, docs)])
    for (const { id, rev } of docs) {
      const content = theirs.get(nameOf(id, rev))
      if (content === undefined || content !== ours.get(nameOf(id, rev))) throw notTheSame(target, id)
    }
    since = sequence
    onBatch(Number(sequence))
  }
}

/** The contents of revisions, by the id and the revision. */
async function contentsOf(db: MovableDatabase, docs: readonly object[]): Promise<Map<string, string>> {
  const { results } = await db.bulkGet({ docs })
  const contents = new Map<string, string>()
  for (const { ok: document } of results.flatMap((result) => result.docs) as readonly { readonly ok?: JsonObject }[])
    if (document !== undefined) contents.set(nameOf(document['_id'], document['_rev']), contentOf(document))
  return contents
}

function nameOf(id: unknown, rev: unknown): string {
  return JSON.stringify([id, rev])
}

/**
 * As JSON: names of fields keep their order, except those that adapters add. IndexedDB keeps numbers that JSON does not have, and PouchDB
 * says null for them elsewhere. Of attachments, the digest and the type tell all.
 */
function contentOf({ _id, _rev, _deleted, _attachments: attachments, ...content }: JsonObject): string {
  const stubs = Object.entries((attachments ?? {}) as Readonly<Record<string, JsonObject>>)
  const attached = stubs.map(([name, { digest, content_type: type }]) =>
    JSON.stringify([name, digest, type || DEFAULT_TYPE]),
  )
  return JSON.stringify([_deleted === true, content, attached.toSorted()])
}

function sameDatabase({ name }: MovableDatabase): PouchError {
  const reason = `movePouch(): the source and the target are both '${name}' of one adapter. Name the old adapter in the options of the source.`
  return createError(BAD_REQUEST, reason)
}

function notTheSame({ name }: MovableDatabase, id: string): PouchError {
  const kind = errorKind(409, 'not_the_same', 'The copy differs from its source')
  return createError(kind, `The document '${id}' of '${name}' is another one in the source. Move again.`)
}
