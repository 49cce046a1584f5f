/** Shapes are found again by their names, forks leave their parent alone, and the limits hold. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  decodeShape,
  encodeShape,
  LOCAL_SHAPE,
  SHAPE_NAMES_BYTES_MAX,
  SHAPES_BYTES_MAX,
  SHAPES_MAX,
  ShapeDictionary,
} from '../../src/codec/shape.ts'
import { nastyString } from './json-arbitrary.ts'

const corrupt = expect.objectContaining({ code: 'PANNIER_CORRUPT' })

test('names come back exactly', () => {
  fc.assert(
    fc.property(fc.array(nastyString), (names) => {
      expect(decodeShape(encodeShape(names))).toEqual(names)
    }),
  )
})

test('a dictionary is what a map from names to ids is', () => {
  const names = fc.array(fc.constantFrom('a', 'b', 'c', '__proto__'), { maxLength: 4 })
  fc.assert(
    fc.property(
      fc.array(fc.tuple(names, fc.constantFrom('resolve', 'commit', 'abandon', 'reopen')), { maxLength: 40 }),
      (steps) => {
        let committed = new ShapeDictionary()
        let fork = committed.fork()
        const stored: [number, Uint8Array][] = []
        const model = new Map<string, number>()
        let pending = new Map<string, number>()
        for (const [list, step] of steps) {
          const key = list.join()
          const known = model.get(key) ?? pending.get(key)
          const shape = fork.resolve(list)
          expect(shape.id).toBe(known ?? model.size + pending.size)
          expect(shape.names).toEqual(list)
          expect(fork.get(shape.id)).toBe(shape)
          if (known === undefined) pending.set(key, shape.id)
          expect(fork.added.map((added) => added.names.join())).toEqual([...pending.keys()])
          expect(committed.find(list)?.id).toBe(model.get(key))
          if (step === 'commit') {
            for (const added of fork.added) stored.push([added.id, added.encoded])
            for (const [name, id] of pending) model.set(name, id)
            adopt(committed, fork)
          }
          if (step === 'reopen') committed = new ShapeDictionary(stored)
          if (step !== 'resolve') {
            pending = new Map()
            fork = committed.fork()
          }
        }
      },
    ),
  )
})

test('forks of one parent do not see one another', () => {
  const parent = new ShapeDictionary()
  parent.resolve(['a'])
  const [left, right] = [parent.fork(), parent.fork()]
  expect(left.resolve(['x']).id).toBe(1)
  expect(right.resolve(['y']).id).toBe(1)
  expect(right.get(1).names).toEqual(['y'])
  expect(() => parent.get(1)).toThrow(corrupt)
  adopt(parent, left)
  expect(parent.get(1).names).toEqual(['x'])
  expect(right.find(['x'])).toBe(undefined)
  const child = parent.fork().fork()
  expect(child.resolve(['x']).id).toBe(1)
  expect(child.resolve(['z']).id).toBe(2)
})

test('what another handle has stored can be added', () => {
  const shapes = new ShapeDictionary([[3, encodeShape(['late'])]])
  shapes.add(1, encodeShape(['early']))
  shapes.add(1, encodeShape(['early']))
  expect(shapes.find(['early'])?.id).toBe(1)
  expect(shapes.resolve(['new']).id).toBe(4)
  expect(() => shapes.get(2)).toThrow(corrupt)
  expect(() => shapes.add(SHAPES_MAX, encodeShape([]))).toThrow(corrupt)
  expect(() => new ShapeDictionary([[0, Uint8Array.of(200)]])).toThrow(corrupt)
})

test('positions of fields', () => {
  const shape = new ShapeDictionary().resolve(['a', '__proto__', 'b'])
  expect(['a', '__proto__', 'b', 'constructor'].map((name) => shape.indexOf(name))).toEqual([0, 1, 2, -1])
})

test('beyond the limits shapes are local', () => {
  const shapes = new ShapeDictionary()
  expect(shapes.resolve(['x'.repeat(SHAPE_NAMES_BYTES_MAX)]).id).toBe(LOCAL_SHAPE)
  for (let i = 0; i < SHAPES_MAX; i++) expect(shapes.resolve([`${i}`]).id).toBe(i)
  expect(shapes.resolve(['one more'])).toMatchObject({ id: LOCAL_SHAPE, names: ['one more'] })
  expect(shapes.resolve(['7']).id).toBe(7)
  expect(shapes.added.length).toBe(SHAPES_MAX)
  const large = new ShapeDictionary()
  const bytes = () => large.added.reduce((sum, shape) => sum + shape.encoded.length, 0)
  for (let i = 0; i < 200; i++) large.resolve(['x'.repeat(2000), `${i}`])
  expect(bytes()).toBeGreaterThan(SHAPES_BYTES_MAX - SHAPE_NAMES_BYTES_MAX)
  expect(bytes()).toBeLessThanOrEqual(SHAPES_BYTES_MAX)
})

/** Takes over what a fork has added, as a commit does. */
function adopt(dictionary: ShapeDictionary, fork: ShapeDictionary): void {
  for (const { id, encoded } of fork.added) dictionary.add(id, encoded)
}
