/** Goal: a log that is replayed costs the trees that somebody looks at, and no others; and commits of others never pile up. */
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import type { CommitSequence, Key } from '../../src/base/brand.ts'
import { numberKey } from '../../src/codec/key-encoding.ts'
import {
  encodeCommit,
  WRITER_ID_BYTES,
  type CommitBody,
  type CreatedTree,
  type TreeOperations,
} from '../../src/kv/commit-record.ts'
import { emptyState } from '../../src/kv/meta-body.ts'
import {
  overlayColumns,
  overlayDelta,
  OPERATION_INSERT,
  OPERATION_REMOVE,
  OPERATION_REPLACE,
  type Operation,
} from '../../src/kv/overlay.ts'
import { applyCommits, replay, type LoggedCommit } from '../../src/kv/replay.ts'
import type { State, TreeState } from '../../src/kv/state.ts'
import { compareStates } from '../../testing/replay-check.ts'
import { times } from '../../../../tools/test/seeds.ts'

const value = new Uint8Array([1])

function treeCalled(name: string, id: number, kind: CreatedTree['kind']): CreatedTree {
  return { id, name, kind, reducer: undefined }
}

function insertion(tree: number, key: Key): TreeOperations {
  return { tree, operations: [OPERATION_INSERT], keys: [key], changes: [value] }
}

const NOTHING: CommitBody = { created: [], dropped: [], trees: [] }

function commitOf(sequence: number, body: Partial<CommitBody>): LoggedCommit {
  return { sequence: sequence as CommitSequence, body: { ...NOTHING, ...body } }
}

const CREATION = commitOf(1, { created: [treeCalled('ids', 1, 'ordered'), treeCalled('bodies', 2, 'sequence')] })

test('a tree that nobody looks at is not made', () => {
  const sort = vi.spyOn(Array.prototype, 'sort')
  const { trees } = applyCommits(emptyState(), [
    CREATION,
    commitOf(2, { trees: [insertion(1, 'b' as Key), insertion(2, numberKey(7))] }),
  ])
  expect([sort.mock.calls.length, trees[1]!.nextNumber]).toEqual([0, 8])
  expect(overlayColumns(trees[0]!.overlay).keys).toEqual(['b'])
  expect(overlayDelta(trees[0]!.overlay)).toBe(1)
  expect(sort.mock.calls.length).toBe(1)
  sort.mockRestore()
})

const steps = fc.array(fc.tuple(fc.nat(99), fc.constantFrom(OPERATION_REPLACE, OPERATION_REMOVE)), { maxLength: 400 })

test.each([
  ['new', undefined],
  ['in pages', { id: 9, height: 1, count: 1, bytes: 20, overflow: false } as unknown as TreeState['tree']],
])('a log replayed at once gives what its records give one after another, for a tree that is %s', (_, tree) => {
  const property = fc.property(steps, (chosen) => {
    const created = applyCommits(emptyState(), [CREATION])
    const before = { ...created, trees: created.trees.map((one) => ({ ...one!, tree })) }
    const present = new Map<number, boolean>()
    const commits = chosen.map(([number, wished], at) => {
      const wasThere = present.get(number) ?? tree !== undefined
      present.set(number, !wasThere || wished === OPERATION_REPLACE)
      const sequence = (at + 2) as CommitSequence
      const operation = wasThere ? wished : OPERATION_INSERT
      const trees = [change(1, `k${number}` as Key, operation)]
      return { sequence, body: encodeCommit(sequence, new Uint8Array(WRITER_ID_BYTES), { ...NOTHING, trees }) }
    })
    let oneByOne: State = before
    for (const commit of commits) oneByOne = applyCommits(oneByOne, [commit])
    compareStates(applyCommits(before, commits), oneByOne, NOTHING)
  })
  fc.assert(property, { numRuns: times(50) })
})

test('a state that was handed out stays as it was', () => {
  const before = applyCommits(emptyState(), [CREATION, commitOf(2, { trees: [insertion(1, 'a' as Key)] })])
  const after = applyCommits(before, [commitOf(3, { trees: [insertion(1, 'b' as Key)] })])
  expect(overlayColumns(after.trees[0]!.overlay).keys).toEqual(['a', 'b'])
  expect(overlayColumns(before.trees[0]!.overlay).keys).toEqual(['a'])
})

