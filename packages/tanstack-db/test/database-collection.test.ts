/** Goal: TanStack DB shows what a database has, and what it writes optimistically is stored, or rolled back with our error. */
import { BasicIndex, createCollection, createLiveQueryCollection, createTransaction, eq } from '@tanstack/db'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { aMoment, eventually } from '../../db/testing/suite.ts'
import { virtualEnvironment } from '../../db/testing/virtual-environment.ts'
import { pannierCollectionOptions } from '../src/index.ts'
import { cities, collectionOf, heard, lateBy, openTab, withPeople, type Person } from './people.ts'

test('the rows of the database are shown, and the collection is ready', async () => {
  await using tab = await withPeople()
  const people = collectionOf(tab)
  await people.preload()
  expect(people.status).toBe('ready')
  expect(cities(people)).toEqual({ ann: 'Oslo', bob: 'Rome' })
  expect(people.get('ann')).toMatchObject({ _id: 'ann', name: 'Ann', $synced: true })
})

test('an empty collection is ready too, and shows the first row that comes', async () => {
  await using tab = await openTab()
  const people = collectionOf(tab)
  await people.preload()
  expect(people.size).toBe(0)
  await tab.people.insert({ _id: 'ann', name: 'Ann', city: 'Oslo' })
  await eventually(() => people.has('ann'))
})

test('a write of another tab comes in as one transaction', async () => {
  const storage = memory()
  await using tab = await withPeople(storage)
  await using other = await openTab(storage)
  const people = collectionOf(tab)
  await people.preload()
  const batches = heard(people)
  await other.db.transaction(async (tx) => {
    const stored = tx.collection<{ name: string; city: string }>('people')
    await stored.insert({ _id: 'cid', name: 'Cid', city: 'Bonn' })
    await stored.update('ann', { city: 'Bergen' })
    await stored.delete('bob')
  })
  await eventually(() => batches.length > 0)
  expect(batches.map((changes) => changes.sort())).toEqual([
    ['delete bob Rome', 'insert cid Bonn', 'update ann Bergen'],
  ])
})

test('insert, update and delete are shown at once, stored, and shown without a flicker', async () => {
  await using tab = await withPeople()
  const people = collectionOf(tab)
  await people.preload()
  const batches = heard(people)
  const inserted = people.insert({ _id: 'cid', name: 'Cid', city: 'Bonn' })
  expect(people.get('cid')).toMatchObject({ city: 'Bonn', $synced: false })
  await inserted.when('settled')
  expect(people.get('cid')).toMatchObject({ city: 'Bonn', _rev: (await tab.people.get('cid'))!._rev, $synced: true })
  await people.update('cid', (row) => void (row.city = 'Köln')).when('settled')
  expect(people.get('cid')).toMatchObject({ city: 'Köln', _rev: (await tab.people.get('cid'))!._rev, $synced: true })
  await people.delete('cid').when('settled')
  expect([people.has('cid'), await tab.people.get('cid')]).toEqual([false, undefined])
  await aMoment()
  // The second of each is the row that is stored. A delete needs none.
  expect(batches.flat()).toEqual([
    'insert cid Bonn',
    'update cid Bonn',
    'update cid Köln',
    'update cid Köln',
    'delete cid Köln',
  ])
})

test('rows that are written together are stored all or nothing', async () => {
  await using tab = await withPeople()
  const people = collectionOf(tab)
  await people.preload()
  await people
    .insert([
      { _id: 'cid', name: 'Cid', city: 'Bonn' },
      { _id: 'dan', name: 'Dan', city: 'Bonn' },
    ])
    .when('settled')
  await people.update(['ann', 'bob'], (rows) => rows.forEach((row, at) => (row.city = `${at}`))).when('settled')
  expect(cities(people)).toEqual({ ann: '0', bob: '1', cid: 'Bonn', dan: 'Bonn' })
  const deleted = tab.people.delete('dan')
  const refused = people.update(['ann', 'dan'], (rows) => rows.forEach((row) => (row.city = 'Paris')))
  await deleted
  await expect(refused.when('settled')).rejects.toMatchObject({ code: 'PANNIER_NOT_FOUND' })
  await eventually(() => !people.has('dan'))
  expect(cities(people)).toEqual({ ann: '0', bob: '1', cid: 'Bonn' })
  expect(await tab.people.get('ann')).toMatchObject({ city: '0' })
})

