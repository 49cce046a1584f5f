/**
 * Goal: a batch, and a delete with all that follows from it, are there whole or not at all, whichever backend call fails, and
 * however. Method: calls in turn fail in every way; then the database is opened again.
 */
import type { Database } from 'pannier'
import { expect, test } from 'vitest'
import { seededRandom } from '../../../db/testing/random.ts'
import { randomOrder, SimulatedStorage, type Fault } from '../../../db/testing/simulated-page-store.ts'
import { openOver, strike } from '../../../db/test/strike.ts'
import { strideOf } from '../../../../tools/test/seeds.ts'
import { Definitions } from '../../src/definitions/definitions.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { SYSTEM } from '../../src/gateway/principal.ts'
import type { RecordOperation } from '../../src/records/write/operations.ts'
import { ADMIN, worldOf } from './world.ts'

type World = ReturnType<typeof worldOf>

const FAULTS: readonly Fault[] = [
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: false },
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: true },
  { kind: 'gone', happens: false },
  { kind: 'gone', happens: true },
  { kind: 'power', happens: true },
  { kind: 'closed' },
]
const COLLECTIONS: readonly JsonObject[] = [
  { id: 'pbc_teams', name: 'teams', fields: [{ type: 'number', name: 'count' }] },
  {
    id: 'pbc_tasks',
    name: 'tasks',
    indexes: ['CREATE UNIQUE INDEX `tasks_name` ON `tasks` (`name`)'],
    fields: [
      { type: 'text', name: 'name' },
      { type: 'relation', name: 'team', collectionId: 'pbc_teams', cascadeDelete: true },
    ],
  },
  {
    id: 'pbc_notes',
    name: 'notes',
    fields: [{ type: 'relation', name: 'tasks', collectionId: 'pbc_tasks', maxSelect: 9 }],
  },
]
const [RED, BLUE] = ['redredredredred', 'blueblueblueblu']
/** More than are deleted in one turn. */
const TASKS = 130

const taskId = (n: number): string => `task${String(n).padStart(11, '0')}`
const noteId = (n: number): string => `note${String(n).padStart(11, '0')}`

async function opened(storage: SimulatedStorage): Promise<World> {
  const database: Database = await openOver(storage, 'strict')
  return worldOf(database, await Definitions.open(database))
}

async function filled(storage: SimulatedStorage): Promise<void> {
  const world = await opened(storage)
  for (const collection of COLLECTIONS) await world.definitions.create(SYSTEM, collection)
  const numbers = Array.from({ length: TASKS }, (_, n) => n)
  const all = [
    ...[RED, BLUE].map((id): RecordOperation => ({ action: 'create', collection: 'teams', input: { id } })),
    ...numbers.map((n): RecordOperation => {
      const input = { id: taskId(n), name: `task ${n}`, team: n % 13 === 0 ? BLUE : RED }
      return { action: 'create', collection: 'tasks', input }
    }),
    ...numbers.slice(0, 20).map((n): RecordOperation => {
      const input = { id: noteId(n), tasks: [taskId(n), taskId(n + 1)] }
      return { action: 'create', collection: 'notes', input }
    }),
  ]
  await batch(world, all)
  await world.close()
}

function batch({ writes }: World, operations: readonly RecordOperation[]): Promise<unknown> {
  return writes.batch(
    SYSTEM,
    operations.map((operation) => ({ ...operation, request: ADMIN.request })),
    { workMsMax: 60_000 },
  )
}

interface Work {
  readonly name: string
  run(world: World): Promise<unknown>
  /** Whether all of it is there; fails if it is there in part. */
  isDone(tables: Tables): boolean
}

type Tables = Readonly<Record<'teams' | 'tasks' | 'notes', Readonly<Record<string, JsonObject>>>>

const WORKS: readonly Work[] = [
  {
    name: 'a batch',
    run: (world) =>
      batch(world, [
        { action: 'create', collection: 'tasks', input: { id: taskId(900), name: 'new', team: RED } },
        { action: 'update', collection: 'teams', id: RED, input: { 'count+': 5 } },
        { action: 'upsert', collection: 'notes', input: { id: noteId(900), tasks: [taskId(900), taskId(5)] } },
        { action: 'delete', collection: 'tasks', id: taskId(5) },
        { action: 'update', collection: 'tasks', id: taskId(6), input: { name: 'task 5' } },
      ]),
    isDone({ teams, tasks, notes }) {
      const isDone = teams[RED]!['count'] === 5
      expect(tasks[taskId(900)] !== undefined).toBe(isDone)
      expect(tasks[taskId(5)] === undefined).toBe(isDone)
      expect(tasks[taskId(6)]!['name']).toBe(isDone ? 'task 5' : 'task 6')
      expect(notes[noteId(900)]?.['tasks']).toEqual(isDone ? [taskId(900)] : undefined)
      expect(Object.keys(tasks)).toHaveLength(TASKS)
      return isDone
    },
  },
  {
    name: 'a cascade',
    run: (world) => world.writes.delete(ADMIN, 'teams', RED),
    isDone({ teams, tasks, notes }) {
      const isDone = teams[RED] === undefined
      expect(Object.keys(tasks)).toHaveLength(isDone ? TASKS / 13 : TASKS)
      expect(Object.keys(notes)).toHaveLength(20)
      for (const { tasks: ids } of Object.values(notes))
        expect((ids as string[]).every((id) => tasks[id] !== undefined)).toBe(true)
      return isDone
    },
  },
]

/** Gives the number of calls that the work made. */
async function crash(work: Work, call: number, fault: Fault, seed: number): Promise<number> {
  const { next } = seededRandom(seed)
  const storage = new SimulatedStorage({ random: next, ...(seed % 2 === 0 && { schedule: randomOrder(next) }) })
  await filled(storage)
  let isAcknowledged = false
  const calls = await strike(storage, fault, call, async () => {
    const world = await opened(storage)
    await work.run(world)
    isAcknowledged = true
    await world.close()
  })
  const world = await opened(storage)
  const [teams, tasks, notes] = await Promise.all(['teams', 'tasks', 'notes'].map((name) => world.stored(name)))
  const isDone = work.isDone({ teams: teams!, tasks: tasks!, notes: notes! })
  if (isAcknowledged) expect(isDone).toBe(true)
  expect((await world.database.check()).problems).toEqual([])
  await world.close()
  return calls
}

const stride = strideOf(13)

for (const work of WORKS)
  test.each(FAULTS)(`${work.name}, calls in turn: %j`, { timeout: 120_000 }, async (fault) => {
    for (const seed of [1, 2]) {
      const calls = await crash(work, 0, fault, seed)
      for (let call = 1 + (FAULTS.indexOf(fault) % stride); call <= calls; call += stride) {
        await crash(work, call, fault, seed).catch((error: unknown) => {
          throw new Error(`call ${call} of ${calls}, seed ${seed}`, { cause: error })
        })
      }
    }
  })
