/** A random application: collections that lead to one another, records, list rules, and lists that are asked for. */
import type { Random } from '../../../../db/testing/random.ts'
import type { PeerWorld } from '../../../../rules/test/pocketbase.ts'
import type { Request } from './parity/requests.ts'

interface RandomField {
  readonly name: string
  readonly type: string
  readonly maxSelect?: number
  readonly collectionId?: string
  readonly values?: readonly string[]
  readonly hidden?: boolean
}

interface RandomCollection {
  readonly id: string
  readonly name: string
  readonly type: 'base' | 'auth'
  readonly listRule: string | null
  readonly viewRule: string | null
  readonly fields: readonly RandomField[]
}

export interface RandomApp {
  readonly definitions: readonly RandomCollection[]
  readonly records: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>
}

const WORDS = ['', 'a', 'b', 'ab', 'Ab', 'b%', 'a_', '5', 'äö']
const VALUES = ['a', 'b', 'ab', 'c']
/** The accounts that ask. */
export const ASKING = ['ann', 'bob'] as const

const idOf = (name: string, at: number): string =>
  `${name}${String(Math.imul(at + 7, 2_654_435_761) >>> 0)}`.padEnd(15, '0').slice(0, 15)

/** `users` has the accounts; `c0` to `c2` have a few of each type of field. */
export function randomApp(random: Random, recordsMax: number): RandomApp {
  const names = ['users', 'c0', 'c1', 'c2']
  const shapes = names.map((name) => ({ name, fields: fieldsOf(random, name, names) }))
  const bare = shapes.map(({ name, fields }): RandomCollection => ({
    id: `pbc_${name}`,
    name,
    type: name === 'users' ? 'auth' : 'base',
    listRule: '',
    viewRule: '',
    fields,
  }))
  const definitions = bare.map((definition) => ({
    ...definition,
    listRule: ruleOf(random, definition, bare),
    viewRule: ruleOf(random, definition, bare),
  }))
  const counts = new Map(
    names.map((name) => [name, name === 'users' ? ASKING.length + random.below(4) : 1 + random.below(recordsMax)]),
  )
  const ids = (name: string): string[] =>
    Array.from({ length: counts.get(name)! }, (_, at) =>
      name === 'users' && at < ASKING.length ? ASKING[at]!.padEnd(15, 'x') : idOf(name, at),
    )
  const records = Object.fromEntries(
    bare.map(({ name, fields }) => [
      name,
      ids(name).map((id) => ({
        id,
        ...(name === 'users' ? { email: `${id}@example.com`, emailVisibility: random.below(2) === 0 } : {}),
        ...Object.fromEntries(fields.map((field) => [field.name, valueOf(random, field, ids)])),
      })),
    ]),
  )
  return { definitions, records }
}

function fieldsOf(random: Random, name: string, names: readonly string[]): RandomField[] {
  const to = (): string => `pbc_${random.pick(names)}`
  return [
    { name: 't', type: 'text' },
    { name: 'u', type: 'text', hidden: random.below(4) === 0 },
    { name: 'n', type: 'number' },
    { name: 'b', type: 'bool' },
    { name: 'k', type: 'select', values: VALUES, maxSelect: 1 },
    { name: 'l', type: 'select', values: VALUES, maxSelect: 3 },
    { name: 'j', type: 'json' },
    { name: 'one', type: 'relation', collectionId: to(), maxSelect: 1 },
    { name: 'many', type: 'relation', collectionId: to(), maxSelect: 3 },
    ...(name === 'c0' ? [{ name: 'own', type: 'relation', collectionId: 'pbc_users', maxSelect: 1 }] : []),
  ]
}

function valueOf(
  random: Random,
  { type, maxSelect = 0, collectionId = '' }: RandomField,
  ids: (name: string) => string[],
): unknown {
  const some = (list: readonly string[]): string[] =>
    Array.from({ length: random.below(Math.min(maxSelect, list.length) + 1) }, () => random.pick(list))
  switch (type) {
    case 'text':
      return random.pick(WORDS)
    case 'number':
      return random.pick([0, 1, -2, 5, 5.5])
    case 'bool':
      return random.below(2) === 0
    case 'json':
      return random.pick([null, { x: 1 }, { x: 'a', y: [1, 2] }, [3, 'a'], 'a', 5])
    case 'select':
      return maxSelect > 1 ? [...new Set(some(VALUES))] : random.pick(['', ...VALUES])
    default: {
      const list = ids(collectionId.slice('pbc_'.length))
      return maxSelect > 1 ? [...new Set(some(list))] : random.pick(['', ...list])
    }
  }
}

