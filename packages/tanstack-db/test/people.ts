/** People in a database in memory, and a collection of TanStack DB that shows them. */
import { createCollection, type Collection } from '@tanstack/db'
import { open, type Collection as Stored, type Database, type LiveQuery } from 'pannier'
import { memory } from 'pannier/memory'
import type { DatabaseStorage } from 'pannier/storage'
import { aMoment } from '../../db/testing/suite.ts'
import { pannierCollectionOptions, type CollectionSettings, type DocumentRow, type PannierUtils } from '../src/index.ts'

export interface Person {
  readonly name: string
  readonly city: string
}

export type Row = DocumentRow<Person>
export type People = Collection<Row, string, PannierUtils, never, Row>

/** A tab: a handle of the database of a case. */
export interface Tab extends AsyncDisposable {
  readonly db: Database
  readonly people: Stored<Person>
}

export async function openTab(storage: DatabaseStorage = memory()): Promise<Tab> {
  const db = await open('x', { storage })
  return { db, people: db.collection<Person>('people'), [Symbol.asyncDispose]: () => db.close() }
}

/** A tab with Ann and Bob. */
export async function withPeople(storage?: DatabaseStorage): Promise<Tab> {
  const tab = await openTab(storage)
  await tab.people.insert([
    { _id: 'ann', name: 'Ann', city: 'Oslo' },
    { _id: 'bob', name: 'Bob', city: 'Rome' },
  ])
  return tab
}

export function collectionOf({ db, people }: Tab, settings: CollectionSettings<Row> = {}): People {
  return createCollection(pannierCollectionOptions({ db, collection: people, ...settings }))
}

/** The cities by id. */
export function cities(people: People): Record<string, string> {
  return Object.fromEntries(Array.from(people.state, ([id, { city }]) => [id, city]))
}

/** What a listener of a collection hears after its first rows, batch by batch: `update ann Bergen`. */
export function heard(people: People): string[][] {
  const batches: string[][] = []
  people.subscribeChanges(
    (changes) => {
      batches.push(changes.map(({ type, key, value }) => `${type} ${key} ${value.city}`))
    },
    { includeInitialState: true },
  )
  batches.length = 0
  return batches
}

/** A live query whose updates come some moments late. */
export function lateBy<Row extends object>(moments: number, live: LiveQuery<Row>): LiveQuery<Row> {
  const updates = live[Symbol.asyncIterator].bind(live)
  async function* late() {
    for await (const update of { [Symbol.asyncIterator]: updates }) {
      for (let moment = 0; moment < moments; moment++) await aMoment()
      yield update
    }
  }
  return Object.assign(live, { [Symbol.asyncIterator]: late })
}
