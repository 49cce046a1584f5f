/**
 * Migrates the documents of a collection to the declared version, while all handles that declare a version wait
 * (collection/store-access.ts).
 *
 * One small transaction raises the version, which keeps out old code in all tabs. It also records which ranges of
 * sequences have which version. Then batches follow: documents are read from a snapshot, migrated and validated,
 * however long that takes. One transaction writes them and moves the watermark, unless another handle has moved it. So
 * an interrupted migration continues from there. No document is migrated twice, because a written document gets a
 * sequence beyond those ranges. A handle that finds the watermark moved by another tab leaves the work to that tab.
 */
import type { Environment } from '../../base/environment.ts'
import { eitherSignal, runInSteps, throwIfCancelled, type LongWork, type RunningWork } from '../../base/long-work.ts'
import { checkOptions, type OptionNames } from '../../base/options.ts'
import { numberKey } from '../../codec/key-encoding.ts'
import {
  type Catalog,
  SCHEMA_VERSION_FIRST,
  type PendingMigration,
  type SchemaState,
  type CollectionState,
} from '../../document/catalog.ts'
import { DocumentReader, existingTree } from '../../document/document-reader.ts'
import type { WriteContext } from '../../document/write-documents.ts'
import type { KeyValueStore, Snapshot, WriteTransaction } from '../../kv/key-value-store.ts'
import type { DatabaseContext } from '../database-context.ts'
import type { CollectionSchema } from './collection-schema.ts'
import { applyMigrated, migrateDocument, type MigratedDocument, type OldDocument } from './migrate-documents.ts'
import { failuresTree, listFailures, parseFailure } from './migration-failures.ts'
import type { MigrationFailure, RetryResult } from './migration-failures.ts'

/** A cancelled migration keeps what was migrated, and continues from there. */
interface MigrationOptions extends LongWork {
  readonly store: KeyValueStore
  readonly catalog: Catalog
  readonly environment: Environment
  readonly schema: CollectionSchema
  readonly writing: WriteContext
  readonly signal: AbortSignal
}

type Parts = [context: DatabaseContext, schema: CollectionSchema, writing: WriteContext, work: LongWork]

const NAME = 'The migration'
const WORK_OPTIONS: OptionNames<LongWork> = { signal: true, onProgress: true }

/** The limit of documents in memory at once: those of one batch. */
const BATCH_DOCUMENTS_MAX = 500
const BATCH_BYTES_MAX: number = 1024 * 1024
/** Another handle that migrates and makes no progress for so long is given up. */
const SILENCE_MS_MAX = 1000
/** Lower than any sequence number. */
const NOTHING = -1

/** Resolves once the collection has the version that was declared (or is gone). */
export async function runMigration(...parts: Parts): Promise<void> {
  const options = optionsOf(...parts)
  throwIfCancelled(options.signal, NAME)
  await raiseVersion(options)
  const migrator = new Migrator(options)
  await inSteps(options, (work) => migrator.step(work))
}

/** Tries again what could not be migrated. */
export async function retryMigration(...parts: Parts): Promise<RetryResult> {
  checkOptions('retryMigration()', parts[3], WORK_OPTIONS)
  const options = optionsOf(...parts)
  const migrator = new Migrator(options)
  let [migrated, failed, after] = [0, 0, '']
  await inSteps(options, async (work) => {
    const batch = await migrator.retryAfter(after, work)
    migrated += batch.migrated
    failed += batch.failed
    work.report(migrated + failed, batch.total)
    after = batch.last ?? ''
    return batch.last !== undefined
  })
  return { migrated, failed }
}

export async function readFailures({ store, catalog }: DatabaseContext, name: string): Promise<MigrationFailure[]> {
  return await store.read((snapshot) => listFailures(snapshot, catalog.collection(snapshot, name)))
}

function optionsOf(...[context, schema, writing, { signal, onProgress }]: Parts): MigrationOptions {
  const { store, catalog, environment, closing } = context
  return { store, catalog, environment, signal: eitherSignal(closing, signal), onProgress, schema, writing }
}

