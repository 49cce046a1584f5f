/**
 * Brings a view up to date: maps the documents that were written since its last update, in the order of their
 * sequences, while others read and write.
 *
 * Each step maps as many documents as memory allows on a snapshot, without delaying a writer. It sorts the rows and
 * writes them in one transaction, together with its progress. So an update that a crash or a signal interrupts
 * continues from there. The first build is one ordered pass, a sort and a bulk load. A step is written only on the
 * state of the view that it was based on (`updates`). If several tabs do the same work, the first one wins, and the
 * others look again.
 *
 * A document that is rewritten between snapshot and transaction has a higher sequence, and comes again. When a step has
 * reached the end of its snapshot, the view is exactly that of the snapshot.
 */
import { awaitUser, notPromised, type Expected } from '../base/callback.ts'
import type { Environment } from '../base/environment.ts'
import { isPannierError } from '../base/errors.ts'
import { runInSteps, type LongWork, type RunningWork } from '../base/long-work.ts'
import { badArgument } from '../base/options.ts'
import { numberKey } from '../codec/key-encoding.ts'
import { BodyView } from '../document/body.ts'
import type { Catalog } from '../document/catalog.ts'
import { BATCH_BYTES_MAX, DocumentReader } from '../document/document-reader.ts'
import { conflictsOf } from '../document/stored-revisions.ts'
import type { HeldSnapshot, KeyValueStore, TreeReader, WriteTransaction } from '../kv/key-value-store.ts'
import { mapDocument, NO_ROWS, type MappedRows } from './mapped-rows.ts'
import {
  defineView,
  dropView,
  keysTree,
  lastPurgeOf,
  departedTrees,
  purgesAfter,
  readView,
  rowsTree,
  saveView,
  type ViewState,
} from './view-catalog.ts'
import { RememberedChanges } from './remembered-changes.ts'
import { fillTree, makeChanges, ViewChunk, withoutEqual, type Changes } from './view-chunk.ts'
import type { CheckedView, Emit, MapMany } from './view-definition.ts'

/** A cancelled update keeps what was done, and continues next time. */
export interface UpdateOptions extends LongWork {
  readonly store: KeyValueStore
  /** Where the view is: the same store, or a private one. */
  readonly rows: KeyValueStore
  readonly catalog: Catalog
  /** Name of the collection. */
  readonly name: string
  readonly view: CheckedView
  readonly environment: Environment
  /** Memory for rows. */
  readonly rowBytesMax?: number | undefined
}

const ROW_BYTES_MAX_DEFAULT: number = 24 * 1024 * 1024
const STEPS_PER_LOOK = 64
/** More changes than this are not made in one go. */
const CHANGES_AT_ONCE_MAX = 400
const MESSAGE_CHARS_MAX = 200

/**
 * Whether documents were purged that private rows know of: nobody notes purges for these, but then there are fewer documents. Asked when
 * everything was mapped.
 */
export function missesDocuments({ documents }: ViewState, bodies: TreeReader): boolean {
  return documents !== undefined && documents !== bodies.count()
}

/** Resolves when the view is that of a snapshot made after the call; or when there is no such view, or collection. */
export async function updateView(options: UpdateOptions): Promise<void> {
  const { environment, signal, onProgress } = options
  const update = new ViewUpdate(options)
  await runInSteps({
    name: 'The view update',
    environment,
    signal,
    onProgress,
    step: (work) => update.step(work),
    refresh: () => options.store.refresh(),
  })
}

type RowsOfDocument = Awaited<ReturnType<MapMany<object>>>[number]

const A_LIST_OF_ROWS: Expected<readonly RowsOfDocument[]> = {
  what: 'an array with the rows of each document, or an Error',
  is: (value): value is readonly RowsOfDocument[] =>
    Array.isArray(value) && value.every((rows) => Array.isArray(rows) || rows instanceof Error),
}