test('a refused insert is rolled back with our error, and the stored row is shown', async () => {
  await using tab = await withPeople()
  const people = collectionOf(tab)
  await people.preload()
  const stored = tab.people.insert({ _id: 'cid', name: 'Cid', city: 'Bonn' })
  const refused = people.insert({ _id: 'cid', name: 'Cid', city: 'Rome' })
  await stored
  await expect(refused.when('settled')).rejects.toMatchObject({ code: 'PANNIER_CONFLICT', details: { id: 'cid' } })
  expect(refused).toMatchObject({ state: 'failed', error: { error: { code: 'PANNIER_CONFLICT' } } })
  await eventually(() => people.get('cid')?.city === 'Bonn')
})

test('the schema of the database refuses a write with our error', async () => {
  await using db = await open('x', { storage: memory() })
  const schema = z.object({ name: z.string().min(1) })
  const people = createCollection(pannierCollectionOptions({ db, collection: db.collection('people', { schema }) }))
  await people.preload()
  const refused = people.insert({ _id: 'ann', name: '' })
  expect(people.has('ann')).toBe(true)
  await expect(refused.when('settled')).rejects.toMatchObject({ code: 'PANNIER_DOCUMENT_INVALID' })
  expect(people.has('ann')).toBe(false)
})

test('an update keeps the fields that another tab has changed meanwhile', async () => {
  const storage = memory()
  await using tab = await withPeople(storage)
  await using other = await openTab(storage)
  const people = collectionOf(tab)
  await people.preload()
  const written = other.people.update('ann', { city: 'Bergen' })
  const updated = people.update('ann', (row) => void (row.name = 'Anna'))
  await Promise.all([written, updated.when('settled')])
  await eventually(() => people.get('ann')?.city === 'Bergen')
  expect(people.get('ann')).toMatchObject({ name: 'Anna', city: 'Bergen' })
  expect(await tab.people.get('ann')).toMatchObject({ name: 'Anna', city: 'Bergen' })
})

test('a field that an update takes away is removed', async () => {
  await using db = await open('x', { storage: memory() })
  const notes = db.collection<{ text: string; due?: string }>('notes')
  await notes.insert({ _id: 'a', text: 'A', due: 'May' })
  const shown = createCollection(pannierCollectionOptions({ db, collection: notes }))
  await shown.preload()
  await shown.update('a', (row) => void delete row.due).when('settled')
  expect(await notes.get('a')).not.toHaveProperty('due')
  expect(shown.get('a')).not.toHaveProperty('due')
})

test('a write that is replaced or deleted by another tab at once settles', async () => {
  const storage = memory()
  await using tab = await withPeople(storage)
  await using other = await openTab(storage)
  const people = collectionOf(tab)
  await people.preload()
  for (let round = 0; round < 20; round++) {
    const inserted = people.insert({ _id: 'cid', name: 'Cid', city: 'Bonn' })
    const deleted = eventually(async () => (await other.people.delete('cid')) !== undefined)
    await Promise.all([inserted.when('settled'), deleted])
    await eventually(() => !people.has('cid'))
  }
  expect(cities(people)).toEqual({ ann: 'Oslo', bob: 'Rome' })
})

test('many rows are shown in batches, and what is written meanwhile is not lost', async () => {
  await using tab = await openTab()
  await tab.people.insert(
    Array.from({ length: 3500 }, (_, n) => ({ _id: `p${String(n).padStart(4, '0')}`, name: `${n}`, city: 'Oslo' })),
  )
  const people = collectionOf(tab)
  const batches = heard(people)
  const first = Promise.withResolvers<[number, string]>()
  people.subscribeChanges(() => first.resolve([people.size, people.status]))
  expect(await first.promise).toEqual([1000, 'loading'])
  const written = [
    people.insert({ _id: 'zoe', name: 'Zoe', city: 'Rome' }).when('settled'),
    tab.people.update('p0000', { city: 'Bonn' }),
    tab.people.delete('p3499'),
  ]
  await Promise.all([people.preload(), ...written])
  await eventually(() => people.size === 3500 && people.get('p0000')!.city === 'Bonn')
  expect([people.has('p3499'), people.get('zoe')!.city]).toEqual([false, 'Rome'])
  expect(batches.length).toBeGreaterThan(3)
})

