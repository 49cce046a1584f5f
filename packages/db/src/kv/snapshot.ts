/** Reads of one state. */
import type { CommitSequence } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import { attempt } from '../base/miss.ts'
import { isPromise, type MaybePromise } from '../base/async.ts'
import type { NodeCache } from '../btree/node.ts'
import { MissingPageError } from '../pager/page-cache.ts'
import type { HeldSnapshot, Snapshot, TreeReader } from './key-value-store.ts'
import type { PageStore } from '../storage/page-store.ts'
import { SnapshotTree } from './merged-tree.ts'
import { namesWithPrefix, type State } from './state.ts'

export class StateSnapshot implements Snapshot {
  readonly state: State
  readonly sequence: CommitSequence
  readonly #cache: NodeCache
  readonly #trees = new Map<string, SnapshotTree>()

  constructor(state: State, cache: NodeCache) {
    this.state = state
    this.sequence = state.sequence
    this.#cache = cache
  }

  tree(name: string): TreeReader | undefined {
    const known = this.#trees.get(name)
    if (known !== undefined) return known
    const slot = this.state.slotOfName.get(name)
    if (slot === undefined) return undefined
    const tree = new SnapshotTree(this.#cache, this.state.trees[slot]!)
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
  readonly #store: Pick<PageStore, 'read'>
  readonly #assertFound: () => void

  /** `assertFound` throws when the database is lost. */
  constructor(
    state: State,
    cache: NodeCache,
    store: Pick<PageStore, 'read'>,
    release: () => void,
    assertFound: () => void = () => {},
  ) {
    super(state, cache)
    this.#store = store
    this.release = release
    this.#assertFound = assertFound
  }

  attempt<T>(read: () => T): MaybePromise<T> {
    this.#assertFound()
    return explained(() => attempt(read), this.#store, this.state)
  }
}

/** Runs `read` on that state. A missing page fails with an error that says what that means. */
export function explained<T>(
  read: () => MaybePromise<T>,
  store: Pick<PageStore, 'read'>,
  state: Pick<State, 'generation' | 'sequence'>,
): MaybePromise<T> {
  const explain = (error: unknown): Promise<never> => explainFailure(error, store, state)
  let result: MaybePromise<T>
  try {
    result = read()
  } catch (error) {
    // What is no matter of pages is thrown at once where there is nothing to wait for.
    if (!(error instanceof MissingPageError)) throw error
    return explain(error)
  }
  return isPromise(result) ? result.catch(explain) : result
}

/**
 * A page that is missing was reclaimed if there is a newer generation: then this handle was asleep for so long that its hold was given up.
 * No page of the newest generation is ever reclaimed: one that is missing there is lost.
 */
async function explainFailure(
  error: unknown,
  store: Pick<PageStore, 'read'>,
  { generation, sequence }: Pick<State, 'generation' | 'sequence'>,
): Promise<never> {
  if (!(error instanceof MissingPageError)) throw error
  const { meta } = await store.read({ generation, sequence })
  if (meta === undefined || meta.generation <= generation) throw error
  const message = 'The snapshot is too old: its pages were reclaimed. Read again.'
  throw new PannierError('PANNIER_SNAPSHOT_EXPIRED', message, { cause: error })
}