function inSteps(options: MigrationOptions, step: (work: RunningWork) => Promise<boolean>): Promise<void> {
  const { store, environment, signal, onProgress } = options
  return runInSteps({ name: NAME, environment, signal, onProgress, step, refresh: () => store.refresh() })
}

/** The state of a batch before it is written. */
interface Batch {
  readonly state: CollectionState
  readonly documents: readonly OldDocument[]
}

/** The result of a batch that was tried again. */
interface RetriedBatch extends RetryResult {
  /** Where to continue; undefined at the end. */
  readonly last: string | undefined
  /** All documents that had failed when it began. */
  readonly total: number
}

class Migrator {
  readonly #options: MigrationOptions
  /** The total of bodies to be migrated, or of failures to be tried again, when it began. */
  #total: number | undefined

  constructor(options: MigrationOptions) {
    this.#options = options
  }

  /** Migrates one batch; false when there is nothing left to do. */
  async step(work: RunningWork): Promise<boolean> {
    const { store, catalog, writing } = this.#options
    const batch = await store.read((snapshot) => this.#nextBatch(snapshot))
    if (batch === undefined) return false
    const { state, documents, segment, reached } = batch
    const migrated = await this.#migrate(documents, work)
    const pending = await store.write((transaction) => {
      const current = catalog.collection(transaction, writing.name)
      if (current?.number !== state.number || !isNext(current.schema, state.schema!.version, segment)) return undefined
      const grown = applyMigrated(transaction, writing, current, migrated)
      const [, ...later] = current.schema!.pending
      const rest = reached < segment.upTo ? [{ ...segment, after: reached }, ...later] : later
      catalog.change(transaction, grown, { schema: { ...current.schema!, pending: rest } })
      return rest
    })
    if (pending === undefined) {
      await this.#followOther()
      return true
    }
    if (pending.length > 0) work.report(await this.#doneShare())
    return pending.length > 0
  }

  /** Tries those again whose ids' keys come after `after`. */
  async retryAfter(after: string, work: RunningWork): Promise<RetriedBatch> {
    const { store, catalog, writing } = this.#options
    const batch = await store.read((snapshot) => this.#failedBatch(snapshot, after))
    if (batch?.last === undefined) return { migrated: 0, failed: 0, last: undefined, total: 0 }
    const outcomes = await this.#migrate(batch.documents, work)
    await store.write((transaction) => {
      const current = catalog.collection(transaction, writing.name)
      if (current?.number === batch.state.number && current.schema?.version === batch.state.schema?.version)
        applyMigrated(transaction, writing, current, outcomes)
    })
    const failed = outcomes.filter(({ failure }) => failure !== undefined).length
    return { migrated: outcomes.length - failed, failed, last: batch.last, total: this.#total ?? 0 }
  }

  async #migrate(documents: readonly OldDocument[], work: RunningWork): Promise<MigratedDocument[]> {
    const migrated: MigratedDocument[] = []
    for (const document of documents) {
      migrated.push(await migrateDocument(this.#options.schema, document))
      await work.pause()
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
    this.#total ??= tree.count()
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

  /**
   * Waits for another handle (a tab, a worker) that migrates as well: until it is done, or makes no progress. No lock
   * survives a handle that freezes or ends, so this one then continues instead.
   */
  async #followOther(): Promise<void> {
    const { store, environment, signal } = this.#options
    let last = await this.#position()
    let lastMs = environment.now()
    while (last !== undefined && !signal.aborted) {
      await nextCommit(this.#options)
      await store.refresh()
      const now = await this.#position()
      if (now !== last) {
        last = now
        lastMs = environment.now()
      } else if (environment.now() - lastMs >= SILENCE_MS_MAX) return
    }
  }
}

/** Resolves after a commit, the abortion or a while. */
function nextCommit({ store, environment, signal }: MigrationOptions): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stopListening()
      stopTimer()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const stopListening = store.onCommit(done)
    const stopTimer = environment.after(SILENCE_MS_MAX, done, true)
    signal.addEventListener('abort', done)
  })
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
    catalog.change(transaction, state, { schema: raised })
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
