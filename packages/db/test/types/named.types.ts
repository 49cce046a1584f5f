/** Goal: the types that people write down take what the library returns, without more type arguments. Checked by `npm run types`. */
import { open } from '../../src/index.ts'
import type {
  Collection,
  Database,
  DocumentChange,
  Emit,
  LiveQuery,
  Query,
  SearchQuery,
  Stored,
  Transaction,
  TransactionCollection,
  View,
} from '../../src/index.ts'
import { holds } from './equal.ts'
import type { Same } from './equal.ts'

interface Person {
  name: string
  age: number
}

function oldest(people: Query<Person>): Promise<Person | undefined> {
  return people.sort('-age').first()
}

async function names(people: TransactionCollection<Person>): Promise<string[]> {
  return (await people.find().toArray()).map(({ name }) => name)
}

async function raise(tx: Transaction, id: string): Promise<void> {
  await tx.collection<Person>('people').update(id, ({ age, ...person }) => ({ ...person, age: age + 1 }))
}

export async function named(): Promise<void> {
  const db: Database = await open('x')
  const people: Collection<Person> = db.collection<Person>('people')

  const query: Query<Person> = people.find({ age: { $gte: 18 } })
  await oldest(people.find())
  await oldest(query)
  const live: LiveQuery<Person> = people.find().live()
  const search: SearchQuery<Person> = people.search('ann')
  const changes: DocumentChange<Stored<Person>>[] = await people.changes({ docs: true }).toArray()
  void [live, search, changes]

  // The collection itself, and the smaller one inside a transaction.
  await names(people)
  await db.transaction(async (tx) => {
    await names(tx.collection<Person>('people'))
    await raise(tx, 'ann')
    // @ts-expect-error a transaction defines no views
    tx.collection<Person>('people').view('v', { map: () => {} })
  })

  // The rows of a view follow from its definition.
  const byName = people.view('byName', { map: (person, emit: Emit<string, number>) => emit(person.name, person.age) })
  const view: View<Person> = byName
  const { rows } = await byName.query({ docs: true })
  holds<Same<(typeof rows)[number]['key'], string>>()
  holds<Same<(typeof rows)[number]['value'], number>>()
  void view
  const sums = await people.mapReduce({
    map: (person, emit: Emit<string, number>) => emit(person.name, person.age),
    reduce: '_sum',
  })
  holds<Same<(typeof sums.rows)[number]['value'], number>>()

  // A patch has some of the fields, and their types.
  await people.update('ann', { age: 32 })
  // @ts-expect-error there is no such field
  await people.update('ann', { agee: 32 })
  // @ts-expect-error an age is a number
  await people.update('ann', { age: '32' })
  // @ts-expect-error every person has a name
  await people.update('ann', { name: undefined })

  // Opened with collections, it still is a `Database`.
  const declared = await open('y', { collections: { people: { indexes: ['age'] } } })
  const plain: Database = declared
  await declared.transaction((tx) => raise(tx, 'ann'))
  void plain
}
