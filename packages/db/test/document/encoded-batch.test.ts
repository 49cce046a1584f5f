/** Goal: documents are encoded once, unless an id of a shape means another one by then. Method: dictionaries that a transaction may find. */
import { expect, test } from 'vitest'
import { ShapeDictionary } from '../../src/codec/shape.ts'
import type { CollectionState } from '../../src/document/catalog.ts'
import { encodeBatch, guessShapes, type EncodedBatch } from '../../src/document/encoded-batch.ts'

const named = (batch: EncodedBatch, shapes: ShapeDictionary): readonly (readonly string[])[] =>
  batch.matchShapes({ number: 7, shapes } as CollectionState).map(({ names }) => names)

function newBatch(): EncodedBatch {
  const unreachable = (): never => expect.unreachable()
  return encodeBatch(
    [
      { _id: 'ann', name: 'Ann' },
      { _id: 'bob', name: 'Bob', age: 7 },
    ],
    guessShapes(undefined, false),
    unreachable,
  )
}

function dictionary(...all: (readonly string[])[]): ShapeDictionary {
  const shapes = new ShapeDictionary()
  for (const names of all) shapes.resolve(names)
  return shapes
}

test('the first batch of a collection that a transaction makes is encoded once', () => {
  const batch = newBatch()
  const { shapes } = batch
  expect(named(batch, dictionary())).toEqual([['name'], ['name', 'age']])
  expect(batch.shapes).toBe(shapes)
})

test('shapes that others have added meanwhile, with the same ids, are no reason to encode again', () => {
  const batch = newBatch()
  const { shapes } = batch
  expect(named(batch, dictionary(['name']))).toEqual([['name', 'age']])
  expect(batch.shapes).toBe(shapes)
})

test('an id that means another shape by then is one', () => {
  const batch = newBatch()
  const { shapes } = batch
  expect(named(batch, dictionary(['title']))).toEqual([['name'], ['name', 'age']])
  expect(batch.shapes).not.toBe(shapes)
})
