/**
 * Migrates the documents of a collection to the version that the code declares, while everybody who declares a version waits
 * (collection/store-access.ts).
 *
 * One small transaction raises the version, which shuts old code out in all tabs, and notes which bodies have which version:
 * ranges of sequence numbers. Then batches follow: documents are read from a snapshot, migrated and validated (which may take
 * its time), and written in one transaction that also moves the watermark, if nobody else has moved it meanwhile. So a
 * migration that ends in the midst, by a crash or a signal, goes on from there, and no document is migrated twice: what is
 * written gets a sequence number beyond those ranges. Whoever finds the watermark moved by another tab lets that one go on.
 */
import { throwIfAborted } from '../../base/abort.ts'
import type { Environment } from '../../base/environment.ts'
import { runSteps } from '../../base/steps.ts'
import { numberKey } from '../../codec/key-encoding.ts'
import type { Catalog } from '../../document/catalog.ts'
import {
  SCHEMA_VERSION_FIRST,
  type PendingMigration,
  type SchemaState,
  type CollectionState,
} from '../../document/collection-state.ts'
import { DocumentReader, existingTree } from '../../document/document-reader.ts'
import type { WriteContext } from '../../document/write-documents.ts'
import type { KeyValueStore, Snapshot, WriteTransaction } from '../../kv/key-value-store.ts'
import type { CollectionSchema } from './collection-schema.ts'
import { followMigration } from './follow-migration.ts'
import { applyMigrated, migrateDocument } from './migrate-documents.ts'
import type { MigratedDocument, OldDocument } from './migrate-documents.ts'
import { failuresTree, parseFailure } from './migration-failures.ts'
import type { RetryResult } from './migration-failures.ts'

export interface MigrationOptions {
  readonly store: KeyValueStore
  readonly catalog: Catalog
  readonly environment: Environment
  readonly schema: CollectionSchema
  readonly writing: WriteContext
  /** Aborting rejects with PANNIER_ABORTED; what was migrated by then stays, and is gone on from. */
  readonly signal: AbortSignal
  /** Called with the part that is done, 0 to 1. */
  readonly onProgress: ((done: number) => void) | undefined
}

/** What is in memory at once: of one batch. */
const BATCH_DOCUMENTS_MAX = 500
const BATCH_BYTES_MAX: number = 1024 * 1024
/** The thread is let go of this often. */
const SLICE_MS = 8
/** Lower than any sequence number. */
const NOTHING = -1

/** Resolves once the collection has the version that was declared (or is gone). */
export async function migrateCollection(options: MigrationOptions): Promise<void> {
  await raiseVersion(options)
  const migrator = new Migrator(options)
  await runSteps(
    () => migrator.step(),
    () => options.store.refresh(),
  )
}

/** Tries again what could not be migrated. */
export async function retryFailures(options: MigrationOptions): Promise<RetryResult> {
  const migrator = new Migrator(options)
  let migrated = 0
  let failed = 0
  for (let after = ''; ;) {
    const batch = await migrator.retryAfter(after)
    migrated += batch.migrated
    failed += batch.failed
    if (batch.last === undefined) break
    after = batch.last
  }
  options.onProgress?.(1)
  return { migrated, failed }
}

/** What is known of one batch before it is written. */
interface Batch {
  readonly state: CollectionState
  readonly documents: readonly OldDocument[]
}

class Migrator {
  readonly #options: MigrationOptions
  #sliceStart = 0
  /** Bodies to be migrated when it began. */
  #total: number | undefined

  constructor(options: MigrationOptions) {
    this.#options = options
  }

