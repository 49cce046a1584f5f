/**
 * Random documents, writes and queries of views, each compared with naive map/reduce over the documents; the integrity check
 * holds all along. Runs on any database, in browsers too.
 */
import { addValues } from '../src/view/reducers.ts'
import type { Database } from '../src/database/database.ts'
import type { Emit } from '../src/view/view-definition.ts'
import type { ViewOptions } from '../src/view/view-options.ts'
import { assertEqual } from './check.ts'
import { assertAnswer, naiveQuery, naiveRows, type NaiveRow } from './naive-view.ts'
import type { Random } from './random.ts'

interface Doc extends Record<string, unknown> {
  _id: string
  key: unknown
  also: unknown
  n: number
}

const LONG = 'long '.repeat(220)
const WIDE = Array.from({ length: 300 }, (_, at) => `element ${at}`)
let deep: unknown = 1
for (let depth = 0; depth < 20; depth++) deep = [deep]

function someKey(random: Random): unknown {
  const kind = random.below(14)
  if (kind < 4) return random.below(8)
  if (kind < 6) return [random.pick(['a', 'b', 'c']), random.below(4), random.below(3)]
  if (kind === 6) return [random.pick(['a', 'b'])]
  if (kind === 7) return random.pick([null, true, false, '', 'a', 'é', -1.5, 1e300, [], {}])
  if (kind === 8) return LONG + random.pick(['x', 'y', 'z', ''])
  if (kind === 9) return [random.pick(['a', LONG + random.pick(['p', 'q'])]), random.below(3)]
  if (kind === 10) return [...WIDE, random.below(3)]
  if (kind === 11) return { a: random.below(2), [random.pick(['b', 'c'])]: random.below(2) }
  if (kind === 12) return [random.pick(['a', 'b']), deep, random.below(2)]
  return random.pick(['k', 'l', 'm', '\u0000', '\u0001x'])
}

function someDocument(random: Random): Doc {
  const _id = random.chance(0.02)
    ? `_design/${random.below(3)}`
    : `${random.pick(['d', 'e\u0000', 'ö'])}${random.below(90)}`
  return { _id, key: someKey(random), also: someKey(random), n: random.below(100) }
}

const MAPS: readonly ((document: Doc, emit: Emit) => void)[] = [
  (document, emit) => emit(document.key, document.n),
  (document, emit) => {
    if (document.n === 13) throw new Error('unlucky')
    emit(document.key, document.n)
    emit(document.also, [document.n, 1])
    if (document.n % 5 === 0) emit(document.key, 7)
  },
  (document, emit) => {
    if (document.n % 3 !== 0) emit([document.also, document.key], document.n)
  },
  (document, emit) => {
    for (let at = 0; at < document.n % 6; at++) emit(document.key, document.n % 2)
  },
]

const REDUCES = {
  _sum: (rows: readonly NaiveRow[]): unknown => rows.reduce((sum, { value }) => addValues(sum, value), 0 as unknown),
  _count: (rows: readonly NaiveRow[]): unknown => rows.length,
  _approx_count_distinct: (rows: readonly NaiveRow[]): unknown =>
    new Set(rows.map(({ key }) => JSON.stringify(key))).size,
} as const

/** The same whatever the pieces are: the ids of the rows. */
function sortedIds(keys: (readonly [unknown, string])[] | null, values: unknown[], rereduce: boolean): string[] {
  return (rereduce ? (values.flat() as string[]) : keys!.map(([, id]) => id)).sort()
}

function someOptions(random: Random, rows: readonly NaiveRow[], reduced: boolean): ViewOptions {
  const options: Record<string, unknown> = {}
  const key = (): unknown => (rows.length > 0 && random.chance(0.8) ? random.pick(rows).key : someKey(random))
  const id = (): string => (rows.length > 0 ? random.pick(rows).id : 'd1')
  const shape = random.below(6)
  if (shape === 0) options['key'] = key()
  else if (shape === 1 && (!reduced || random.chance(0.5))) {
    options['keys'] = Array.from({ length: random.below(5) }, key)
    if (reduced) options['group'] = true
  } else if (shape < 5) {
    if (random.chance(0.7)) options[random.pick(['gte', 'gt'])] = key()
    if (random.chance(0.7)) options[random.pick(['lte', 'lt'])] = key()
    if (random.chance(0.3)) options['fromId'] = id()
    if (random.chance(0.3)) options['toId'] = id()
  }
  if (random.chance(0.4)) options['descending'] = random.chance(0.8)
  if (random.chance(0.3)) options['skip'] = random.below(8)
  if (random.chance(0.3)) options['limit'] = random.below(12)
  if (reduced && options['keys'] === undefined && random.chance(0.7))
    options['group'] = random.pick([true, 1, 2, 3, false, 0])
  if (reduced && random.chance(0.2)) {
    options['reduce'] = false
    delete options['group']
  }
  return options as ViewOptions
}

/** `version` tells the maps of one run from those of others, for they have the same source. Some views have none. Closes the database. */
export async function checkRandomViews(db: Database, random: Random, version: string): Promise<void> {
  const docs = db.collection<Doc>('docs')
  const written = new Map<string, Doc>()
  const map = random.pick(MAPS)
  const definitions = [
    { name: 'rows', reduce: undefined, naive: undefined },
    ...(['_sum', '_count', '_approx_count_distinct'] as const).map((reduce) => ({
      name: reduce,
      reduce,
      naive: REDUCES[reduce],
    })),
    {
      name: 'custom',
      reduce: sortedIds,
      naive: (rows: readonly NaiveRow[]) => rows.map(({ id }) => id).sort(),
    },
  ]
  const used = definitions
    .filter(() => random.chance(0.6))
    .concat(definitions.slice(0, 1))
    .map((definition) => ({ ...definition, versioned: random.chance(0.5) ? { version } : {} }))
  for (let round = 0; round < 8; round++) {
    const batch = Array.from({ length: random.pick([1, 5, 40]) }, () => someDocument(random))
    await docs.upsert(batch)
    for (const document of batch) written.set(document._id, document)
    for (let count = random.below(6); count > 0 && written.size > 0; count--) {
      const id = random.pick([...written.keys()])
      await docs.delete(id)
      written.delete(id)
    }
    if (random.chance(0.3) && written.size > 0) {
      const id = random.pick([...written.keys()])
      await docs.purge(id)
      written.delete(id)
    }
    if (random.chance(0.3)) await db.flush()
    const rows = naiveRows(written.values(), map as never)
    for (const { name, reduce, naive, versioned } of used) {
      const view = docs.view(name, { map, reduce, ...versioned } as never)
      for (let query = 0; query < 6; query++) {
        const options = someOptions(random, rows, reduce !== undefined)
        assertAnswer(await view.query(options), naiveQuery(rows, options, naive), `${name} ${JSON.stringify(options)}`)
      }
    }
    if (random.chance(0.3)) assertEqual((await db.check()).problems, [])
  }
  assertEqual((await db.check()).problems, [])
  await db.close()
}
