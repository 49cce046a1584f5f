/**
 * Goal: a change of definitions with all that follows from it is there whole or not at all, whichever backend call fails, and
 * however. Method: calls in turn fail in every way; then the database is opened again.
 */
import { expect, test } from 'vitest'
import { seededRandom } from '../../../db/testing/random.ts'
import { randomOrder, SimulatedStorage, type Fault } from '../../../db/testing/simulated-page-store.ts'
import { openOver, strike } from '../../../db/test/strike.ts'
import { strideOf } from '../../../../tools/test/seeds.ts'
import { Definitions } from '../../src/definitions/definitions.ts'
import { libraryIndexesOf } from '../../src/definitions/library-index.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { SYSTEM } from '../../src/gateway/principal.ts'

const FAULTS: readonly Fault[] = [
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: false },
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: true },
  { kind: 'gone', happens: false },
  { kind: 'gone', happens: true },
  { kind: 'power', happens: true },
  { kind: 'closed' },
]
/** More than are migrated in one step. */
const RECORDS = 230
const A = { id: 'fa', type: 'text', name: 'a' }
const B = { id: 'fb', type: 'text', name: 'b' }
const LIST = { id: 'fl', type: 'select', name: 'list', values: ['x', 'y'], maxSelect: 2 }
const OWNER = { id: 'fo', type: 'relation', name: 'owner', collectionId: 'pbc_people' }
const BEFORE = {
  name: 'notes',
  fields: [A, B, LIST, OWNER],
  indexes: ['CREATE UNIQUE INDEX `notes_a` ON `notes` (`a`)', 'CREATE INDEX `notes_b` ON `notes` (`b`)'],
}
/** Names swap, values change, indexes go and come. */
const AFTER = {
  name: 'papers',
  fields: [
    { ...A, name: 'b' },
    { ...B, name: 'a' },
    { ...LIST, maxSelect: 1 },
    { type: 'number', name: 'n' },
  ],
  indexes: ['CREATE UNIQUE INDEX `papers_b` ON `papers` (`b`)'],
}

async function filled(storage: SimulatedStorage): Promise<void> {
  const database = await openOver(storage, 'strict')
  const definitions = await Definitions.open(database)
  await definitions.create(SYSTEM, { id: 'pbc_people', name: 'people' })
  const notes = await definitions.create(SYSTEM, { id: 'pbc_notes', ...BEFORE })
  const documents = Array.from({ length: RECORDS }, (_, n) => documentOf(n, false))
  await definitions.records(notes).insert(documents)
  await database.close()
}

function documentOf(n: number, isDone: boolean): JsonObject & { _id: string } {
  const _id = `note${String(n).padStart(11, '0')}`
  if (isDone) return { _id, b: `a ${n}`, a: `b ${n % 3}`, list: n % 2 === 0 ? 'y' : '', n: 0 }
  return { _id, a: `a ${n}`, b: `b ${n % 3}`, list: n % 2 === 0 ? ['x', 'y'] : [], owner: '' }
}

interface Work {
  readonly name: string
  run(definitions: Definitions): Promise<unknown>
  isDone(definitions: Definitions): boolean
}

const WORKS: readonly Work[] = [
  {
    name: 'an update',
    run: (definitions) => definitions.update(SYSTEM, 'notes', AFTER),
    isDone: (definitions) => definitions.find('papers') !== undefined,
  },
  {
    name: 'an import that deletes',
    run: (definitions) =>
      definitions.import(
        SYSTEM,
        [
          { id: 'pbc_notes', ...AFTER },
          { id: 'pbc_new', name: 'new', fields: [A] },
        ],
        true,
      ),
    isDone: (definitions) => definitions.find('new') !== undefined,
  },
]

async function crash(work: Work, call: number, fault: Fault, seed: number): Promise<number> {
  const { next } = seededRandom(seed)
  const storage = new SimulatedStorage({ random: next, ...(seed % 2 === 0 && { schedule: randomOrder(next) }) })
  await filled(storage)
  let isAcknowledged = false
  const calls = await strike(storage, fault, call, async () => {
    const database = await openOver(storage, 'strict')
    const definitions = await Definitions.open(database)
    await work.run(definitions)
    isAcknowledged = true
    await database.close()
  })
  const database = await openOver(storage, 'strict')
  const definitions = await Definitions.open(database)
  const isDone = work.isDone(definitions)
  if (isAcknowledged) expect(isDone).toBe(true)
  const notes = definitions.get('pbc_notes')
  expect(notes.name).toBe(isDone ? 'papers' : 'notes')
  const stored = await definitions.records(notes).find({}).sort('_id').toArray()
  const wanted = Array.from({ length: RECORDS }, (_, n) => documentOf(n, isDone))
  expect(stored.map(({ _rev, ...document }) => document)).toEqual(wanted)
  const built = (await definitions.records(notes).indexes())
    .map(({ name }) => name)
    .filter((name) => / \d+$/.test(name))
  expect(built.toSorted()).toEqual(
    libraryIndexesOf(notes)
      .map(({ name }) => name)
      .toSorted(),
  )
  const twice = { ...documentOf(RECORDS, isDone), [isDone ? 'b' : 'a']: 'a 0' }
  await expect(definitions.records(notes).insert(twice)).rejects.toMatchObject({ code: 'PANNIER_NOT_UNIQUE' })
  const records = (await database.collections()).filter((name) => name.startsWith('$records_pbc_n'))
  const kept = definitions.all().filter(({ id }) => id.startsWith('pbc_n'))
  expect(records).toEqual(kept.map(({ id }) => `$records_${id}`).toSorted())
  expect((await database.check()).problems).toEqual([])
  await database.close()
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
