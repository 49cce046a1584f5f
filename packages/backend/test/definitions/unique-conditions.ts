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

const ODD_COLUMNS = [
  'iif(flag, slug, title)',
  'CAST(slug AS INTEGER)',
  "slug GLOB 'a*'",
  'json_array_length(tags)',
  "strftime('%Y', day)",
  "printf('%d', n)",
  'typeof(data)',
  'data COLLATE NOCASE',
  'n COLLATE NOCASE',
  "data ->> '$.k'",
  'slug || n',
  'NOT flag',
  'n, n',
  'slug, slug COLLATE NOCASE',
  "x'00' || slug",
  'CASE WHEN flag THEN slug END',
  'zeroblob(length(slug))',
  'n / 2',
  'tags, data',
  'SLUG, "Title" COLLATE nocase',
  "'slug'",
  '((lower(slug)))',
  'slug COLLATE NOCASE COLLATE RTRIM',
  'slug COLLATE NOCASE, n, title COLLATE NOCASE',
  "coalesce(slug, '), (') /* ) */, n",
]

const ODD_CONDITIONS = [
  'n',
  'data',
  "slug GLOB '[a-c]*'",
  "CASE WHEN flag THEN n > 1 ELSE slug = '' END",
  "slug COLLATE NOCASE = 'A'",
  "(n, slug) > (1, 'a')",
  'n == 1.0',
  "flag = 'x'",
  "n = '1'",
  'slug = 1',
  "'a' = slug",
  "t.slug != ''",
  "slug > 'Ä'",
  "n != ''",
  'flag != true',
  "title = 'x AND y' AND n = 1",
  "slug != '' -- of some",
  "slug != '';",
  '[n] >= 0.5 AND "slug" <= \'b\'',
  'n < 9007199254740993',
]

/** Bodies that few people write. */
export function oddBody(random: Random): string {
  return `(${random.pick(ODD_COLUMNS)}) WHERE ${random.pick(ODD_CONDITIONS)}`
}

export function oddRecord(random: Random): UniqueRecord {
  return {
    ...uniqueRecord(random),
    slug: random.pick(['', 'a', 'A', 'ab', 'a ', '1', '01', 'A\0b', 'İ', 'ß', "it's"]),
    title: random.pick(['', 'x', 'X', 'x AND y', 'x ']),
    n: random.pick([0, 1, -1, 1.5, 1e15, 9007199254740992, 1e21, -0, 0.1 + 0.2, 1e-7, 0.5]),
    data: random.pick([null, 1, '1', 'a', '', 0, false, [], { k: null }, { a: 2, b: 1 }, 1.5, 1e19, '{']),
  }
}
