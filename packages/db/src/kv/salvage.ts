/**
 * Reads what is readable of a damaged store, and writes nothing: trees without damaged or missing pages, and the
 * commits after the one that could not be replayed. docs/internals/repair.md is normative.
 */
import type { CommitSequence, Key, PageId } from '../base/brand.ts'
import type { Environment } from '../base/environment.ts'
import { isPannierError, PannierError } from '../base/errors.ts'
import { attempt } from '../base/miss.ts'
import { Branch, type Garbage, isGarbage } from '../btree/branch.ts'
import { Leaf } from '../btree/leaf.ts'
import { resolveValue } from '../btree/search.ts'
import { asArray } from '../codec/bytes.ts'
import type { PageStore } from '../storage/page-store.ts'
import { ALONE } from '../storage/coordinator.ts'
import { decodeCommit, verifyLogRecord, type CommitBody } from './commit-record.ts'
import { Core } from './core.ts'
import type { Entry, HeldSnapshot } from './key-value-store.ts'
import {
  overlayApply,
  overlayColumns,
  overlayGet,
  type Overlay,
  OPERATION_INSERT,
  OPERATION_REMOVE,
  OPERATION_REPLACE,
  type Operation,
} from './overlay.ts'
import { HeldStateSnapshot } from './snapshot.ts'
import { countUp, createTree, draftOf, draftTree, finishDraft, type State } from './state.ts'

/** A page that can't be read. */
interface LostPage {
  readonly tree: string
  readonly page: number
  /** Below it, or of which it is a piece. */
  readonly entries: number
}

/** A commit behind the damage. It was made on a state that nobody knows any more, so of that state only what it put itself is sure. */
export interface LaterCommit {
  /** The former state, with this commit and earlier ones laid over it by force. */
  readonly snapshot: HeldSnapshot
  /** By the name of the tree. */
  readonly puts: ReadonlyMap<string, readonly Entry[]>
}

const CACHE_BYTES_MAX: number = 16 * 1024 * 1024

export class Salvage {
  /** The newest state that the log replays to. */
  readonly snapshot: HeldSnapshot
  /** Why the log could not be replayed to its end. */
  readonly damage: PannierError | undefined
  readonly lostPages: LostPage[] = []
  /** Commits behind the damage that can't be read. */
  lostCommits = 0
  readonly #core: Core

  private constructor(core: Core) {
    this.#core = core
    this.snapshot = this.#snapshotOf(core.state)
    this.damage = core.damage
  }

  /** @throws PANNIER_CORRUPT if the meta record can't be read: without it nothing can. */
  static async open(store: PageStore, environment: Environment): Promise<Salvage> {
    const durability = 'relaxed'
    const core = new Core({ store, environment, coordinator: ALONE, cacheBytesMax: CACHE_BYTES_MAX, durability })
    core.adopt(await store.read())
    return new Salvage(core)
  }

