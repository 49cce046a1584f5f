/** Rows as the compiler sees them; never run. */
import { createCollection, createTransaction, eq, createLiveQueryCollection } from '@tanstack/db'
import type { Client, CollectionTypes } from '@pannier/client'
import type { Collection, Database } from 'pannier'
import { pannierClientCollectionOptions, pannierCollectionOptions } from '../../src/index.ts'

type Equal<Left, Right> = (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false

function check<_T extends true>(): void {}

interface Person {
  readonly name: string
  readonly age?: number
}

export function documents(db: Database, stored: Collection<Person>): void {
  const people = createCollection(pannierCollectionOptions({ db, collection: stored, gcTime: 1000 }))
  people.insert({ _id: 'ann', name: 'Ann' })
  // @ts-expect-error A row needs an id.
  people.insert({ name: 'Ann' })
  // @ts-expect-error A name is a text.
  people.insert({ _id: 'ann', name: 5 })
  people.update('ann', (row) => void (row.age = 31))
  const row = people.get('ann')
  check<Equal<NonNullable<typeof row>['age'], number | undefined>>()
  check<Equal<NonNullable<typeof row>['_rev'], string | undefined>>()
  void createTransaction({ mutationFn: people.utils.persist })
  const adults = createLiveQueryCollection((query) => query.from({ people }).where((refs) => eq(refs.people.age, 31)))
  const [adult] = adults.toArray
  check<Equal<NonNullable<typeof adult>['name'], string>>()
  // @ts-expect-error Pannier stores what is inserted.
  void pannierCollectionOptions({ db, collection: stored, onInsert: async () => {} })
}

interface Types {
  readonly tasks: {
    readonly record: { readonly id: string; readonly title: string; readonly done: boolean; readonly created: string }
    readonly create: { readonly title: string; readonly done?: boolean }
    readonly update: { readonly title?: string }
  }
}

check<Types['tasks'] extends CollectionTypes ? true : false>()

export function records(client: Client<Types>): void {
  const tasks = createCollection(pannierClientCollectionOptions({ client, collection: 'tasks' }))
  const inserted = tasks.insert({ id: 'a', title: 'Roof' })
  // @ts-expect-error A task needs a title.
  tasks.insert({ id: 'a' })
  // @ts-expect-error A record needs an id.
  tasks.insert({ title: 'Roof' })
  const row = tasks.get('a')
  check<Equal<NonNullable<typeof row>['title'], string>>()
  check<Equal<NonNullable<typeof row>['created'], string | undefined>>()
  void tasks.utils.server(inserted)
  // @ts-expect-error There is no such collection.
  void pannierClientCollectionOptions({ client, collection: 'takss' })
}
