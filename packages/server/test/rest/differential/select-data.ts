/** The collections that SELECTs are about, and their records: the same for each seed. */
import { seededRandom } from '../../../../db/testing/random.ts'

const text = (name: string): object => ({ name, type: 'text' })
const number = (name: string): object => ({ name, type: 'number' })
const relation = (name: string, collectionId: string): object => ({ name, type: 'relation', collectionId })
const open = { type: 'base', listRule: '', viewRule: '' }

/** Dates are those of the records, so `created` is no autodate. */
export const COLLECTIONS: readonly object[] = [
  {
    id: 'people000000000',
    name: 'people',
    ...open,
    fields: [
      text('name'),
      text('city'),
      number('age'),
      { name: 'vip', type: 'bool' },
      { name: 'created', type: 'date' },
    ],
  },
  {
    id: 'posts0000000000',
    name: 'posts',
    ...open,
    fields: [
      text('title'),
      text('body'),
      number('views'),
      number('rating'),
      { name: 'published', type: 'bool' },

      { name: 'day', type: 'date' },
      { name: 'tags', type: 'select', maxSelect: 3, values: ['a', 'b', 'c'] },
      { name: 'meta', type: 'json' },
      relation('author', 'people000000000'),
      text('category'),
      { name: 'created', type: 'date' },
    ],
  },
  {
    id: 'comments0000000',
    name: 'comments',
    ...open,
    fields: [
      relation('post', 'posts0000000000'),
      relation('author', 'people000000000'),
      text('message'),
      number('score'),
      { name: 'day', type: 'date' },
    ],
  },
]

const WORDS =
  'alpha beta gamma delta epsilon kick pass goal green red blue straße Émile über naïve 007 -x- null true'.split(' ')
const METAS = [null, { size: 3, k: 'x' }, { size: 2.5 }, [1, 2, 3], 'text', 7, true, { a: { b: [1, null] } }]
const START_MS = Date.UTC(2023, 0, 1)
const DAY_MS = 86_400_000

type Records = readonly Readonly<Record<string, unknown>>[]

export function records(posts: number): Readonly<Record<'people' | 'posts' | 'comments', Records>> {
  const random = seededRandom(1)
  const people = posts / 2
  const int = (limit: number): number => Math.floor(random.next() * limit)
  const pick = <T>(list: readonly T[]): T => list[int(list.length)]!
  const idOf = (letter: string, at: number): string => letter + String(at).padStart(14, '0')
  const date = (ms: number): string => new Date(ms).toISOString().replace('T', ' ')
  const many = (count: number, make: (at: number) => object): Records =>
    Array.from({ length: count }, (_, at) => make(at) as Readonly<Record<string, unknown>>)
  return {
    people: many(people, (at) => ({
      id: idOf('u', at),
      name: `${pick(WORDS)} ${at % 97}`,
      city: pick(['Oslo', 'Paris', 'köln', 'Köln', 'oslo', '']),
      age: int(80),
      vip: int(10) === 0,
      created: date(START_MS + at * 61_000),
    })),
    posts: many(posts, (at) => ({
      id: idOf('p', at),
      title: `${pick(WORDS)} ${pick(WORDS)} ${at}`,
      body: `${pick(WORDS)} ${pick(WORDS)}`,
      views: int(1000),
      rating: int(3) === 0 ? int(5) : int(500) / 100,
      published: int(10) < 6,
      day: int(20) === 0 ? '' : date(START_MS + int(900) * DAY_MS + int(DAY_MS)),
      tags: ['a', 'b', 'c'].filter(() => int(10) < 4),
      meta: pick(METAS),
      author: idOf('u', int(people)),
      category: pick(['news', 'sport', 'art', 'News', '']),
      created: date(START_MS + at * 61_000),
    })),
    comments: many(people, (at) => ({
      id: idOf('c', at),
      post: idOf('p', int(posts)),
      author: idOf('u', int(people)),
      message: `${pick(WORDS)} ${pick(WORDS)}`,
      score: int(21) - 10,
      day: date(START_MS + int(900) * DAY_MS),
    })),
  }
}
