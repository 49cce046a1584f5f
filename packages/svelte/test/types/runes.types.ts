/** What the runes infer; checked by the compiler, never run. */
import type { Collection } from 'pannier'
import { createCount, createDocument, createDraft, createLiveQuery, liveSearch } from '../../src/index.ts'

interface Person {
  readonly name: string
  readonly age: number
}

type Equal<Left, Right> = (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false

function check<_T extends true>(): void {}

export function createTypes(people: Collection<Person>, db: { subscribe(listener: () => void): () => void }): void {
  const list = createLiveQuery(() => people.find({ age: { $gt: 1 } }).sort('name'))
  const [row] = list.rows
  check<Equal<NonNullable<typeof row>['name'], string>>()
  check<Equal<NonNullable<typeof row>['_id'], string>>()
  const status = list.status
  check<Equal<typeof status, 'idle' | 'loading' | 'live' | 'ended' | 'failed'>>()

  const [projected] = createLiveQuery(people.find().fields('age')).rows
  check<Equal<NonNullable<typeof projected>['age'], number>>()
  // @ts-expect-error It was not asked for.
  void projected?.name

  const [later] = createLiveQuery(() => (status === 'live' ? people.find() : undefined)).rows
  check<Equal<NonNullable<typeof later>['age'], number>>()

  const [found] = createLiveQuery(() => liveSearch(db, people, 'ann', { match: 'any', limit: 3 })).rows
  check<Equal<NonNullable<typeof found>['age'], number>>()
  // @ts-expect-error A search has no such option.
  void liveSearch(db, people, 'ann', { mach: 'any' })

  const one = createDocument(people, () => 'ann')
  const document = one.document
  check<Equal<NonNullable<typeof document>['age'], number>>()

  const form = createDraft(
    () => one.document,
    (fields, id) => people.update(id, fields),
  )
  const draft = form.draft
  check<Equal<NonNullable<typeof draft>['age'], number>>()
  // @ts-expect-error An age is a number.
  form.change({ age: '31' })

  const count = createCount(people.find({ age: 1 })).count
  check<Equal<typeof count, number | undefined>>()
  void createCount(people.find().liveCount())
  // @ts-expect-error Rows are no count.
  void createCount(people.find().live())
}