  /** Migrates one batch; false when there is nothing left to do. */
  async step(): Promise<boolean> {
    const { store, catalog, writing, environment, signal, onProgress } = this.#options
    this.#sliceStart = environment.now()
    await this.#pause()
    const batch = await store.read((snapshot) => this.#nextBatch(snapshot))
    if (batch === undefined) return false
    const { state, documents, segment, reached } = batch
    const migrated = await this.#migrate(documents)
    const pending = await store.write((transaction) => {
      const current = catalog.collection(transaction, writing.name)
      if (current?.number !== state.number || !isNext(current.schema, state.schema!.version, segment)) return undefined
      const grown = applyMigrated(transaction, writing, current, migrated)
      const [, ...later] = current.schema!.pending
      const rest = reached < segment.upTo ? [{ ...segment, after: reached }, ...later] : later
      catalog.setSchema(transaction, grown, { ...current.schema!, pending: rest })
      return rest
    })
    if (pending === undefined) {
      await followMigration(store, environment, signal, () => this.#position())
      return true
    }
    onProgress?.(pending.length === 0 ? 1 : await this.#doneShare())
    return pending.length > 0
  }

  /** Tries those again whose ids' keys come after `after`. `last` of the result: where to go on; undefined at the end. */
  async retryAfter(after: string): Promise<RetryResult & { readonly last: string | undefined }> {
    const { store, catalog, writing, environment } = this.#options
    this.#sliceStart = environment.now()
    const batch = await store.read((snapshot) => this.#failedBatch(snapshot, after))
    if (batch === undefined || batch.last === undefined) return { migrated: 0, failed: 0, last: undefined }
    const outcomes = await this.#migrate(batch.documents)
    await store.write((transaction) => {
      const current = catalog.collection(transaction, writing.name)
      if (current?.number === batch.state.number && current.schema?.version === batch.state.schema?.version)
        applyMigrated(transaction, writing, current, outcomes)
    })
    const failed = outcomes.filter(({ failure }) => failure !== undefined).length
    return { migrated: outcomes.length - failed, failed, last: batch.last }
  }

  async #migrate(documents: readonly OldDocument[]): Promise<MigratedDocument[]> {
    const migrated: MigratedDocument[] = []
    for (const document of documents) {
      migrated.push(await migrateDocument(this.#options.schema, document))
      await this.#pause()
    }
    return migrated
  }

  #nextBatch(snapshot: Snapshot): (Batch & { segment: PendingMigration; reached: number }) | undefined {
    const { catalog, writing } = this.#options
    const state = catalog.collection(snapshot, writing.name)
    // Newer code may have raised the version, and has all that is left to itself.
    if (state === undefined || !this.#options.schema.needsMigration(state, true)) return undefined
    const segment = state.schema?.pending[0]
    if (segment === undefined) return undefined
    this.#total ??= remaining(snapshot, state)
    const reader = new DocumentReader(snapshot, state)
    const documents: OldDocument[] = []
    const failures = failuresTree(snapshot, state)
    const cursor = reader.scan({ after: segment.after })
    for (let bytes = 0; documents.length < BATCH_DOCUMENTS_MAX && bytes < BATCH_BYTES_MAX;) {
      if (!cursor.next() || cursor.body.sequence > segment.upTo)
        return { state, documents, segment, reached: segment.upTo }
      const { body } = cursor
      const failure = failures?.get(body.key)
      const failed = failure && parseFailure(failure)
      const from = failed?.rev === body.revision ? failed.version : segment.from
      documents.push({ reader, bytes: body.bytes, sequence: body.sequence, from, hasFailed: failed !== undefined })
      bytes += body.bytes.length
    }
    return { state, documents, segment, reached: documents.at(-1)!.sequence }
  }

  #failedBatch(snapshot: Snapshot, after: string): (Batch & { last: string | undefined }) | undefined {
    const { catalog, writing } = this.#options
    const state = catalog.collection(snapshot, writing.name)
    const tree = state && failuresTree(snapshot, state)
    if (state === undefined || tree === undefined) return undefined
    const reader = new DocumentReader(snapshot, state)
    const documents: OldDocument[] = []
    let last: string | undefined
    const cursor = tree.cursor(after === '' ? {} : { gte: (after + '\0') as typeof cursor.key })
    while (documents.length < BATCH_DOCUMENTS_MAX && cursor.next()) {
      last = cursor.key
      const { rev, version } = parseFailure(cursor.value)
      const [number] = reader.numbersOf([cursor.key])
      const [body] = number === undefined ? [] : reader.bodiesOf([number])
      if (body?.revision === rev)
        documents.push({ reader, bytes: body.bytes, sequence: body.sequence, from: version, hasFailed: true })
    }
    return { state, documents, last }
  }

  async #doneShare(): Promise<number> {
    const { store, catalog, writing } = this.#options
    const left = await store.read((snapshot) => {
      const state = catalog.collection(snapshot, writing.name)
      return state === undefined ? 0 : remaining(snapshot, state)
    })
    return 1 - left / Math.max(this.#total ?? 0, left, 1)
  }

  /** Where the migration is, as text; undefined when it is done. */
  async #position(): Promise<string | undefined> {
    const { store, catalog, writing } = this.#options
    const schema = await store.read((snapshot) => catalog.collection(snapshot, writing.name)?.schema)
    return schema === undefined || schema.pending.length === 0 ? undefined : JSON.stringify(schema)
  }

  /** Lets others have the thread if it is time to. */
  async #pause(): Promise<void> {
    const { environment, signal } = this.#options
    throwIfAborted(signal, 'The migration')
    if (environment.now() - this.#sliceStart < SLICE_MS) return
    await environment.yield()
    this.#sliceStart = environment.now()
  }
}

/** Shuts older code out, and notes what is to be migrated. */
async function raiseVersion({ store, catalog, writing, schema }: MigrationOptions): Promise<void> {
  await store.write((transaction) => {
    const state = catalog.collection(transaction, writing.name)
    // Newer code, in another tab, may have come first.
    if (state === undefined || !schema.needsMigration(state, true)) return
    const known = state.schema ?? { version: SCHEMA_VERSION_FIRST, pending: [] }
    if (known.version === schema.version) return
    const raised = { version: schema.version!, pending: allPending(known, lastSequence(transaction, state)) }
    catalog.setSchema(transaction, state, raised)
  })
}

/** Everything up to `last`: what was pending before, and all the rest, which has the version before. */
function allPending({ version, pending }: SchemaState, last: number): PendingMigration[] {
  const all: PendingMigration[] = []
  let reached = NOTHING
  for (const segment of pending) {
    if (segment.after > reached) all.push({ after: reached, upTo: segment.after, from: version })
    all.push(segment)
    reached = segment.upTo
  }
  if (last > reached) all.push({ after: reached, upTo: last, from: version })
  return all
}

function lastSequence(transaction: WriteTransaction, state: CollectionState): number {
  const cursor = existingTree(transaction, state.trees.bodies).cursor({}, { reverse: true })
  return cursor.next() ? cursor.keyNumber : NOTHING
}

/** Whether that is still to be done, and to that version: newer code may have raised it. */
function isNext(schema: SchemaState | undefined, version: number, segment: PendingMigration): boolean {
  const next = schema?.pending[0]
  return (
    schema?.version === version &&
    next?.after === segment.after &&
    next.upTo === segment.upTo &&
    next.from === segment.from
  )
}

function remaining(snapshot: Snapshot, state: CollectionState): number {
  const bodies = existingTree(snapshot, state.trees.bodies)
  return (state.schema?.pending ?? []).reduce(
    (sum, { after, upTo }) => sum + bodies.count({ gte: numberKey(after + 1), lt: numberKey(upTo + 1) }),
    0,
  )
}
