/** Goal: what aggregates and groups give follows from the type of the documents. Checked by `npm run types`. */
import type { Collection } from '../../src/database/collection/collection.ts'
import { holds } from './equal.ts'
import type { Same } from './equal.ts'

interface Person {
  readonly name: string
  readonly age?: number
  readonly role: 'admin' | 'user'
  readonly address: { readonly city: string; readonly zip: number | null }
}

export async function aggregates(people: Collection<Person>): Promise<void> {
  const all = await people.find({}).aggregate({
    count: { $count: true },
    oldest: { $max: 'age' },
    first: { $min: 'name' },
    zip: { $min: 'address.zip' },
    sum: { $sum: 'age' },
    mean: { $avg: 'age' },
    roles: { $distinct: 'role' },
  })
  interface All {
    count: number
    oldest: number | undefined
    first: string | undefined
    zip: number | undefined
    sum: number
    mean: number | undefined
    roles: ('admin' | 'user')[]
  }
  holds<Same<typeof all, { [Name in keyof All]: All[Name] }>>()
  const cities = await people.find({}).distinct('address.city')
  holds<Same<typeof cities, string[]>>()
  const groups = people
    .find({})
    .groupBy('role', 'address.city')
    .aggregate({ people: { $count: true } })
  const [row] = await groups
    .sort('-people', 'address.city')
    .having({ people: { $gt: 3 }, role: 'admin' })
    .toArray()
  holds<Same<NonNullable<typeof row>['people'], number>>()
  holds<Same<NonNullable<typeof row>['role'], 'admin' | 'user'>>()
  holds<Same<NonNullable<typeof row>['address'], { readonly city: string }>>()
  // @ts-expect-error No such field.
  await people.find({}).aggregate({ x: { $max: 'agee' } })
  // @ts-expect-error No such aggregate.
  await people.find({}).aggregate({ x: { $median: 'age' } })
  // @ts-expect-error No such field.
  people.find({}).groupBy('city')
  // @ts-expect-error No such field of the rows.
  groups.sort('name')
  const [found] = await people
    .search('ann', { selector: { role: 'user' } })
    .fields('name')
    .toArray()
  holds<Same<NonNullable<typeof found>['name'], string>>()
}
