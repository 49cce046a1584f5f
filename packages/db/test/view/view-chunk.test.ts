/** Goal: a step of a view looks up only what may be there, sorts in runs, and is in order. */
import { expect, test } from 'vitest'
import type { Key } from '../../src/base/brand.ts'
import { numberKey } from '../../src/codec/key-encoding.ts'
import type { TreeReader } from '../../src/kv/key-value-store.ts'
import type { MappedRows } from '../../src/view/mapped-rows.ts'
import { RememberedChanges } from '../../src/view/remembered-changes.ts'
import { ViewChunk } from '../../src/view/view-chunk.ts'
import { seededRandom } from '../../testing/random.ts'

const DOCUMENTS = 10_000

function rowsOf(keys: readonly string[], value: string): MappedRows {
  return { entryKeys: keys as Key[], values: keys.map(() => value), keyList: `list ${keys.join(' ')}` }
}

/** A tree of nothing that notes how many keys it is asked for. */
function emptyTree(): { readonly tree: TreeReader; readonly asked: number[] } {
  const asked: number[] = []
  const getMany = (keys: readonly Key[]): undefined[] => {
    asked.push(keys.length)
    return keys.map(() => undefined)
  }
  return { tree: { getMany } as unknown as TreeReader, asked }
}

function filled(): ViewChunk {
  const random = seededRandom(1)
  const chunk = new ViewChunk(DOCUMENTS)
  for (let number = 1; number <= DOCUMENTS; number++)
    chunk.add(number, `d${number}`, rowsOf([`${random.below(1000)} d${number}`, `all d${number}`], `v${number}`))
  return chunk
}

test('rows of many documents are in order, and others run while they are sorted', async () => {
  const chunk = filled()
  let pauses = 0
  const work = { pause: () => pauses++ < 0 }
  const { keys, values, present } = await chunk.rowChanges(true, work)
  expect(pauses).toBe(5 + 4)
  expect(keys).toEqual([...keys].sort())
  expect(keys.length).toBe(2 * DOCUMENTS)
  const numbers = keys.map((key) => Number(key.slice(key.indexOf('d') + 1)))
  expect(values).toEqual(numbers.map((number) => `v${number}${numberKey(number)}`))
  expect(present).not.toContain(true)
  const lists = await chunk.listChanges(work)
  expect(lists.keys).toEqual(Array.from({ length: DOCUMENTS }, (_, at) => numberKey(at + 1)))
})

test('the row of a document that was purged gives way to the same one of a document in its place, also of another run', async () => {
  const chunk = new ViewChunk(DOCUMENTS)
  chunk.add(1, 'd', rowsOf([], ''))
  for (let number = 2; number <= DOCUMENTS; number++) chunk.add(number, `o${number}`, rowsOf([`k o${number}`], ''))
  chunk.add(DOCUMENTS + 1, 'd', rowsOf(['k d'], 'new'))
  const { keys, values } = await chunk.rowChanges(false, { pause: () => false })
  expect([keys.length, keys[0], values[0]]).toEqual([DOCUMENTS, 'k d', 'new'])
})

test('lists of documents that were made since the last update are not looked up', () => {
  const chunk = filled()
  const { tree, asked } = emptyTree()
  for (let from = 0; from < DOCUMENTS; from += 400) chunk.findOld(tree, 30, from, from + 400)
  expect(asked).toEqual([30])
})

test('rows that only come are not looked up', async () => {
  const changes = await filled().rowChanges(true, { pause: () => false })
  const { tree, asked } = emptyTree()
  const remembered = new RememberedChanges(tree, changes, new Set(), 7)
  for (let from = 0; from < changes.keys.length; from += 400) remembered.add(from, from + 400)
  expect(asked).toEqual([])
  expect(remembered.rows().keys).toEqual(changes.keys)
})
