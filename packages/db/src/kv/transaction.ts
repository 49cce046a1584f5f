/**
 * A write transaction: a draft of the next state, and the record of how it differs.
 *
 * Nothing of it is visible before the commit. It can be rewound to a savepoint, so that several small writes share one
 * transaction and a failed one leaves nothing behind.
 */
import { assert } from '../base/assert.ts'
import type { CommitSequence, Key } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import { KEY_BYTES_MAX } from '../btree/leaf.ts'
import type { NodeCache } from '../btree/node.ts'
import type { Bytes } from '../codec/bytes.ts'
import { numberKey } from '../codec/key-number.ts'
import {
  OPERATION_INSERT,
  OPERATION_REMOVE,
  OPERATION_REPLACE,
  type CommitBody,
  type CreatedTree,
  type Operation,
  type TreeOperations,
} from './commit-record.ts'
import type { ReducerName, TreeKind, TreeWriter, WriteTransaction } from './key-value-store.ts'
import { MergedTree } from './merged-tree.ts'
import type { Change } from './overlay.ts'
import { overlayApply, overlayInsertMany } from './overlay-edit.ts'
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

/** A storage checkpoint starts when the log has grown to this; a transaction that is larger skips the log. */
export const LOG_BYTES_MAX: number = 1024 * 1024

/** Bytes that an operation takes in the log beside its key and value. */
const OPERATION_OVERHEAD_BYTES = 6

/** The operations of a transaction in order, in columns. */
interface OperationLog {
  readonly trees: number[]
  readonly operations: Operation[]
  readonly keys: Key[]
  readonly changes: Change[]
}

interface Savepoint {
  readonly draft: Draft
  readonly length: number
  readonly bytes: number
  readonly created: number
  readonly dropped: number
}

export class Transaction implements WriteTransaction {
  readonly base: State
  readonly #cache: NodeCache
  /** Undefined once they are more than the log takes: then the commit goes to pages, and only the draft is needed. */
  #log: OperationLog | undefined = { trees: [], operations: [], keys: [], changes: [] }
  readonly #touched = new Set<number>()
  readonly #created: CreatedTree[] = []
  readonly #dropped: number[] = []
  readonly #writers = new Map<number, TransactionTree>()
  #draft: Draft
  /** About what the commit takes in the log. */
  bytes = 0

  constructor(base: State, cache: NodeCache) {
    this.base = base
    this.#cache = cache
    this.#draft = draftOf(base)
  }

  get sequence(): CommitSequence {
    return this.base.sequence
  }

  /** Whether a commit would change anything. */
  get changed(): boolean {
    return this.#touched.size > 0 || this.#created.length > 0 || this.#dropped.length > 0
  }

  /** Whether `body` can tell the operations. */
  get loggable(): boolean {
    return this.#log !== undefined
  }

  /** Names of the trees with changed entries. */
  touchedTrees(): string[] {
    return [...this.#touched].flatMap((slot) => this.#draft.slots[slot]?.name ?? [])
  }

  tree(name: string): TreeWriter | undefined {
    const slot = this.#draft.slotOfName.get(name)
    return slot === undefined ? undefined : this.#writer(slot)
  }

  treeNames(prefix: string = ''): string[] {
    return namesWithPrefix(this.#draft.slotOfName, prefix)
  }

  createTree(name: string, kind: TreeKind, reducer?: ReducerName): TreeWriter {
    assert(!this.#draft.slotOfName.has(name), `tree ${name} exists`)
    assert(reducer === undefined || kind === 'ordered', 'only ordered trees are kept reduced')
    const created = { id: this.#draft.nextTreeId, name, kind, reducer }
    this.#created.push(created)
    this.bytes += name.length + OPERATION_OVERHEAD_BYTES
    return this.#writer(createTree(this.#draft, created))
  }

  dropTree(name: string): void {
    const slot = this.#draft.slotOfName.get(name)
    assert(slot !== undefined, `tree ${name} does not exist`)
    this.#dropped.push(this.#draft.slots[slot]!.id)
    this.bytes += OPERATION_OVERHEAD_BYTES
    dropTree(this.#draft, slot)
    this.#writers.delete(slot)
  }

  /** A point to come back to. From now on what was there before is not changed in place. */
  savepoint(): Savepoint {
    const draft = { ...this.#draft, slots: this.#draft.slots.slice() }
    this.#draft.edit = {}
    this.#draft.owned = new Set()
    return {
      draft,
      length: this.#log?.keys.length ?? 0,
      bytes: this.bytes,
      created: this.#created.length,
      dropped: this.#dropped.length,
    }
  }

  rollbackTo(savepoint: Savepoint): void {
    this.#draft = { ...savepoint.draft, edit: {}, owned: new Set(), slots: savepoint.draft.slots.slice() }
    if (this.#log !== undefined) for (const column of Object.values(this.#log)) column.length = savepoint.length
    // By the bytes: a log that is forgotten has no length, whatever was changed before.
    if (savepoint.bytes === 0) this.#touched.clear()
    this.bytes = savepoint.bytes
    this.#created.length = savepoint.created
    this.#dropped.length = savepoint.dropped
    this.#writers.clear()
  }

  /** The state after it. */
  result(sequence: CommitSequence): State {
    return finishDraft(this.base, this.#draft, sequence)
  }

  /** What the log record holds: the operations by tree, those on trees that were dropped left out. */
  body(): CommitBody {
    assert(this.#log !== undefined, 'the operations are known')
    const gone = new Set(this.#dropped)
    const lived = new Set(this.#created.map(({ id }) => id).filter((id) => gone.has(id)))
    const trees = new Map<number, TreeOperations>()
    const { trees: ids, operations, keys, changes } = this.#log
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

  #writer(slot: number): TransactionTree {
    let writer = this.#writers.get(slot)
    if (writer === undefined) {
      writer = new TransactionTree(this.#cache, this, slot)
      this.#writers.set(slot, writer)
    }
    return writer
  }

  /** For the trees that it hands out, as the two that follow. */
  treeState(slot: number): TreeState {
    return this.#draft.slots[slot]!
  }

  insertMany(slot: number, keys: readonly Key[], values: readonly Bytes[]): void {
    if (keys.length === 0) return
    let bytes = 0
    for (let i = 0; i < keys.length; i++) {
      checkKey(keys[i]!)
      bytes += keys[i]!.length + values[i]!.length + OPERATION_OVERHEAD_BYTES
    }
    const tree = draftTree(this.#draft, slot)
    tree.overlay = overlayInsertMany(tree.overlay, this.#draft.edit, keys, values)
    countUp(tree, keys.at(-1)!)
    this.#touched.add(slot)
    this.bytes += bytes
    const log = this.#log
    if (log === undefined) return
    if (this.bytes > LOG_BYTES_MAX) {
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
    const tree = draftTree(this.#draft, slot)
    tree.overlay = overlayApply(tree.overlay, this.#draft.edit, operation, key, change)
    if (operation === OPERATION_INSERT) countUp(tree, key)
    this.#touched.add(slot)
    this.bytes += key.length + (typeof change === 'number' ? 0 : change.length) + OPERATION_OVERHEAD_BYTES
    const log = this.#log
    if (log === undefined) return
    if (this.bytes > LOG_BYTES_MAX) {
      this.#log = undefined
      return
    }
    log.trees.push(tree.id)
    log.operations.push(operation)
    log.keys.push(key)
    log.changes.push(change)
  }
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
