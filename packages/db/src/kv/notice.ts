/** The notices that listeners get of a commit. */
import type { CommitSequence, Key } from '../base/brand.ts'
import { readCommit, type CommitBody } from './commit-record.ts'
import type { CommitNotice } from './key-value-store.ts'
import type { State } from './state.ts'
import type { SealedTransaction } from './transaction.ts'

/** Commits that change more keys of a tree than this do not list them. */
const NOTICE_KEYS_MAX = 10_000

export function commitNotice(
  before: State,
  after: State,
  sequence: CommitSequence,
  body: CommitBody | Uint8Array,
  local: boolean,
): CommitNotice {
  const names = new Map<number, string>()
  const trees = new Map<string, { readonly keys: readonly Key[] | undefined }>()
  /** By tree; undefined: it was dropped. */
  const changed = new Map<number, Key[] | undefined>()
  readCommit(body, {
    create({ id, name }) {
      names.set(id, name)
      trees.set(name, { keys: [] })
    },
    drop: (id) => changed.set(id, undefined),
    change(id) {
      const keys: Key[] = []
      changed.set(id, keys)
      return { add: (_operation, key) => keys.push(key) }
    },
  })
  for (const state of [before, after])
    for (const tree of state.trees) if (tree !== undefined && changed.has(tree.id)) names.set(tree.id, tree.name)
  for (const [id, keys] of changed) {
    const name = names.get(id)
    if (name !== undefined)
      trees.set(name, { keys: keys && keys.length <= NOTICE_KEYS_MAX ? [...new Set(keys)].sort() : undefined })
  }
  return { sequence, trees, local }
}

/** For a commit of this handle that skipped the log. */
export function directNotice(before: State, after: State, { body, touchedTrees }: SealedTransaction): CommitNotice {
  if (body !== undefined) return commitNotice(before, after, after.sequence, body, true)
  const names = new Set(touchedTrees)
  for (const name of after.slotOfName.keys()) if (!before.slotOfName.has(name)) names.add(name)
  for (const name of before.slotOfName.keys()) if (!after.slotOfName.has(name)) names.add(name)
  return withoutKeys(after, names, true)
}

/** Other handles have committed, and what is no longer in the log: anything may have changed. */
export function unknownChanges(before: State, after: State): CommitNotice {
  return withoutKeys(after, [...before.slotOfName.keys(), ...after.slotOfName.keys()], false)
}

function withoutKeys({ sequence }: State, names: Iterable<string>, local: boolean): CommitNotice {
  return { sequence, trees: new Map(Array.from(names, (name) => [name, { keys: undefined }])), local }
}
