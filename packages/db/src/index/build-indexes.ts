/**
 * Builds the indexes of a collection on existing documents, while others read and write.
 *
 * One ordered pass over a snapshot reads the documents for all indexes, without delaying a writer. It gathers as many
 * keys as memory allows and sorts them. One transaction inserts them, without those of documents that were changed
 * since, and raises `builtTo`. Bodies up to that sequence have entries, and writers maintain them
 * (maintain-indexes.ts). So an interrupted build continues from there. The last transaction also adds what was written
 * since the snapshot, and the index is ready.
 */
import { loadedModule } from '../base/lazy-module.ts'
import type { Key } from '../base/brand.ts'
import type { Environment } from '../base/environment.ts'
import type { PannierError } from '../base/errors.ts'
import { runInSteps, type LongWork, type RunningWork } from '../base/long-work.ts'
import type { Bytes } from '../codec/bytes.ts'
import { numberKey } from '../codec/key-encoding.ts'
import { type Catalog, indexTreeName, type CollectionState } from '../document/catalog.ts'
import { BATCH_BYTES_MAX, DocumentReader, existingTree } from '../document/document-reader.ts'
import type { HeldSnapshot, HeldTransaction, KeyValueStore, TreeReader } from '../kv/key-value-store.ts'
import { IndexTests, type CompileSelector } from './index-key.ts'
import { dropIndex } from './drop.ts'
import type { IndexDefinition } from './index-definition.ts'
import { KeyChunk, loadParts } from './key-chunk.ts'

/** A cancelled build keeps what was built, and continues next time. */
export interface BuildOptions extends LongWork {
  readonly store: KeyValueStore
  readonly catalog: Catalog
  /** Name of the collection. */
  readonly name: string
  readonly environment: Environment
  /** Compiles the selectors of partial indexes. */
  readonly compile: CompileSelector
  /** Memory for keys. */
  readonly keyBytesMax?: number | undefined
}

const KEY_BYTES_MAX_DEFAULT: number = 16 * 1024 * 1024
/** For text indexes. Each chunk has postings of nearly all words, so larger chunks write all pages less often. */
const TEXT_KEY_BYTES_MAX: number = 64 * 1024 * 1024
/** Steps between two looks at the clock. */
const STEPS_PER_LOOK = 256
/**
 * More bodies than this are not taken in under the writer's lock: another pass comes first. It doubles with each pass, so that
 * a builder catches up with writers however many there are.
 */
const TAIL_BODIES_MAX = 2000

/**
 * Resolves once every index of the collection is ready (or the collection is gone). A unique index for which there are duplicates
 * is dropped; when the others are ready it rejects with PANNIER_NOT_UNIQUE.
 */
export async function buildIndexes(options: BuildOptions): Promise<void> {
  const { environment, signal, onProgress } = options
  const builder = new IndexBuilder(options)
  await runInSteps({
    name: 'The index build',
    environment,
    signal,
    onProgress,
    step: (work) => builder.step(work),
    refresh: () => options.store.refresh(),
  })
  if (builder.failure !== undefined) throw builder.failure
}

/** The indexes that one step builds: those with equal progress. */
interface Target {
  readonly state: CollectionState
  readonly indexes: readonly IndexDefinition[]
  readonly from: number
  /** Progress of another index. From there on they are built together. */
  readonly upTo: number
}

/** The tree that gets entries. */
interface Insertion {
  readonly transaction: HeldTransaction
  readonly state: CollectionState
  readonly indexes: readonly IndexDefinition[]
  readonly work: RunningWork
}

class IndexBuilder {
  /** Why the first unique index could not be built. */
  failure: PannierError | undefined
  readonly #options: BuildOptions
  readonly #tests: IndexTests
  #doneBefore = 0
  #tailBodiesMax = TAIL_BODIES_MAX

  constructor(options: BuildOptions) {
    this.#options = options
    this.#tests = new IndexTests(options.compile)
  }