test('cleanup ends the live query, and the collection starts again with what is there then', async () => {
  await using tab = await withPeople()
  const people = collectionOf(tab)
  for (const city of ['Bonn', 'Paris']) {
    await people.preload()
    const before = cities(people)
    await people.cleanup()
    expect([people.status, people.size]).toEqual(['cleaned-up', 0])
    await tab.people.update('ann', { city })
    await aMoment()
    expect(people.size).toBe(0)
    await people.preload()
    expect(cities(people)).toEqual({ ...before, ann: city })
    await people.cleanup()
  }
})

test('a write before the first rows are there is stored, and settles', async () => {
  await using tab = await withPeople()
  const people = collectionOf(tab)
  await people.insert({ _id: 'cid', name: 'Cid', city: 'Bonn' }).when('settled')
  expect(cities(people)).toEqual({ ann: 'Oslo', bob: 'Rome', cid: 'Bonn' })
})

test('a live query joins two collections, and follows both', async () => {
  await using tab = await withPeople()
  const towns = tab.db.collection<{ land: string }>('towns')
  await towns.insert([
    { _id: 'Oslo', land: 'Norway' },
    { _id: 'Rome', land: 'Italy' },
  ])
  const people = collectionOf(tab, { autoIndex: 'eager', defaultIndexType: BasicIndex })
  const shownTowns = createCollection(pannierCollectionOptions({ db: tab.db, collection: towns }))
  const lands = createLiveQueryCollection((query) =>
    query
      .from({ person: people })
      .innerJoin({ town: shownTowns }, ({ person, town }) => eq(person.city, town._id))
      .select(({ person, town }) => ({ id: person._id, land: town.land })),
  )
  await lands.preload()
  const shown = () => lands.toArray.map(({ id, land }) => `${id} ${land}`).sort()
  expect(shown()).toEqual(['ann Norway', 'bob Italy'])
  await people.update('ann', (row) => void (row.city = 'Rome')).when('settled')
  expect(shown()).toEqual(['ann Italy', 'bob Italy'])
  await towns.update('Rome', { land: 'Italia' })
  await eventually(() => shown().join() === 'ann Italia,bob Italia')
  await lands.cleanup()
})

test('a transaction of the app spans collections of a database, all or nothing', async () => {
  await using tab = await withPeople()
  const towns = tab.db.collection<{ land: string }>('towns')
  const people = collectionOf(tab)
  const shownTowns = createCollection(pannierCollectionOptions({ db: tab.db, collection: towns }))
  await Promise.all([people.preload(), shownTowns.preload()])
  const both = (id: string) => {
    const transaction = createTransaction({ mutationFn: people.utils.persist })
    transaction.mutate(() => {
      shownTowns.insert({ _id: id, land: 'Germany' })
      people.insert({ _id: 'cid', name: 'Cid', city: id })
      people.update('ann', (row) => void (row.city = id))
      people.delete('bob')
    })
    return transaction.when('settled')
  }
  await tab.people.insert({ _id: 'cid', name: 'Cid', city: 'Paris' })
  await eventually(() => people.has('cid'))
  await tab.people.delete('cid')
  await eventually(() => !people.has('cid'))
  await towns.insert({ _id: 'Kiel', land: 'Germany' })
  await eventually(() => shownTowns.has('Kiel'))
  await both('Bonn')
  expect(cities(people)).toEqual({ ann: 'Bonn', cid: 'Bonn' })
  expect(await towns.get('Bonn')).toMatchObject({ land: 'Germany' })
  expect(await tab.people.get('bob')).toBeUndefined()
  const conflicting = towns.insert({ _id: 'Mainz', land: 'Germany' })
  const refused = createTransaction({ mutationFn: people.utils.persist })
  refused.mutate(() => {
    people.delete('ann')
    shownTowns.insert({ _id: 'Mainz', land: 'Germany' })
  })
  await conflicting
  await expect(refused.when('settled')).rejects.toMatchObject({ code: 'PANNIER_CONFLICT' })
  expect([people.has('ann'), (await tab.people.get('ann'))?.city]).toEqual([true, 'Bonn'])
})

test('a transaction with rows of another database is refused before anything is written', async () => {
  await using tab = await withPeople()
  await using other = await withPeople()
  const [people, others] = [collectionOf(tab), collectionOf(other, { id: 'others' })]
  await Promise.all([people.preload(), others.preload()])
  const refused = createTransaction({ mutationFn: people.utils.persist })
  refused.mutate(() => {
    people.delete('ann')
    others.delete('ann')
  })
  await expect(refused.when('settled')).rejects.toThrow(
    "persist(): the transaction must be of collections of one database, got 'others'",
  )
  expect([people.has('ann'), others.has('ann'), await tab.people.get('ann')]).toMatchObject([true, true, {}])
})

