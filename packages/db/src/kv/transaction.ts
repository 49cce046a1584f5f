/**
 * A write transaction: a draft of the next state, and the record of its changes.
 *
 * Nothing is visible before the commit. Work is done in steps: synchronous calls that leave nothing behind when they
 * throw. The savepoint of a step lives as long as its call and is known to nobody else, so no step can undo another.
 * `seal` takes the log record and the state at one moment; from then on the transaction can't be used.
 */
import type { ReducerId } from '../btree/reducer.ts'
import { assert, PannierError } from '../base/errors.ts'
import type { CommitSequence, Key } from '../base/brand.ts'
import { KEY_BYTES_MAX } from '../btree/leaf.ts'
import type { Node, NodeCache } from '../btree/node.ts'
import type { Bytes } from '../codec/bytes.ts'
import { numberKey } from '../codec/key-encoding.ts'
import type { PageWriter } from '../pager/page-writer.ts'
import type { CommitBody, CreatedTree, TreeOperations } from './commit-record.ts'
import type { TreeKind, TreeWriter, WriteTransaction } from './key-value-store.ts'
import { MergedTree } from './merged-tree.ts'
import {
  overlayApply,
  overlayInsertMany,
  type Change,
  OPERATION_INSERT,
  OPERATION_REMOVE,
  OPERATION_REPLACE,
  type Operation,
} from './overlay.ts'
import { LOG_BYTES_MAX } from './limits.ts'
import {
  countUp,
  createTree,
  draftOf,
  draftTree,
  dropTree,
  finishDraft,
  namesWithPrefix,
  type Draft,
  type State,
  type TreeState,
} from './state.ts'

/** Bytes that an operation takes in the log beside its key and value. */
const OPERATION_OVERHEAD_BYTES = 6

/** The operations of a transaction in order, in columns. */
interface OperationLog {
  readonly trees: number[]
  readonly operations: Operation[]
  readonly keys: Key[]
  readonly changes: Change[]
}

/** How far everything was that only ever grows, and the draft as it was. */
interface Savepoint {
  readonly draft: Draft
  readonly length: number
  readonly bytes: number
  readonly touched: number
  readonly created: number
  readonly dropped: number
}

/** The parts of a commit. */
export interface SealedTransaction {
  /** The state that it was made on. */
  readonly base: State
  readonly sequence: CommitSequence
  /** The state after it. */
  readonly result: State
  /** The content of the log record; undefined if that is more than the log takes. */
  readonly body: CommitBody | undefined
  /** About what the record takes in the log. */
  readonly bytes: number
  /** Whether the commit changes anything. */
  readonly changed: boolean
  /** Names of the trees with changed entries. */
  readonly touchedTrees: readonly string[]
  /** Has staged pages of the result already. */
  readonly writer: PageWriter<Node> | undefined
}

export class Transaction implements WriteTransaction {
  readonly sequence: CommitSequence
  readonly #base: State
  #cache: NodeCache
  /** Undefined once they are more than the log takes: then the commit goes to pages, and only the draft is needed. */
  #log: OperationLog | undefined = { trees: [], operations: [], keys: [], changes: [] }
  readonly #touched = new Set<number>()
  readonly #created: CreatedTree[] = []
  readonly #dropped: number[] = []
  readonly #writers = new Map<number, TransactionTree>()
  /** Undefined once it is sealed or given up. */
  #open: Draft | undefined
  /** The draft as of now, kept until something changes. */
  #seen: State | undefined
  /** About what the commit takes in the log. */
  #bytes = 0
  /** As many of them are in pages already, by this writer. */
  #relievedBytes = 0
  #writer: PageWriter<Node> | undefined

  constructor(base: State, cache: NodeCache) {
    this.sequence = base.sequence
    this.#base = base
    this.#cache = cache
    this.#open = draftOf(base)
  }

  /** @throws PANNIER_TRANSACTION_ENDED */
  get #draft(): Draft {
    if (this.#open === undefined) throw transactionEnded()
    return this.#open
  }

  tree(name: string): TreeWriter | undefined {
    const slot = this.#draft.slotOfName.get(name)
    if (slot === undefined) return undefined
    let writer = this.#writers.get(slot)
    if (writer === undefined) this.#writers.set(slot, (writer = new TransactionTree(this.#cache, this, slot)))
    return writer
  }