  /** Indexes one chunk; false when there is nothing left to do. */
  async step(work: RunningWork): Promise<boolean> {
    const { store, catalog, name } = this.#options
    const snapshot = store.snapshot()
    try {
      const target = nextTarget(catalog.collection(snapshot, name))
      if (target === undefined) return false
      await snapshot.attempt(() => {
        this.#tests.load(target.indexes)
        loadParts(target.indexes)
      })
      const defaultBytesMax = target.indexes.some(({ text }) => text !== undefined)
        ? TEXT_KEY_BYTES_MAX
        : KEY_BYTES_MAX_DEFAULT
      const { keyBytesMax = defaultBytesMax } = this.#options
      const chunk = new KeyChunk(target.indexes, target.state.shapes, keyBytesMax, this.#tests)
      const done = await this.#gather(snapshot, target, chunk, work)
      chunk.sort()
      await work.pause()
      const transaction = await store.begin()
      try {
        await this.#insert(snapshot, transaction, target, chunk, work)
        await transaction.commit()
      } finally {
        transaction.rollback()
      }
      this.#doneBefore = done
      work.report(done)
      return true
    } finally {
      snapshot.release()
    }
  }

  /** Fills the chunk with the keys of the bodies that follow. Returns the part of all bodies that will be done. */
  async #gather(snapshot: HeldSnapshot, target: Target, chunk: KeyChunk, work: RunningWork): Promise<number> {
    const { from, upTo, state } = target
    const reader = new DocumentReader(snapshot, state)
    const rest = await snapshot.attempt(() => reader.bodies.count({ gte: numberKey(from + 1) }))
    const share = (): number =>
      this.#doneBefore + (1 - this.#doneBefore) * Math.min(1, chunk.sequences.length / (rest || 1))
    const cursor = reader.scan({ after: from })
    let going = true
    while (going) {
      // A cursor that misses stays where it is, so every body is added once.
      going = await snapshot.attempt(() => {
        for (let step = 0, bytes = 0; step < STEPS_PER_LOOK && bytes < BATCH_BYTES_MAX; step++) {
          if (chunk.full || !cursor.next()) return false
          if (cursor.body.sequence > upTo) {
            chunk.stopped = true
            return false
          }
          chunk.add(cursor.body)
          bytes += cursor.body.bytes.length
        }
        return true
      })
      // Gathering is about half of the work.
      if (await work.pause()) work.report((this.#doneBefore + share()) / 2)
    }
    return share()
  }

  async #insert(
    snapshot: HeldSnapshot,
    transaction: HeldTransaction,
    target: Target,
    chunk: KeyChunk,
    work: RunningWork,
  ): Promise<void> {
    const { catalog, name } = this.#options
    const state = catalog.collection(transaction, name)
    // The index was dropped, or another handle was faster: look again.
    if (state?.number !== target.state.number) return
    const indexes = target.indexes.filter(({ number, builtTo }) =>
      state.indexes.some((index) => index.number === number && index.builtTo === builtTo),
    )
    const { sequences } = chunk
    const before = existingTree(snapshot, state.trees.bodies)
    const now = existingTree(transaction, state.trees.bodies)
    const gone = await transaction.attempt(() => goneSequences(before, now, sequences))
    const failures = await this.#insertKeys({ transaction, state, indexes, work }, chunk, gone)
    const reached = chunk.stopped ? target.upTo : (sequences.at(-1) ?? target.from)
    const ended = !chunk.full && !chunk.stopped
    const ready = ended && (await this.#insertTail({ transaction, state, indexes, work }, reached, failures))
    const built = state.indexes.map((index) =>
      indexes.some(({ number }) => number === index.number)
        ? { ...index, builtTo: ready ? undefined : reached }
        : index,
    )
    let current = catalog.change(transaction, state, { indexes: built })
    for (const [{ name: failed }, error] of failures) {
      dropIndex(transaction, catalog, current, failed)
      current = catalog.collection(transaction, name)!
      this.failure ??= error
    }
  }

  async #insertKeys(
    { transaction, state, indexes, work }: Insertion,
    chunk: KeyChunk,
    gone: ReadonlySet<number>,
  ): Promise<Failures> {
    const failures: Failures = new Map()
    const goneNumbers = new Set<number>()
    if (gone.size > 0)
      chunk.sequences.forEach((sequence, at) => gone.has(sequence) && goneNumbers.add(chunk.numbers[at]!))
    for (const index of indexes) {
      const tree = transaction.tree(indexTreeName(state.number, index.number))!
      const part = chunk.of(index)
      const isFirst = tree.count() === 0
      const keys: Key[] = []
      const values: Bytes[] = []
      for (let at = 0; at < part.count; at++) {
        if (goneNumbers.size === 0 || !goneNumbers.has(part.documentAt(at))) {
          keys.push(part.keyAt(at))
          values.push(part.valueAt(at) ?? '')
        }
        if (at % STEPS_PER_LOOK === 0) await work.pause()
      }
      tree.insertMany(keys, values)
      if (index.unique !== true) continue
      const { findDuplicates } = await loadedModule(import('./build-failures.ts'))
      const failure = await findDuplicates({ transaction, state, part, isFirst, tests: this.#tests }, work)
      if (failure !== undefined) failures.set(index, failure)
    }
    return failures
  }

  /** Takes in what was written after `reached`; false if that is too much. */
  async #insertTail(insertion: Insertion, reached: number, failures: Failures): Promise<boolean> {
    const { transaction, state, indexes } = insertion
    const reader = new DocumentReader(transaction, state)
    const count = await transaction.attempt(() => reader.bodies.count({ gte: numberKey(reached + 1) }))
    if (count > this.#tailBodiesMax) {
      this.#tailBodiesMax *= 2
      return false
    }
    const tail = new KeyChunk(indexes, state.shapes, Infinity, this.#tests)
    const cursor = reader.scan({ after: reached })
    await transaction.attempt(() => {
      while (cursor.next()) tail.add(cursor.body)
    })
    tail.sort()
    const more = await this.#insertKeys(insertion, tail, new Set())
    for (const [index, failure] of more) if (!failures.has(index)) failures.set(index, failure)
    return true
  }
}

type Failures = Map<IndexDefinition, PannierError>

function nextTarget(state: CollectionState | undefined): Target | undefined {
  const pending = state?.indexes.filter(({ builtTo }) => builtTo !== undefined) ?? []
  if (state === undefined || pending.length === 0) return undefined
  const positions = pending.map(({ builtTo }) => builtTo!)
  const from = Math.min(...positions)
  const upTo = Math.min(...positions.filter((position) => position > from))
  return { state, indexes: pending.filter(({ builtTo }) => builtTo === from), from, upTo }
}

/**
 * The bodies that were removed since. A body never comes back, and no body is added between others. So a range with an
 * equal count is unchanged; otherwise each half is checked. May miss.
 */
function goneSequences(before: TreeReader, now: TreeReader, sequences: readonly number[]): Set<number> {
  const gone = new Set<number>()
  const look = (from: number, to: number): void => {
    if (from === to) return
    const range = { gte: numberKey(sequences[from]!), lt: numberKey(sequences[to - 1]! + 1) }
    if (before.count(range) === now.count(range)) return
    if (to - from === 1) {
      gone.add(sequences[from]!)
      return
    }
    const middle = (from + to) >>> 1
    look(from, middle)
    look(middle, to)
  }
  look(0, sequences.length)
  return gone
}
