/** Goal: a log that is replayed costs the trees that somebody looks at, and no others; and commits of others never pile up. */
import { expect, test } from 'vitest'
import type { CommitSequence, Key } from '../../src/base/brand.ts'
import { numberKey } from '../../src/codec/key-number.ts'
import { OPERATION_INSERT, type CommitBody, type CreatedTree, type TreeOperations } from '../../src/kv/commit-record.ts'
import { emptyState } from '../../src/kv/meta-body.ts'
import { overlayColumns, overlayDelta } from '../../src/kv/overlay.ts'
import { applyCommits, type LoggedCommit } from '../../src/kv/replay.ts'

const value = new Uint8Array([1])

function treeCalled(name: string, id: number, kind: CreatedTree['kind']): CreatedTree {
  return { id, name, kind, reducer: undefined }
}

function insertion(tree: number, key: Key): TreeOperations {
  return { tree, operations: [OPERATION_INSERT], keys: [key], changes: [value] }
}

function commitOf(sequence: number, body: Partial<CommitBody>): LoggedCommit {
  return { sequence: sequence as CommitSequence, body: { created: [], dropped: [], trees: [], ...body } }
}

const CREATION = commitOf(1, { created: [treeCalled('ids', 1, 'ordered'), treeCalled('bodies', 2, 'sequence')] })

test('a tree that nobody looks at is not made', () => {
  let looks = 0
  const counted: TreeOperations = {
    ...insertion(1, 'b' as Key),
    get changes() {
      looks++
      return [value]
    },
  }
  const { slots } = applyCommits(emptyState('db'), [
    CREATION,
    commitOf(2, { trees: [counted, insertion(2, numberKey(7))] }),
  ])
  expect(overlayDelta(slots[1]!.overlay)).toBe(1)
  expect([looks, slots[1]!.nextNumber]).toEqual([0, 8])
  expect(overlayColumns(slots[0]!.overlay).keys).toEqual(['b'])
  expect(overlayDelta(slots[0]!.overlay)).toBe(1)
  expect(looks).toBe(1)
})

test('a state that was handed out stays as it was', () => {
  const before = applyCommits(emptyState('db'), [CREATION, commitOf(2, { trees: [insertion(1, 'a' as Key)] })])
  const after = applyCommits(before, [commitOf(3, { trees: [insertion(1, 'b' as Key)] })])
  expect(overlayColumns(after.slots[0]!.overlay).keys).toEqual(['a', 'b'])
  expect(overlayColumns(before.slots[0]!.overlay).keys).toEqual(['a'])
})

test('twenty thousand commits that came one by one, and were never looked at, are no chain', () => {
  let state = applyCommits(emptyState('db'), [CREATION])
  for (let n = 2; n < 20_000; n++) state = applyCommits(state, [commitOf(n, { trees: [insertion(1, numberKey(n))] })])
  expect(overlayDelta(state.slots[0]!.overlay)).toBe(19_998)
})

test('what was to be done to a tree that is dropped is forgotten, also where another one takes its place', () => {
  const log = [
    CREATION,
    commitOf(2, { trees: [insertion(1, 'old' as Key)] }),
    commitOf(3, { dropped: [1] }),
    commitOf(4, { created: [treeCalled('ids', 3, 'ordered')] }),
    commitOf(5, { trees: [insertion(3, 'new' as Key)] }),
  ]
  const { slots, slotOfName } = applyCommits(emptyState('db'), log)
  expect(overlayColumns(slots[slotOfName.get('ids')!]!.overlay).keys).toEqual(['new'])
  expect(() => applyCommits(emptyState('db'), [...log, commitOf(6, { trees: [insertion(1, 'b' as Key)] })])).toThrow(
    'a tree that does not exist',
  )
})
