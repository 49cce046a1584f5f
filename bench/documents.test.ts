/** The selectivities that the workloads rely on, and that every process makes the same documents. */
import { expect, test } from 'vitest'
import { checksum, makeId, makePeople, makePerson, sampleIds, someAges, someCity, someCountry } from './documents.ts'
import type { DataSet } from './documents.ts'

const set: DataSet = { documents: 10_000, seed: 1, ids: 'random' }
const people = makePeople(set, 0, set.documents)

test('a document depends only on the set and its number', () => {
  expect(makePerson({ ...set, documents: 5 }, 1_234)).toEqual(people[1_234])
  expect(makePerson({ ...set, seed: 2 }, 1_234)).not.toEqual(people[1_234])
})

test('documents have some 350 bytes and ids of their own, in no order', () => {
  const bytes = people.reduce((sum, person) => sum + JSON.stringify(person).length, 0) / people.length
  expect(bytes).toBeGreaterThan(330)
  expect(bytes).toBeLessThan(370)
  const ids = people.map((person) => person._id)
  expect(new Set(ids).size).toBe(set.documents)
  expect(ids.slice(0, 100)).not.toEqual(ids.slice(0, 100).sort())
})

test('filters match the share that their names promise', () => {
  const share = (matches: (person: (typeof people)[number]) => boolean): number =>
    people.filter(matches).length / set.documents
  expect(share((person) => person.city === someCity)).toBeCloseTo(0.02, 2)
  expect(share((person) => person.country === someCountry)).toBeCloseTo(0.01, 2)
  expect(share((person) => person.age >= someAges.gte && person.age < someAges.lt)).toBeCloseTo(0.125, 1)
})

test('sampled ids are stored ones', () => {
  const ids = new Set(people.map((person) => person._id))
  expect(sampleIds(set, 500, 3).every((id) => ids.has(id))).toBe(true)
  expect(makeId({ ...set, ids: 'ascending' }, 1) > makeId({ ...set, ids: 'ascending' }, 0)).toBe(true)
})

test('a checksum does not depend on order, but on every text', () => {
  expect(checksum(['a', 'b'])).toBe(checksum(['b', 'a']))
  expect(checksum(['a', 'b'])).not.toBe(checksum(['a', 'c']))
  expect(checksum(['a', 'a'])).not.toBe(checksum(['a']))
})
