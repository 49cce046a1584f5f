/** `mapMany` gives the rows that `map` would, and either may end an update with PANNIER_ABORTED. */
import { expect, test } from 'vitest'
import type { Collection } from '../../src/database/collection/collection.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { PannierError } from '../../src/base/errors.ts'
import { memory } from '../../src/storage/memory/memory.ts'

type Row = readonly [key: unknown, value: unknown]
const DOCUMENTS = 1000

async function numbers(): Promise<{ readonly collection: Collection<{ n: number }>; close(): Promise<void> }> {
  const db = await open('map-many', { storage: memory() })
  const collection = db.collection<{ n: number }>('numbers')
  await collection.insert(Array.from({ length: DOCUMENTS }, (_, n) => ({ _id: `d${n}`, n })))
  await collection.insert({ _id: '_design/x', n: -1 })
  await collection.delete(['d3', 'd500'])
  return { collection, close: () => db.close() }
}

function rowsOf({ n }: { readonly n: number }): Row[] {
  if (n % 10 === 7) throw new Error(`no ${n}`)
  return n % 2 === 0
    ? [
        [n % 100, n],
        [`s${n}`, undefined],
      ]
    : []
}

test('the same rows, failures and updates', async () => {
  const { collection, close } = await numbers()
  const one = collection.view('one', {
    map: (document, emit) => {
      for (const [key, value] of rowsOf(document)) emit(key, value)
    },
  })
  const sizes: number[] = []
  const many = collection.view('many', {
    map: () => {
      throw new Error('not called')
    },
    mapMany: async (documents) => {
      sizes.push(documents.length)
      return documents.map((document) => {
        try {
          return rowsOf(document)
        } catch (error) {
          return error as Error
        }
      })
    },
    version: 1,
  })
  for (let round = 0; round < 3; round++) {
    expect((await many.query()).rows).toEqual((await one.query()).rows)
    const [{ name: _one, ...expected }, { name: _many, ...actual }] = [await one.info(), await many.info()]
    expect(actual).toEqual(expected)
    await collection.update(`d${round * 10 + 1}`, (document) => ({ ...document, n: 4 }))
    await collection.delete(`d${round * 10 + 2}`)
  }
  expect(sizes.length).toBeGreaterThan(2)
  expect(Math.max(...sizes)).toBeLessThan(DOCUMENTS)
  await close()
})

test('an interrupted update continues with the next query', async () => {
  const { collection, close } = await numbers()
  let broken = true
  const stop = (): void => {
    if (broken) throw new PannierError('PANNIER_ABORTED', 'broken')
  }
  const map = (document: { readonly n: number }, emit: (key: unknown) => void): void => {
    stop()
    emit(document.n)
  }
  const mapMany = async (documents: readonly { readonly n: number }[]): Promise<Row[][]> => {
    stop()
    return documents.map(({ n }) => [[n, null]])
  }
  for (const [name, definition] of [
    ['one', { map, version: 1 }],
    ['many', { map, mapMany, version: 1 }],
  ] as const) {
    broken = true
    const view = collection.view(name, definition as never)
    await expect(view.query()).rejects.toMatchObject({ code: 'PANNIER_ABORTED' })
    expect(await view.info()).toMatchObject({ rows: 0, failures: 0 })
    broken = false
    expect((await view.query()).rows).toHaveLength(DOCUMENTS - 2)
  }
  expect(() => collection.view('bad', { map, mapMany } as never)).toThrow(TypeError)
  await close()
})