function ruleOf(random: Random, definition: RandomCollection, all: readonly RandomCollection[]): string | null {
  const kind = random.below(10)
  if (kind < 5) return ''
  if (kind === 5) return null
  const asked = random.pick([
    "@request.auth.id != ''",
    '@request.auth.id = id',
    '@request.auth.t ?= t',
    "@request.auth.many.t ?~ 'a'",
  ])
  return `${expression(random, definition, all)} ${random.pick(['||', '&&', '||'])} ${asked}`
}

/** A path of at most three steps. */
function path(random: Random, from: RandomCollection, all: readonly RandomCollection[], forSort = false): string {
  let at = from
  let walked = ''
  for (let steps = random.below(4) % 3; steps > 0; steps--) {
    const forth = at.fields
      .filter(({ type, maxSelect }) => type === 'relation' && !(forSort && maxSelect !== 1))
      .map(({ name, collectionId }) => ({ name, to: collectionId! }))
    const back = all.flatMap(({ name, id, fields }) =>
      fields
        .filter(({ collectionId }) => collectionId === at.id)
        .map((field) => ({ name: `${name}_via_${field.name}`, to: id })),
    )
    const step = random.pick(forSort ? forth : [...forth, ...back])
    walked += `${step.name}.`
    at = all.find(({ id }) => id === step.to)!
  }
  const field = random.pick(at.fields)
  if (field.type === 'json') return `${walked}${random.pick(['j', 'j.x', 'j.y.0'])}`
  const isList = (field.maxSelect ?? 0) > 1
  const modifier = isList
    ? random.pick(forSort ? ['', ':length'] : ['', ':each', ':length', ':each'])
    : field.type === 'text' && random.below(5) === 0
      ? ':lower'
      : ''
  return `${walked}${random.below(9) === 0 ? 'id' : `${field.name}${modifier}`}`
}

function comparison(random: Random, from: RandomCollection, all: readonly RandomCollection[]): string {
  const operator = random.pick(['=', '!=', '?=', '?!=', '~', '!~', '?~', '>', '<=', '?>', '='])
  const literal = random.pick(["'a'", "'b'", "''", "'A_'", "'%b'", '1', '5', 'true', 'false', 'null', '0', "'äö'"])
  const other = random.below(6) === 0 ? path(random, from, all) : literal
  return `${path(random, from, all)} ${operator} ${other}`
}

/** At most four comparisons: a real PocketBase gives up on large ones after 30 s. */
function expression(random: Random, from: RandomCollection, all: readonly RandomCollection[], depth = 2): string {
  if (depth === 0 || random.chance(0.5)) return comparison(random, from, all)
  const inside = [0, 1].map(() => expression(random, from, all, depth - 1))
  return `(${inside.join(random.pick([' && ', ' || ']))})`
}

/** A list of one of the collections, with what a client may add. */
export function randomRequest(random: Random, { definitions }: RandomApp): Request {
  const of = random.pick(definitions)
  const query: Record<string, string> = {
    perPage: String(1 + random.below(15)),
    page: String(1 + (random.below(3) % 2)),
  }
  if (random.below(4) > 0) query['filter'] = expression(random, of, definitions)
  // A total order: PocketBase's order of what agrees in the sort depends on its plan.
  const sort = Array.from(
    { length: random.below(3) },
    () => random.pick(['', '-']) + path(random, of, definitions, true),
  )
  query['sort'] = [...sort, 'id'].join(',')
  if (random.below(3) === 0)
    query['expand'] = random.pick([
      'one',
      'many',
      'one.many',
      'many.one,one',
      'c0_via_own',
      'own.c0_via_own',
      'c1_via_one.many',
    ])
  else query['fields'] = 'id'
  return {
    path: `${of.name}/records?${new URLSearchParams(query).toString()}`,
    as: random.pick(['super', 'guest', ...ASKING] as const),
  }
}

/** For a real PocketBase. Relations are set afterwards, as it refuses those that lead to later records. */
export function peerWorldOf({ definitions, records }: RandomApp): PeerWorld {
  const relationsOf = new Map(
    definitions.map(({ name, fields }) => [
      name,
      fields.filter(({ type }) => type === 'relation').map((field) => field.name),
    ]),
  )
  const all = Object.entries(records).flatMap(([name, rows]) => rows.map((row) => [name, row] as const))
  return {
    definitions,
    records: Object.fromEntries(
      Object.entries(records).map(([name, rows]) => [
        name,
        rows.map((row) =>
          Object.fromEntries(Object.entries(row).filter(([field]) => !relationsOf.get(name)!.includes(field))),
        ),
      ]),
    ),
    dangling: all.map(([name, row]) => {
      const values = relationsOf.get(name)!.map((field) => {
        const value = row[field]
        return `${field} = '${typeof value === 'string' ? value : JSON.stringify(value)}'`
      })
      return `UPDATE ${name} SET ${values.join(', ')} WHERE id = '${String(row['id'])}'`
    }),
  }
}
