/** Goal: a revision tree agrees with the naive model of one, whatever it is told and in whatever order. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { pathOf, possibleAncestors, RevisionTree } from '../../src/document/revision-tree.ts'
import { historyOf, parseHistory, parseRevision, revisionText } from '../../src/document/revision.ts'
import type { Revision } from '../../src/document/revision.ts'
import { ModelDocument } from '../../testing/model-revisions.ts'
import { times } from '../../../../tools/test/seeds.ts'

interface Told {
  readonly path: readonly Revision[]
  readonly deleted: boolean
}

/** Few names, so that paths meet, contradict one another and leave gaps. */
const toldArbitrary: fc.Arbitrary<Told> = fc.record({
  path: fc
    .tuple(fc.integer({ min: 1, max: 9 }), fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 9 }))
    .map(([start, ids]) => ids.slice(0, start).map((suffix, at) => ({ generation: start - at, suffix }))),
  deleted: fc.boolean(),
})

function build(told: readonly Told[], limit: number): [RevisionTree<true>, ModelDocument] {
  const tree = new RevisionTree<true>()
  const model = new ModelDocument()
  for (const { path, deleted } of told) {
    const isNew = tree.get(revisionText(path[0]!)) === undefined
    const node = tree.merge(path)
    if (isNew) node.deleted = deleted
    tree.stem(limit)
    model.add(path.map(revisionText), deleted, {}, limit, false)
  }
  return [tree, model]
}

const limitArbitrary = fc.oneof(fc.constant(1000), fc.integer({ min: 1, max: 5 }))

test('leaves, winner and histories, at any limit', () => {
  fc.assert(
    fc.property(fc.array(toldArbitrary, { minLength: 1, maxLength: 15 }), limitArbitrary, (told, limit) => {
      const [tree, model] = build(told, limit)
      expect(tree.leaves().map(revisionText)).toEqual(model.leaves())
      expect(revisionText(tree.winner()!)).toBe(model.leaves()[0])
      expect([...tree.nodes.keys()].sort()).toEqual([...model.revisions.keys()].sort())
      for (const node of tree.nodes.values()) {
        expect(pathOf(node).map(revisionText)).toEqual(model.path(revisionText(node)))
        const children = [...tree.nodes.values()].filter(({ parent }) => parent === node)
        expect(node.children).toBe(children.length)
        const latest = model.leaves().find((leaf) => model.path(leaf).includes(revisionText(node)))
        expect(revisionText(tree.latest(node))).toBe(latest)
      }
    }),
    { numRuns: times(500) },
  )
})

test('another order gives the same tree, unless it contradicts itself', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(6), { minLength: 1, maxLength: 20 }),
      fc.infiniteStream(fc.nat(1000)),
      (shape, order) => {
        const nodes: Revision[][] = [[{ generation: 1, suffix: 'root' }]]
        shape.forEach((parentAt, at) => {
          const parent = nodes[parentAt % nodes.length]!
          nodes.push([{ generation: parent[0]!.generation + 1, suffix: `n${at}` }, ...parent])
        })
        const told = nodes.map((path) => ({ path, deleted: path[0]!.suffix.endsWith('3') }))
        const isLeaf = (at: number): boolean => !nodes.some((path) => path[1] === nodes[at]![0])
        const leaves = told.filter((_, at) => isLeaf(at))
        const keys = leaves.map(() => order.next().value as number)
        const shuffled = [...leaves.keys()].sort((a, b) => keys[a]! - keys[b]!).map((at) => leaves[at]!)
        const [one] = build(leaves, 1000)
        const [other] = build(shuffled, 1000)
        expect(other.leaves().map((leaf) => [leaf.deleted, historyOf(pathOf(leaf))])).toEqual(
          one.leaves().map((leaf) => [leaf.deleted, historyOf(pathOf(leaf))]),
        )
      },
    ),
    { numRuns: times(200) },
  )
})

test('removing leaves', () => {
  fc.assert(
    fc.property(fc.array(toldArbitrary, { minLength: 1, maxLength: 12 }), fc.nat(), (told, choice) => {
      const [tree, model] = build(told, 1000)
      const leaves = tree.leaves()
      const leaf = leaves[choice % leaves.length]!
      const removed = tree.remove(leaf)
      model.purge(revisionText(leaf), 1000)
      expect(tree.leaves().map(revisionText)).toEqual(model.leaves())
      expect([...tree.nodes.keys()].sort()).toEqual([...model.revisions.keys()].sort())
      expect(removed.some((node) => tree.get(revisionText(node)) === node)).toBe(false)
    }),
  )
})

test('revisions as text', () => {
  expect(parseRevision('12-a-b')).toEqual({ generation: 12, suffix: 'a-b' })
  expect(parseHistory('2-b', { start: 2, ids: ['b', 'a'] })).toEqual([
    { generation: 2, suffix: 'b' },
    { generation: 1, suffix: 'a' },
  ])
  expect(parseHistory(undefined, { start: 2, ids: ['b'] })).toEqual([{ generation: 2, suffix: 'b' }])
  for (const wrong of [
    '',
    '-',
    '1-',
    '-a',
    '0-a',
    '+1-a',
    '1e3-a',
    `${2 ** 48}-a`,
    `1-${'ü'.repeat(128)}`,
    5,
    null,
    undefined,
  ])
    expect(() => parseRevision(wrong)).toThrow(TypeError)
  const leaves = [parseRevision('3-a'), parseRevision('2-b')]
  expect(possibleAncestors(leaves, [parseRevision('3-q')])).toEqual(['2-b'])
  expect(possibleAncestors(leaves, [])).toEqual([])
})

test('the second part of a revision has up to 255 bytes of UTF-8', () => {
  for (const suffix of ['a'.repeat(255), 'é'.repeat(127), '€'.repeat(85)])
    expect(revisionText(parseRevision(`1-${suffix}`))).toBe(`1-${suffix}`)
  for (const suffix of ['a'.repeat(256), 'é'.repeat(128), '€'.repeat(86)])
    expect(() => parseRevision(`1-${suffix}`)).toThrow(TypeError)
})
