/** Reads of one state. */
import type { CommitSequence } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import { attempt } from '../base/miss.ts'
import { isPromise, type MaybePromise } from '../base/maybe-promise.ts'
import type { NodeCache } from '../btree/node.ts'
import { MissingPageError } from '../pager/page-cache.ts'
import type { HeldSnapshot, Snapshot, TreeReader } from './key-value-store.ts'
import { SnapshotTree } from './merged-tree.ts'
import { namesWithPrefix, type State } from './state.ts'

export class StateSnapshot implements Snapshot {
  readonly state: State
  readonly #cache: NodeCache
  readonly #trees = new Map<string, SnapshotTree>()

  constructor(state: State, cache: NodeCache) {
    this.state = state
    this.#cache = cache
  }

  get sequence(): CommitSequence {
    return this.state.sequence
  }

  tree(name: string): TreeReader | undefined {
    const known = this.#trees.get(name)
    if (known !== undefined) return known
    const slot = this.state.slotOfName.get(name)
    if (slot === undefined) return undefined
    const tree = new SnapshotTree(this.#cache, this.state.slots[slot]!)
    this.#trees.set(name, tree)
    return tree
  }

  treeNames(prefix: string = ''): string[] {
    return namesWithPrefix(this.state.slotOfName, prefix)
  }
}

/** A snapshot whose pages stay until it is released. */
export class HeldStateSnapshot extends StateSnapshot implements HeldSnapshot {
  readonly release: () => void

  constructor(state: State, cache: NodeCache, release: () => void) {
    super(state, cache)
    this.release = release
  }

  attempt<T>(read: () => T): MaybePromise<T> {
    let result: MaybePromise<T>
    try {
      result = attempt(read)
    } catch (error) {
      throw expired(error)
    }
    if (!isPromise(result)) return result
    return result.catch((error: unknown) => {
      throw expired(error)
    })
  }
}

/** A page can only be missing under a held snapshot when this handle was asleep for so long that it was given up. */
export function expired(error: unknown): unknown {
  if (!(error instanceof MissingPageError)) return error
  return new PannierError(
    'PANNIER_SNAPSHOT_EXPIRED',
    'The snapshot is too old: its pages were reclaimed. Read again.',
    { cause: error },
  )
}
