/** An interrupted load continues where it stopped. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { expect, test } from 'vitest'
import { COLLECTION } from '../shared/city.ts'
import type { City } from '../shared/city.ts'
import { loadCities, readLoadRecord } from '../node/load.ts'
import type { CitySource } from '../node/load.ts'

const DOCUMENTS = 100
const BATCH = 10

test('continues after an interruption, and loads every city once', async () => {
  await using db = await open('interrupted', { storage: memory() })
  const starts: number[] = []
  const interrupt = new AbortController()
  const first = loadCities(db, numbered(starts), {
    signal: interrupt.signal,
    onProgress: ({ done }) => done === 3 * BATCH && interrupt.abort(new Error('interrupted')),
  })
  await expect(first).rejects.toThrow('interrupted')
  expect(await readLoadRecord(db)).toMatchObject({ complete: false, documents: DOCUMENTS })

  await loadCities(db, numbered(starts))
  expect(starts).toEqual([0, 3 * BATCH])
  expect(await readLoadRecord(db)).toMatchObject({ complete: true, source: 'numbered' })
  const cities = db.collection<City>(COLLECTION)
  expect(await cities.find().count()).toBe(DOCUMENTS)
  expect(
    await cities
      .find()
      .sort('-population')
      .skip(DOCUMENTS - 1)
      .first(),
  ).toMatchObject({ _id: '0' })
})

function numbered(starts: number[]): CitySource {
  return {
    name: 'numbered',
    documents: DOCUMENTS,
    *batches(from) {
      starts.push(from)
      for (let start = from; start < DOCUMENTS; start += BATCH) {
        yield Array.from({ length: BATCH }, (_, at) => city(start + at))
      }
    },
  }
}

function city(number: number): City {
  const name = `City ${number}`
  return {
    _id: String(number),
    name,
    foldedName: name.toLowerCase(),
    country: 'NO',
    population: number,
    lat: 0,
    lon: 0,
    featureCode: 'PPL',
    adminCode: '',
  }
}
