/** What the composables infer; checked by the compiler, never run. */
import type { Collection } from 'pannier'
import { useCount, useDocument, useDraft, useLiveQuery, liveSearch } from '../../src/index.ts'

interface Person {
  readonly name: string
  readonly age: number
}

type Equal<Left, Right> = (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false

function check<_T extends true>(): void {}

export function useTypes(people: Collection<Person>, db: { subscribe(listener: () => void): () => void }): void {
  const list = useLiveQuery(() => people.find({ age: { $gt: 1 } }).sort('name'))
  const [row] = list.rows.value
  check<Equal<NonNullable<typeof row>['name'], string>>()
  check<Equal<NonNullable<typeof row>['_id'], string>>()
  const status = list.status.value
  check<Equal<typeof status, 'idle' | 'loading' | 'live' | 'ended' | 'failed'>>()

  const [projected] = useLiveQuery(people.find().fields('age')).rows.value
  check<Equal<NonNullable<typeof projected>['age'], number>>()
  // @ts-expect-error It was not asked for.
  void projected?.name

  const [later] = useLiveQuery(() => (status === 'live' ? people.find() : undefined)).rows.value
  check<Equal<NonNullable<typeof later>['age'], number>>()

  const [found] = useLiveQuery(() => liveSearch(db, people, 'ann', { match: 'any', limit: 3 })).rows.value
  check<Equal<NonNullable<typeof found>['age'], number>>()
  // @ts-expect-error A search has no such option.
  void liveSearch(db, people, 'ann', { mach: 'any' })

  const one = useDocument(people, () => 'ann')
  const document = one.document.value
  check<Equal<NonNullable<typeof document>['age'], number>>()

  const form = useDraft(one.document, (fields, id) => people.update(id, fields))
  const draft = form.draft.value
  check<Equal<NonNullable<typeof draft>['age'], number>>()
  // @ts-expect-error An age is a number.
  form.change({ age: '31' })

  const count = useCount(people.find({ age: 1 })).count.value
  check<Equal<typeof count, number | undefined>>()
  void useCount(people.find().liveCount())
  // @ts-expect-error Rows are no count.
  void useCount(people.find().live())
}