test('after the end of the database the rows stay, a write is rolled back, and a new start fails with our error', async () => {
  const tab = await withPeople()
  const people = collectionOf(tab)
  await people.preload()
  await tab.db.close()
  await aMoment()
  expect([people.status, people.size]).toEqual(['ready', 2])
  const refused = people.delete('ann')
  await expect(refused.when('settled')).rejects.toMatchObject({ code: 'PANNIER_CLOSED' })
  expect(people.has('ann')).toBe(true)
  await people.cleanup()
  await expect(people.preload()).rejects.toMatchObject({ code: 'PANNIER_CLOSED' })
  expect(people.status).toBe('error')
})

test('a write that is stored settles, also when nothing can be read any more', async () => {
  await using tab = await withPeople()
  const unreadable = {
    name: 'people',
    find: () => tab.people.find(),
    get: () => Promise.reject(new RangeError('of the storage')),
  } as unknown as typeof tab.people
  const people = collectionOf({ ...tab, people: unreadable })
  await people.preload()
  await people.delete('ann').when('settled')
  expect(await tab.people.get('ann')).toBeUndefined()
  await eventually(() => !people.has('ann'))
})

test('a write that waits for its rows reads once more for each transaction that comes in, and not each turn', async () => {
  await using tab = await withPeople()
  let reads = 0
  const late = {
    name: 'people',
    find: () => ({ live: () => lateBy(50, tab.people.find().live()) }),
    get: (ids: string[]) => (reads++, tab.people.get(ids)),
  } as unknown as typeof tab.people
  const people = collectionOf({ ...tab, people: late })
  await people.preload()
  await people.update('ann', (row) => void (row.city = 'Bonn')).when('settled')
  expect([cities(people), reads]).toEqual([{ ann: 'Bonn', bob: 'Rome' }, 2])
})

test('a first load yields by the environment of its database', async () => {
  const environment = virtualEnvironment()
  let yields = 0
  const counted = { ...environment, yield: () => (yields++, environment.yield()) }
  await using db = await open('x', { storage: memory(), environment: counted })
  const stored = db.collection<Person>('people')
  await stored.insert(Array.from({ length: 3000 }, (_, at) => ({ _id: `${at}`, name: 'Ann', city: 'Oslo' })))
  const people = createCollection(pannierCollectionOptions({ db, collection: stored }))
  await stored.find().toArray()
  yields = 0
  await people.preload()
  expect([people.size, yields]).toEqual([3000, 3])
})

test('a database that is destroyed elsewhere makes the collection fail with our error', async () => {
  const storage = memory()
  await using tab = await withPeople(storage)
  const other = await openTab(storage)
  const people = collectionOf(tab)
  await people.preload()
  await other.db.destroy()
  await eventually(() => people.status === 'error')
})

test('a listener that throws does not end what comes', async () => {
  await using tab = await withPeople()
  const people = collectionOf(tab)
  await people.preload()
  const stop = people.subscribeChanges(() => {
    stop.unsubscribe()
    throw new RangeError('of the app')
  })
  await expect(
    new Promise((_, reject) => {
      process.once('uncaughtException', reject)
      process.once('unhandledRejection', reject)
      void tab.people.update('ann', { city: 'Bonn' })
    }),
  ).rejects.toThrow('of the app')
  await tab.people.update('bob', { city: 'Bonn' })
  await eventually(() => people.get('bob')!.city === 'Bonn')
})

test('two collections of one database collection show the same', async () => {
  await using tab = await withPeople()
  const [first, second] = [collectionOf(tab), collectionOf(tab)]
  await Promise.all([first.preload(), second.preload()])
  await first.update('ann', (row) => void (row.city = 'Bonn')).when('settled')
  await eventually(() => second.get('ann')?.city === 'Bonn')
  await second.delete('ann').when('settled')
  await eventually(() => !first.has('ann'))
})

test('a collection that is dropped, and a purged document, are gone', async () => {
  await using tab = await withPeople()
  const people = collectionOf(tab)
  await people.preload()
  await tab.people.purge('ann')
  await eventually(() => !people.has('ann'))
  await tab.db.dropCollection('people')
  await eventually(() => people.size === 0)
  await people.insert({ _id: 'cid', name: 'Cid', city: 'Bonn' }).when('settled')
  expect(cities(people)).toEqual({ cid: 'Bonn' })
})