test('twenty thousand commits that came one by one, and were never looked at, are no chain', () => {
  let state = applyCommits(emptyState(), [CREATION])
  for (let n = 2; n < 20_000; n++) state = applyCommits(state, [commitOf(n, { trees: [insertion(1, numberKey(n))] })])
  expect(overlayDelta(state.trees[0]!.overlay)).toBe(19_998)
})

test('what was to be done to a tree that is dropped is forgotten, also where another one takes its place', () => {
  const log = [
    CREATION,
    commitOf(2, { trees: [insertion(1, 'old' as Key)] }),
    commitOf(3, { dropped: [1] }),
    commitOf(4, { created: [treeCalled('ids', 3, 'ordered')] }),
    commitOf(5, { trees: [insertion(3, 'new' as Key)] }),
  ]
  const { trees, slotOfName } = applyCommits(emptyState(), log)
  expect(overlayColumns(trees[slotOfName.get('ids')!]!.overlay).keys).toEqual(['new'])
  expect(() => applyCommits(emptyState(), [...log, commitOf(6, { trees: [insertion(1, 'b' as Key)] })])).toThrow(
    'a tree that does not exist',
  )
})

const REMOVED = 7

function change(tree: number, key: Key, operation: Operation): TreeOperations {
  return { tree, operations: [operation], keys: [key], changes: [operation === OPERATION_REMOVE ? REMOVED : value] }
}

const HISTORY = [
  CREATION,
  commitOf(2, { trees: [insertion(1, 'a' as Key), insertion(2, numberKey(7))] }),
  commitOf(3, { trees: [change(1, 'a' as Key, OPERATION_REMOVE)] }),
]

test.each<[string, Partial<CommitBody>]>([
  ['adds an entry that is there', { trees: [insertion(2, numberKey(7))] }],
  ['replaces one that was removed', { trees: [change(1, 'a' as Key, OPERATION_REPLACE)] }],
  ['removes one that was removed', { trees: [change(1, 'a' as Key, OPERATION_REMOVE)] }],
  ['removes one that never was', { trees: [change(2, numberKey(8), OPERATION_REMOVE)] }],
  ['adds the same one twice', { trees: [insertion(1, 'b' as Key), insertion(1, 'b' as Key)] }],
  ['changes a tree that is not there', { trees: [insertion(3, 'b' as Key)] }],
  ['drops a tree that is not there', { dropped: [3] }],
  ['makes a tree that is there', { created: [treeCalled('other', 2, 'ordered')] }],
  ['makes a tree twice', { created: [treeCalled('x', 3, 'ordered'), treeCalled('y', 3, 'ordered')] }],
])('a commit that %s ends the replay before it, also where it comes later by itself', (_, body) => {
  const bad = commitOf(4, body)
  const after = commitOf(5, { trees: [insertion(1, 'z' as Key)] })
  const { state, count, failure } = replay(emptyState(), [...HISTORY, bad, after])
  expect([count, state.sequence, failure?.code]).toEqual([3, 3, 'PANNIER_CORRUPT'])
  expect(overlayColumns(state.trees[0]!.overlay).keys).toEqual([])
  expect(overlayColumns(state.trees[1]!.overlay).keys).toEqual([numberKey(7)])
  const later = replay(applyCommits(emptyState(), HISTORY), [bad])
  expect([later.count, later.failure?.code]).toEqual([0, 'PANNIER_CORRUPT'])
})

test('what may be in pages may be replaced and removed, once', () => {
  const inPages = { ...applyCommits(emptyState(), [CREATION]) }
  const tree = { id: 9, height: 1, count: 1, bytes: 20, overflow: false } as unknown as TreeState['tree']
  const state = { ...inPages, trees: inPages.trees.map((one) => ({ ...one!, tree })) }
  const removal = commitOf(2, { trees: [change(1, 'a' as Key, OPERATION_REMOVE)] })
  expect(replay(state, [removal]).count).toBe(1)
  expect(replay(state, [removal, { ...removal, sequence: 3 as CommitSequence }]).count).toBe(1)
  expect(replay(state, [removal, commitOf(3, { trees: [insertion(1, 'a' as Key)] })]).count).toBe(2)
})