  treeNames(prefix: string = ''): string[] {
    return namesWithPrefix(this.#draft.slotOfName, prefix)
  }

  createTree(name: string, kind: TreeKind, reducer?: ReducerId): TreeWriter {
    assert(!this.#draft.slotOfName.has(name), `tree ${name} exists`)
    assert(reducer === undefined || kind === 'ordered', 'only ordered trees are kept reduced')
    const draft = this.#toChange()
    const created = { id: draft.nextTreeId, name, kind, reducer }
    this.#created.push(created)
    this.#bytes += name.length + OPERATION_OVERHEAD_BYTES
    createTree(draft, created)
    return this.tree(name)!
  }

  dropTree(name: string): void {
    const draft = this.#toChange()
    const slot = draft.slotOfName.get(name)
    assert(slot !== undefined, `tree ${name} does not exist`)
    this.#dropped.push(draft.trees[slot]!.id)
    this.#bytes += OPERATION_OVERHEAD_BYTES
    dropTree(draft, slot)
    this.#writers.delete(slot)
  }

  /** Runs `work` at once. If it throws, nothing that it did stays. */
  step<T>(work: (transaction: WriteTransaction) => T): T {
    const savepoint = this.#savepoint()
    try {
      return work(this)
    } catch (thrown) {
      this.#rollBack(savepoint)
      throw thrown
    }
  }

  /** Runs `work` only to let it note what it misses. */
  tryOut(work: (transaction: WriteTransaction) => unknown): void {
    const savepoint = this.#savepoint()
    try {
      work(this)
    } catch {
      // It is run again in earnest.
    } finally {
      this.#rollBack(savepoint)
    }
  }

  /** Everything as of now; what is written later does not change it. */
  view(): State {
    if (this.#seen === undefined) {
      const draft = this.#draft
      this.#seen = finishDraft(this.#base, { ...draft, trees: draft.trees.slice() }, this.sequence)
      own(draft)
    }
    return this.#seen
  }

  /** Reads its trees. */
  get cache(): NodeCache {
    return this.#cache
  }

  /** About what its changes take that are in memory only; 0: they fit the log. */
  get heldBytes(): number {
    return this.#log === undefined ? this.#bytes - this.#relievedBytes : 0
  }

  /** From now on it stands on these trees, which have all changes so far in pages. Not while a step runs. */
  relieve(trees: readonly (TreeState | undefined)[], cache: NodeCache, writer: PageWriter<Node>): void {
    assert(this.#log === undefined, 'what is in pages is not in the log')
    const draft = this.#toChange()
    draft.trees = [...trees]
    own(draft)
    this.#cache = cache
    this.#writer = writer
    this.#writers.clear()
    this.#relievedBytes = this.#bytes
  }

  /** The parts to commit. Ends the transaction. */
  seal(): SealedTransaction {
    const draft = this.#draft
    const sequence = (this.sequence + 1) as CommitSequence
    // As a replay of the record finds it: trees that were created and dropped are not in there.
    const stay = this.#created.filter(({ id }) => !this.#dropped.includes(id))
    const nextTreeId = stay.reduce((next, { id }) => Math.max(next, id + 1), this.#base.nextTreeId)
    const sealed = {
      base: this.#base,
      sequence,
      result: finishDraft(this.#base, { ...draft, nextTreeId }, sequence),
      body: this.#log && this.#body(this.#log),
      bytes: this.#bytes,
      changed: this.#touched.size > 0 || this.#created.length > 0 || this.#dropped.length > 0,
      touchedTrees: Array.from(this.#touched).flatMap((slot) => draft.trees[slot]?.name ?? []),
      writer: this.#writer,
    }
    this.end()
    return sealed
  }

  /** Ends it. Later uses fail. Idempotent. */
  end(): void {
    this.#open = undefined
    this.#seen = undefined
  }

  /** From now on what was there before is not changed in place. */
  #savepoint(): Savepoint {
    const draft = this.#draft
    const savepoint = {
      draft: { ...draft, trees: draft.trees.slice() },
      length: this.#log?.keys.length ?? 0,
      bytes: this.#bytes,
      touched: this.#touched.size,
      created: this.#created.length,
      dropped: this.#dropped.length,
    }
    own(draft)
    return savepoint
  }

  /** In the same call as `#savepoint`. */
  #rollBack({ draft, length, bytes, touched, created, dropped }: Savepoint): void {
    own(draft)
    this.#open = draft
    this.#seen = undefined
    if (this.#log !== undefined) for (const column of Object.values(this.#log)) shorten(column, length)
    // Only this distinguishes a log that this step has outgrown from one that was outgrown before.
    else if (bytes === 0) this.#log = { trees: [], operations: [], keys: [], changes: [] }
    this.#bytes = bytes
    for (const slot of Array.from(this.#touched).slice(touched)) this.#touched.delete(slot)
    shorten(this.#created, created)
    shorten(this.#dropped, dropped)
    this.#writers.clear()
  }

  /** The operations by tree, those on trees that were dropped left out. */
  #body({ trees: ids, operations, keys, changes }: OperationLog): CommitBody {
    const gone = new Set(this.#dropped)
    const lived = new Set(this.#created.map(({ id }) => id).filter((id) => gone.has(id)))
    const trees = new Map<number, TreeOperations>()
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!
      if (gone.has(id)) continue
      let tree = trees.get(id)
      if (tree === undefined) trees.set(id, (tree = { tree: id, operations: [], keys: [], changes: [] }))
      tree.operations.push(operations[i]!)
      tree.keys.push(keys[i]!)
      tree.changes.push(changes[i]!)
    }
    return {
      created: this.#created.filter(({ id }) => !lived.has(id)),
      dropped: this.#dropped.filter((id) => !lived.has(id)),
      trees: [...trees.values()],
    }
  }

  #toChange(): Draft {
    const draft = this.#draft
    this.#seen = undefined
    return draft
  }

  /** For the trees that it hands out, as the two that follow. */
  treeState(slot: number): TreeState {
    return this.#draft.trees[slot]!
  }

  insertMany(slot: number, keys: readonly Key[], values: readonly Bytes[]): void {
    if (keys.length === 0) return
    let bytes = 0
    for (let i = 0; i < keys.length; i++) {
      checkKey(keys[i]!)
      bytes += keys[i]!.length + values[i]!.length + OPERATION_OVERHEAD_BYTES
    }
    const draft = this.#toChange()
    const tree = draftTree(draft, slot)
    tree.overlay = overlayInsertMany(tree.overlay, draft.edit, keys, values)
    countUp(tree, keys.at(-1)!)
    this.#touched.add(slot)
    this.#bytes += bytes
    const log = this.#log
    if (log === undefined) return
    if (this.#bytes > LOG_BYTES_MAX) {
      this.#log = undefined
      return
    }
    for (let i = 0; i < keys.length; i++) {
      log.trees.push(tree.id)
      log.operations.push(OPERATION_INSERT)
      log.keys.push(keys[i]!)
      log.changes.push(values[i]!)
    }
  }

  change(slot: number, operation: Operation, key: Key, change: Change): void {
    checkKey(key)
    const draft = this.#toChange()
    const tree = draftTree(draft, slot)
    tree.overlay = overlayApply(tree.overlay, draft.edit, operation, key, change)
    if (operation === OPERATION_INSERT) countUp(tree, key)
    this.#touched.add(slot)
    this.#bytes += key.length + (typeof change === 'number' ? 0 : change.length) + OPERATION_OVERHEAD_BYTES
    const log = this.#log
    if (log === undefined) return
    if (this.#bytes > LOG_BYTES_MAX) {
      this.#log = undefined
      return
    }
    log.trees.push(tree.id)
    log.operations.push(operation)
    log.keys.push(key)
    log.changes.push(change)
  }
}

/** Shares the parts that the draft owns: the next change makes a copy. */
function own(draft: Draft): void {
  draft.edit = {}
  draft.owned = new Set()
}

/** A rollback takes away what a step has added, and never adds. */
function shorten(column: unknown[], length: number): void {
  assert(column.length >= length, 'a rollback makes nothing longer')
  column.length = length
}

/** For a use of a transaction that was committed or cancelled. */
export function transactionEnded(): PannierError {
  return new PannierError(
    'PANNIER_TRANSACTION_ENDED',
    'The transaction has ended. Await its calls inside its function.',
  )
}

function checkKey(key: Key): void {
  if (key.length <= KEY_BYTES_MAX) return
  throw new PannierError(
    'PANNIER_KEY_TOO_LARGE',
    `A key of ${key.length} bytes is too large: ${KEY_BYTES_MAX} are allowed.`,
  )
}

class TransactionTree extends MergedTree implements TreeWriter {
  private readonly transaction: Transaction
  private readonly slot: number

  constructor(cache: NodeCache, transaction: Transaction, slot: number) {
    super(cache)
    this.transaction = transaction
    this.slot = slot
  }

  protected override get state(): TreeState {
    return this.transaction.treeState(this.slot)
  }

  insert(key: Key, value: Bytes): void {
    this.transaction.change(this.slot, OPERATION_INSERT, key, value)
  }

  insertMany(keys: readonly Key[], values: readonly Bytes[]): void {
    this.transaction.insertMany(this.slot, keys, values)
  }

  replace(key: Key, value: Bytes): void {
    this.transaction.change(this.slot, OPERATION_REPLACE, key, value)
  }

  remove(key: Key, valueBytes: number = 0): void {
    this.transaction.change(this.slot, OPERATION_REMOVE, key, valueBytes)
  }

  put(key: Key, value: Bytes): void {
    if (this.get(key) === undefined) this.insert(key, value)
    else this.replace(key, value)
  }

  delete(key: Key): boolean {
    const value = this.get(key)
    if (value === undefined) return false
    this.remove(key, value.length)
    return true
  }

  append(value: Uint8Array): number {
    const { kind, nextNumber } = this.state
    assert(kind === 'sequence', 'only sequence trees append')
    this.insert(numberKey(nextNumber), value)
    return nextNumber
  }

  appendMany(values: readonly Uint8Array[]): number {
    const { kind, nextNumber } = this.state
    assert(kind === 'sequence', 'only sequence trees append')
    this.insertMany(
      Array.from(values, (_, at) => numberKey(nextNumber + at)),
      values,
    )
    return nextNumber
  }
}
