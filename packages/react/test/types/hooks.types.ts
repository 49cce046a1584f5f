/** What the hooks infer; checked by the compiler, never run. */
import type { Collection } from 'pannier'
import { liveSearch, useCount, useDocument, useDraft, useLiveQuery } from '../../src/index.ts'

interface Person {
  readonly name: string
  readonly age: number
}

type Equal<Left, Right> = (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false

function check<_T extends true>(): void {}

export function useTypes(people: Collection<Person>): void {
  const { rows, status } = useLiveQuery(people.find({ age: { $gt: 1 } }).sort('name'))
  check<Equal<(typeof rows)[number]['name'], string>>()
  check<Equal<(typeof rows)[number]['_id'], string>>()
  check<Equal<typeof status, 'idle' | 'loading' | 'live' | 'ended' | 'failed'>>()

  const projected = useLiveQuery(() => people.find().fields('age'), [people]).rows
  check<Equal<(typeof projected)[number]['age'], number>>()
  // @ts-expect-error It was not asked for.
  void projected[0]?.name

  const later = useLiveQuery(status === 'live' ? people.find() : undefined).rows
  check<Equal<(typeof later)[number]['age'], number>>()

  const [found] = useLiveQuery(liveSearch({ subscribe: () => () => {} }, people, 'ann', { limit: 3 })).rows
  check<Equal<NonNullable<typeof found>['age'], number>>()

  const { document } = useDocument(people, 'ann')
  check<Equal<NonNullable<typeof document>['age'], number>>()

  const { draft, change } = useDraft(document, (fields, id) => people.update(id, fields))
  check<Equal<NonNullable<typeof draft>['age'], number>>()
  // @ts-expect-error An age is a number.
  change({ age: '31' })

  const { count } = useCount(people.find({ age: 1 }))
  check<Equal<typeof count, number | undefined>>()
  void useCount(() => (status === 'live' ? people.find().fields('age') : undefined), [people])
  void useCount(people.find().liveCount())
  // @ts-expect-error Rows are no count.
  void useCount(people.find().live())

  const live = people.find().live()
  check<Equal<NonNullable<typeof live.value>[number]['age'], number>>()
  check<Equal<ReturnType<typeof useLiveQuery<Person>>['rows'], readonly Person[]>>()
}
