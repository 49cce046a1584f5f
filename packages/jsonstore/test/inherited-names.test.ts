/** Goal: search fields may be named as what every object inherits. Method: the answers are those of plain names. */
import { expect, test } from 'vitest'
import { memory } from 'pannier/memory'
import { virtualEnvironment } from 'pannier/testing'
import { createJSONStore } from '../src/index.ts'

async function answers([collection, text, number]: readonly [string, string, string]): Promise<unknown> {
  const JSONStore = createJSONStore({ storage: memory(), environment: virtualEnvironment() })
  const searchFields = { [text]: 'string', [number]: 'integer' } as const
  const opened = await JSONStore.init({ [collection]: { searchFields } })
  const all = opened[collection]!
  await all.add([{ [text]: 'a', [number]: 1 }, { other: 1 }, { [text]: 'b' }])
  const part = (): ReturnType<typeof JSONStore.QueryPart> => JSONStore.QueryPart()
  const found: unknown[] = [
    await all.find({ [text]: 'a' }, { exact: true }),
    await all.find({ [number]: 1 }),
    await all.count({ [text]: 'function' }),
  ]
  for (const query of [
    part().notEqual(text, 'a'),
    part().notLike(text, 'native'),
    part().lessThan(number, 5),
    part().notInside(number, [1]),
    part().notBetween(number, [1, 2]),
  ])
    found.push(await all.advancedFind([query]))
  found.push(await all.findAll({ filter: [text, number], sort: [{ [text]: 'asc' }] }))
  await JSONStore.closeAll()
  return found
}

test('a collection and search fields', async () => {
  const names = ['constructor', 'valueof', 'tostring'] as const
  const plain = JSON.stringify(await answers(['people', 'amber', 'birch']))
  const odd = JSON.stringify(await answers(names))
  expect(JSON.parse(odd.replaceAll('valueof', 'amber').replaceAll('tostring', 'birch'))).toEqual(JSON.parse(plain))
})
