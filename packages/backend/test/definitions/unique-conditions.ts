/** 432 unique indexes, forms of columns by forms of conditions, and records that meet and miss them. */
import type { Random } from '../../../db/testing/random.ts'

const COLUMNS = [
  'slug',
  'LOWER(slug)',
  'slug COLLATE NOCASE',
  '`slug` COLLATE RTRIM',
  'slug, n',
  'slug DESC, n, flag, day, title',
  'n',
  'n + 0.5',
  'flag, n',
  'data',
  "json_extract(data, '$.k')",
  'substr(day, 1, 7), slug',
  "coalesce(nullif(slug, ''), title)",
  'length(title), flag',
  'abs(n)',
  'tags',
  'lower(slug) || title',
  'n % 3, title',
]

const CONDITIONS = [
  '',
  'slug != ""',
  "slug <> ''",
  'n = -1',
  'n IS NOT NULL',
  'data IS NULL',
  'data IS NOT NULL',
  'NOT flag',
  'flag',
  'flag IS TRUE',
  'flag = TRUE',
  'flag IS NOT FALSE',
  "slug LIKE 'a%'",
  "slug IS NOT ''",
  'slug = "a"',
  'n > 1.5',
  'n BETWEEN 0 AND 2',
  "slug IN ('a', 'B')",
  'n >= 0 AND slug != ""',
  'n < 0 OR flag',
  'length(slug) > 1',
  "data = '1'",
  "tags != '[]'",
  "day >= '2024'",
]

/** What follows the name of the table. */
export const UNIQUE_BODIES: readonly string[] = COLUMNS.flatMap((columns) =>
  CONDITIONS.map((condition) => `(${columns})${condition && ` WHERE ${condition}`}`),
)

export const UNIQUE_FIELDS = [
  { name: 'slug', type: 'text' },
  { name: 'title', type: 'text' },
  { name: 'n', type: 'number' },
  { name: 'flag', type: 'bool' },
  { name: 'day', type: 'date' },
  { name: 'tags', type: 'select', maxSelect: 2, values: ['a', 'b'] },
  { name: 'data', type: 'json' },
] as const

export interface UniqueRecord {
  readonly slug: string
  readonly title: string
  readonly n: number
  readonly flag: boolean
  readonly day: string
  readonly tags: readonly string[]
  readonly data: unknown
}

export function uniqueRecord(random: Random): UniqueRecord {
  return {
    slug: random.pick(['', 'a', 'A', 'B', 'b', 'ab', 'a ', 'Ä', 'ä', '😀', '\uffee']),
    title: random.pick(['', 'x', 'X', 'y', 'zz']),
    n: random.pick([0, 1, -1, 1.5, 2, 3, -0.5, 2.5]),
    flag: random.chance(0.5),
    day: random.pick(['', '2024-01-05 00:00:00.000Z', '2023-02-03 00:00:00.000Z']),
    tags: random.pick([[], ['a'], ['a', 'b']]),
    data: random.pick([null, 1, { k: 1 }, { k: 'A' }, true, [1], 'text']),
  }
}
