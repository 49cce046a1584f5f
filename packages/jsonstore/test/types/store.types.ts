/** What the types say; checked by the compiler, never run. */
import { createJSONStore, QueryPart } from '../../src/index.ts'
import type { JSONStoreDocument } from '../../src/index.ts'

interface Person {
  readonly name: string
  readonly age: number
}

type Equal<Left, Right> = (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false

function check<_T extends true>(): void {}

export async function storeTypes(): Promise<void> {
  const store = createJSONStore()
  const { people } = await store.init({ people: { searchFields: { name: 'string' } } })
  const count = await people.add({ anything: 1 })
  check<Equal<typeof count, number>>()
  // @ts-expect-error -- it was not opened
  void (await store.init({ people: {} })).orders
  // @ts-expect-error -- there is no such type
  void store.init({ people: { searchFields: { name: 'text' } } })

  const typed = store.get<Person>('people')!
  const found = await typed.find({ name: 'ann' }, { limit: 1 })
  check<Equal<typeof found, JSONStoreDocument<Person>[]>>()
  // @ts-expect-error -- the age is missing
  void typed.add({ name: 'Ann' })
  // @ts-expect-error -- a value, not an object
  void typed.find({ name: {} })
  void typed.advancedFind([QueryPart().like('name', 'a'), new QueryPart().between('age', 1, 2)])
  const length = typed
    .findAll()
    .done((all) => check<Equal<typeof all, JSONStoreDocument<Person>[]>>())
    .then((all) => all.length)
    .always(() => {})
  check<Equal<Awaited<typeof length>, number>>()
  await length
}
