/**
 * What lists, expands and fields are asked about: the world of the rules' cases with more view rules, and tasks of members of
 * teams. The order of their ids is not that in which they are made.
 */
import fc from 'fast-check'
import type { PeerWorld } from '../../../../../rules/test/pocketbase.ts'
import { DANGLING, DEFINITIONS, RECORDS } from '../../../../../rules/test/world.ts'

const RULES: Readonly<Record<string, object>> = {
  ruled: { viewRule: 'open = true || owner = @request.auth.id' },
  locked: { viewRule: null },
  perms: { viewRule: "@request.context = 'expand'" },
  users: { manageRule: "@request.auth.role = 'admin' && role != 'guest'" },
}

const field = (name: string, type: string, options: object = {}): { name: string; type: string } => ({
  name,
  type,
  ...options,
})
const relation = (name: string, to: string, maxSelect = 1): { name: string; type: string } =>
  field(name, 'relation', { collectionId: `pbc_${to}`, maxSelect })
const collection = (name: string, ...fields: { name: string; type: string }[]) => ({
  id: `pbc_${name}`,
  name,
  type: 'base',
  listRule: '',
  fields,
})

const ADDED = [
  collection('teams', field('name', 'text')),
  collection('rights', field('name', 'text'), field('active', 'bool')),
  collection('members', field('name', 'text'), relation('team', 'teams'), relation('rights', 'rights', 9)),
  collection(
    'tasks',
    field('title', 'text'),
    field('points', 'number'),
    field('public', 'bool'),
    field('type', 'select', { values: ['a', 'b', 'c', 'd', 'e'], maxSelect: 3 }),
    relation('owner', 'members'),
    field('text', 'editor'),
  ),
]

/** As in `fc.sample`, but each value has its own seed. PocketBase was asked about what this generator made. */
function made<T>(seed: number, count: number, arbitrary: (at: number) => fc.Arbitrary<T>): T[] {
  return Array.from({ length: count }, (_, at) => {
    const options = { seed: seed + at, numRuns: 1, randomType: 'xorshift128plus' } as const
    return fc.sample(arbitrary(at), options)[0]!
  })
}

/** 15 characters, in no order. */
const idAt = (table: string, at: number): string =>
  table + String(Math.imul(at + 1, 2_654_435_761) >>> 0).padStart(15 - table.length, '0')
const some = (table: string, count: number): fc.Arbitrary<string> => fc.nat(count - 1).map((at) => idAt(table, at))

const [TEAMS, RIGHTS, MEMBERS, TASKS] = [6, 9, 24, 160]
const TEXTS = ['', '<p>Hello <b>big</b> world</p>', 'plain', '<ul><li>one</li><li>two</li></ul>', 'a &amp; b &lt;c&gt;']

export const WORLD: PeerWorld = {
  definitions: [...DEFINITIONS, ...ADDED].map((each) => ({ viewRule: '', ...each, ...RULES[each.name] })),
  records: {
    ...RECORDS,
    teams: made(1, TEAMS, (at) => fc.record({ id: fc.constant(idAt('te', at)), name: fc.constant(`team ${at % 4}`) })),
    rights: made(2, RIGHTS, (at) =>
      fc.record({ id: fc.constant(idAt('ri', at)), name: fc.constant(`right ${at}`), active: fc.boolean() }),
    ),
    members: made(3, MEMBERS, (at) =>
      fc.record({
        id: fc.constant(idAt('me', at)),
        name: fc.nat(9).map((number) => `member ${number}`),
        team: fc.oneof({ weight: 4, arbitrary: some('te', TEAMS) }, fc.constant('')),
        rights: fc.uniqueArray(some('ri', RIGHTS), { maxLength: 3 }),
      }),
    ),
    tasks: made(4, TASKS, (at) =>
      fc.record({
        id: fc.constant(idAt('ta', at)),
        title: fc.nat(30).map((number) => `Task ${number}`),
        points: fc.integer({ min: -3, max: 5 }),
        public: fc.boolean(),
        type: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 3 }),
        owner: fc.oneof({ weight: 8, arbitrary: some('me', MEMBERS) }, fc.constant('')),
        text: fc.constantFrom(...TEXTS),
      }),
    ),
  },
  dangling: DANGLING,
}