/** A document that `mapMany` is to be called with. */
interface Waiting {
  readonly number: number
  readonly id: string
  /** Undefined: it has no rows. */
  readonly document: Mapped | undefined
}

type Mapped = object & { readonly _id: string }
/** By the names of the trees. */
type TreeChanges = Map<string, Changes>

type Progress = { -readonly [P in keyof ViewState]: ViewState[P] }

/** The changes that a step has gathered. */
interface Gathered {
  readonly chunk: ViewChunk
  /** The view as it will be. */
  readonly after: Progress
  /** The end of the snapshot was reached. */
  readonly ended: boolean
}

class ViewUpdate {
  readonly #options: UpdateOptions
  #bodiesDone = 0
  #bodiesTotal = 0

  constructor(options: UpdateOptions) {
    this.#options = options
  }

  /** A step. False when there is nothing left to do. */
  async step(work: RunningWork): Promise<boolean> {
    const { store, rows } = this.#options
    const snapshot = store.snapshot()
    const beside = rows === store ? snapshot : rows.snapshot()
    try {
      return await this.#step(snapshot, beside, work)
    } finally {
      snapshot.release()
      beside.release()
    }
  }

  async #step(snapshot: HeldSnapshot, beside: HeldSnapshot, work: RunningWork): Promise<boolean> {
    const { catalog, name, view } = this.#options
    const collection = catalog.collection(snapshot, name)
    const before = collection && readView(beside, collection.number, view.storedName)
    if (collection === undefined || before?.signature !== view.signature) return false
    const reader = new DocumentReader(snapshot, collection)
    const rest = await snapshot.attempt(() => reader.bodies.count({ gte: numberKey(before.builtTo + 1) }))
    const isBuilt = rest === 0 && before.builtTo >= reader.bodies.lastNumber && !missesDocuments(before, reader.bodies)
    if (isBuilt && lastPurgeOf(beside, collection.number) <= before.purgesSeen) return false
    this.#bodiesTotal = Math.max(this.#bodiesTotal, this.#bodiesDone + rest)
    const { chunk, after, ended } = await this.#gather(snapshot, beside, reader, before, work)
    if (missesDocuments(after, reader.bodies)) return this.#startAgain(collection.number)
    await this.#findOld(beside, collection.number, before, chunk, work)
    const rows = await this.#rowChanges(beside, collection.number, before, chunk, work)
    rows.set(keysTree(collection.number, before.number), await chunk.listChanges(work))
    const written = await this.#write(collection.number, before, after, rows, work)
    this.#report(work)
    return !ended || !written
  }

  /** Deletes private rows, as if they had never been. */
  async #startAgain(collectionNumber: number): Promise<true> {
    const { rows, view } = this.#options
    await rows.write((transaction) => {
      dropView(transaction, collectionNumber, view.storedName)
      defineView(transaction, collectionNumber, view, 0)
    })
    return true
  }

  /** Gathers and maps the bodies that follow. */
  async #gather(
    snapshot: HeldSnapshot,
    beside: HeldSnapshot,
    reader: DocumentReader,
    before: ViewState,
    work: RunningWork,
  ): Promise<Gathered> {
    const { rowBytesMax = ROW_BYTES_MAX_DEFAULT } = this.#options
    const chunk = new ViewChunk(reader.bodies.lastNumber)
    const after: Progress = { ...before, updates: before.updates + 1 }
    const { number } = reader.collection
    // While it is built, old documents come with the sequences of its steps.
    if (before.builtTo < (before.forgottenTo ?? 0)) after.forgottenTo = chunk.sequence
    after.purgesSeen = Math.max(before.purgesSeen, lastPurgeOf(beside, number))
    for (const purged of purgesAfter(beside, number, before.purgesSeen)) chunk.add(purged.number, purged.id, NO_ROWS)
    const cursor = reader.bodies.cursor({ gte: numberKey(before.builtTo + 1) })
    const body = new BodyView()
    let ended = false
    let full = false
    // Private rows are made in one step: they are in memory anyway, and documents are counted.
    const isFull = (): boolean => after.documents === undefined && (chunk.isFull || chunk.bytes >= rowBytesMax)
    const isMany = this.#options.view.mapMany !== undefined
    /** The cursor stands at a body that is not mapped yet. */
    let isAt = false
    while (!ended && !full) {
      const waiting: Waiting[] = []
      let bytes = 0
      // A cursor that misses stays where it is, so every body is mapped once.
      await snapshot.attempt(() => {
        for (let step = 0; step < STEPS_PER_LOOK && !full && bytes < BATCH_BYTES_MAX; step++) {
          if (!isAt && !cursor.next()) {
            ended = true
            // The last bodies may be gone.
            after.builtTo = reader.bodies.lastNumber
            return
          }
          isAt = true
          body.load(cursor.value, cursor.keyNumber)
          const conflicts = body.deleted ? undefined : conflictsOf(reader, body)
          isAt = false
          const document = this.#document(reader, body, conflicts, after)
          bytes += cursor.value.length
          if (isMany) waiting.push({ number: body.number, id: body.id, document })
          else chunk.add(body.number, body.id, this.#rows(document, this.#options.view.map, after))
          if (body.deleted) chunk.deleted.add(body.id)
          after.builtTo = body.sequence
          if (after.documents !== undefined && body.number > before.builtTo) after.documents++
          this.#bodiesDone++
          full = isFull()
        }
      })
      if (waiting.length > 0) await this.#mapMany(waiting, chunk, after)
      full = isFull()
      if (await work.pause()) this.#report(work)
    }
    return { chunk, after, ended }
  }

  async #mapMany(waiting: readonly Waiting[], chunk: ViewChunk, after: Progress): Promise<void> {
    const documents = waiting.flatMap(({ document }) => (document === undefined ? [] : [document]))
    const { mapMany } = this.#options.view
    const results =
      documents.length === 0 ? [] : await awaitUser('view()', 'mapMany', () => mapMany!(documents), A_LIST_OF_ROWS)
    let at = 0
    for (const { number, id, document } of waiting) {
      const result = document === undefined ? undefined : results[at++]
      const map = (_: object, emit: Emit): void => {
        if (result === undefined || result instanceof Error)
          throw result ?? badArgument('mapMany()', 'the result must have rows for each document', result)
        for (const [key, value] of result) emit(key, value)
      }
      chunk.add(number, id, this.#rows(document, map, after))
    }
  }

  /** The document of a body to map. */
  #document(
    reader: DocumentReader,
    body: BodyView,
    conflicts: string[] | undefined,
    after: Progress,
  ): Mapped | undefined {
    const { id } = body
    if (body.deleted || id.startsWith('_design/')) return undefined
    try {
      const document = reader.decode(body)
      if (conflicts !== undefined) document['_conflicts'] = conflicts
      return document
    } catch (error) {
      this.#failed(id, error, after)
      return undefined
    }
  }

  #rows(document: Mapped | undefined, map: CheckedView['map'], after: Progress): MappedRows {
    if (document === undefined) return NO_ROWS
    let rows = NO_ROWS
    let result: unknown
    try {
      const noted: CheckedView['map'] = (one, emit) => (result = map(one, emit))
      rows = mapDocument(noted, document, this.#options.view.collation)
    } catch (error) {
      this.#failed(document._id, error, after)
    }
    // What is emitted after an `await` would be lost.
    notPromised('view()', 'map', result)
    return rows
  }

  #failed(id: string, error: unknown, after: Progress): void {
    // A map function that can't continue with any document ends the update.
    if (isPannierError(error, 'PANNIER_CORRUPT') || isPannierError(error, 'PANNIER_ABORTED')) throw error
    const message = error instanceof Error ? error.message : String(error)
    after.failures++
    after.lastFailure = { id, message: message.slice(0, MESSAGE_CHARS_MAX) }
  }

  async #findOld(
    snapshot: HeldSnapshot,
    collectionNumber: number,
    before: ViewState,
    chunk: ViewChunk,
    work: RunningWork,
  ): Promise<void> {
    const lists = snapshot.tree(keysTree(collectionNumber, before.number))!
    if (lists.count() === 0) return
    for (let from = 0; from < chunk.documentCount; from += CHANGES_AT_ONCE_MAX) {
      await snapshot.attempt(() => chunk.findOld(lists, before.builtTo, from, from + CHANGES_AT_ONCE_MAX))
      await work.pause()
    }
  }

  /** The changes of the rows, and of what has left them. */
  async #rowChanges(
    snapshot: HeldSnapshot,
    collectionNumber: number,
    { number, forgottenTo }: ViewState,
    chunk: ViewChunk,
    work: RunningWork,
  ): Promise<TreeChanges> {
    const changes = await chunk.rowChanges(forgottenTo !== undefined, work)
    const name = rowsTree(collectionNumber, number)
    const rows = snapshot.tree(name)!
    if (forgottenTo !== undefined) {
      const remembered = new RememberedChanges(rows, changes, chunk.deleted, chunk.sequence)
      for (let from = 0; from < changes.keys.length; from += CHANGES_AT_ONCE_MAX) {
        await snapshot.attempt(() => remembered.add(from, from + CHANGES_AT_ONCE_MAX))
        await work.pause()
      }
      const { byGroup, byTime } = departedTrees(collectionNumber, number)
      const departed = remembered.departed()
      return new Map([
        [name, remembered.rows()],
        [byGroup, departed.byGroup],
        [byTime, departed.byTime],
      ])
    }
    // For many it costs more than it saves.
    const isMany = changes.keys.length > CHANGES_AT_ONCE_MAX
    return new Map([[name, isMany ? changes : await snapshot.attempt(() => withoutEqual(rows, changes))]])
  }

  /** In one transaction, unless the view is not what it was any more. */
  async #write(
    collectionNumber: number,
    before: ViewState,
    after: ViewState,
    changes: TreeChanges,
    work: RunningWork,
  ): Promise<boolean> {
    const store = this.#options.rows
    if (Array.from(changes.values()).every(({ keys }) => keys.length <= CHANGES_AT_ONCE_MAX)) {
      return store.write((transaction) => {
        if (!this.#isUnchanged(transaction, collectionNumber, before)) return false
        for (const [name, some] of changes) makeChanges(transaction.tree(name)!, some, 0, some.keys.length)
        saveView(transaction, collectionNumber, after)
        return true
      })
    }
    const transaction = await store.begin()
    try {
      if (!this.#isUnchanged(transaction, collectionNumber, before)) return false
      for (const [name, some] of changes) await this.#makeChanges(transaction, name, some, work)
      saveView(transaction, collectionNumber, after)
      await transaction.commit()
      return true
    } finally {
      transaction.rollback()
    }
  }

  #isUnchanged(transaction: WriteTransaction, collectionNumber: number, before: ViewState): boolean {
    const { catalog, name, rows, store } = this.#options
    if (rows === store && catalog.collection(transaction, name)?.number !== collectionNumber) return false
    const now = readView(transaction, collectionNumber, before.storedName)
    return now?.number === before.number && now.updates === before.updates
  }

  async #makeChanges(transaction: WriteTransaction, name: string, changes: Changes, work: RunningWork): Promise<void> {
    const tree = transaction.tree(name)!
    if (fillTree(tree, changes)) return
    for (let from = 0; from < changes.keys.length; from += CHANGES_AT_ONCE_MAX) {
      makeChanges(tree, changes, from, Math.min(changes.keys.length, from + CHANGES_AT_ONCE_MAX))
      await work.pause()
    }
  }

  /** Mapping is most of the work. */
  #report(work: RunningWork): void {
    work.report(0.9 * Math.min(this.#bodiesDone, this.#bodiesTotal), this.#bodiesTotal)
  }
}