  /** The readable entries of the tree: those in pages in the order of the keys, then those only in the log. */
  async *entries(tree: string): AsyncGenerator<Entry, void, undefined> {
    const { trees, slotOfName } = this.#core.state
    const slot = slotOfName.get(tree)
    if (slot === undefined) return
    const { tree: root, overlay } = trees[slot]!
    if (root !== undefined) {
      for await (const entry of this.#below(tree, { ...root, level: root.height - 1, garbage: undefined }))
        if (overlayGet(overlay, entry.key) === undefined) yield entry
    }
    const { keys, changes } = overlayColumns(overlay)
    for (let i = 0; i < keys.length; i++) {
      const change = changes[i]!
      if (typeof change !== 'number') yield { key: keys[i]!, value: asArray(change) }
    }
  }

  /** The commits behind the one that could not be replayed, and that commit if it can be read. */
  async *later(): AsyncGenerator<LaterCommit, void, undefined> {
    let { state } = this.#core
    const { sequence } = state
    const { log } = await this.#core.options.store.read()
    for (const record of log) {
      if (record.sequence <= sequence) continue
      let body: CommitBody
      try {
        verifyLogRecord(record)
        body = decodeCommit(record.bytes)
      } catch (error) {
        if (!isPannierError(error, 'PANNIER_CORRUPT')) throw error
        this.lostCommits++
        continue
      }
      const forced = force(state, record.sequence, body)
      state = forced.state
      yield { snapshot: this.#snapshotOf(state), puts: forced.puts }
    }
  }

  #snapshotOf(state: State): HeldSnapshot {
    return new HeldStateSnapshot(state, this.#core.cache, this.#core.options.store, () => {})
  }

  async *#below(tree: string, place: SalvagedPage): AsyncGenerator<Entry, void, undefined> {
    const { id, level, count, garbage } = place
    const node = await this.#read(tree, id, count, () => {
      const found = this.#core.cache.get(id)
      const isExpected = found instanceof Branch ? found.level === level : level === 0 && found instanceof Leaf
      if (!isExpected) throw new PannierError('PANNIER_CORRUPT', `Page ${id} is of another kind.`)
      return found
    })
    if (node instanceof Branch) {
      for (const child of node.children) yield* this.#below(tree, { ...child, level: level - 1 })
    } else if (node instanceof Leaf) {
      for (let i = 0; i < node.count; i++) {
        const key = node.key(i)
        if (isGarbage(garbage, key)) continue
        const value = await this.#read(tree, id, 1, () => resolveValue(this.#core.cache, node.value(i)))
        if (value !== undefined) yield { key, value }
      }
    }
  }

  /** Undefined, and noted, if it can't be read. */
  async #read<T>(tree: string, page: PageId, entries: number, read: () => T): Promise<T | undefined> {
    try {
      return await attempt(read)
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_CORRUPT')) throw error
      const at = error.details['page']
      this.lostPages.push({ tree, page: typeof at === 'number' ? at : page, entries })
      return undefined
    }
  }
}

interface SalvagedPage {
  readonly id: PageId
  readonly level: number
  readonly count: number
  readonly garbage: Garbage | undefined
}

/** Applies a commit to a state that it may not have been made on. Trees that it creates begin empty; it drops no tree. */
function force(state: State, sequence: CommitSequence, body: CommitBody): { state: State; puts: Map<string, Entry[]> } {
  const draft = draftOf(state)
  const puts = new Map<string, Entry[]>()
  const slotOfId = new Map<number, number>()
  draft.trees.forEach((tree, slot) => tree !== undefined && slotOfId.set(tree.id, slot))
  for (const created of body.created) slotOfId.set(created.id, createTree(draft, created))
  for (const { tree: id, operations, keys, changes } of body.trees) {
    const slot = slotOfId.get(id)
    if (slot === undefined) continue
    const tree = draftTree(draft, slot)
    const put: Entry[] = puts.get(tree.name) ?? []
    puts.set(tree.name, put)
    for (let i = 0; i < operations.length; i++) {
      const [key, change] = [keys[i]!, changes[i]!]
      const operation = fitting(tree.overlay, key, operations[i]!)
      if (operation !== undefined) tree.overlay = overlayApply(tree.overlay, draft.edit, operation, key, change)
      if (typeof change === 'number') continue
      put.push({ key, value: asArray(change) })
      countUp(tree, key)
    }
  }
  return { state: finishDraft(state, draft, sequence as CommitSequence), puts }
}

/** The operation that has the same effect on an overlay that may have, or lack, the key; undefined if there is nothing to do. */
function fitting(overlay: Overlay, key: Key, operation: Operation): Operation | undefined {
  const there = overlayGet(overlay, key)
  if (there === undefined) return operation
  const isThere = typeof there !== 'number'
  if (operation === OPERATION_REMOVE) return isThere ? OPERATION_REMOVE : undefined
  return isThere ? OPERATION_REPLACE : OPERATION_INSERT
}
