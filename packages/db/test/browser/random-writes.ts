/**
 * Writes of a tab that is killed in the midst: a seed says what the n-th write does, so that another tab knows what must be
 * there when it has been told how many were acknowledged.
 */
import type { Collection, Database } from '../../src/index.ts'
import { assertEqual, assertTrue } from '../../testing/check.ts'
import { seededRandom } from '../../testing/random.ts'
import { someRow, type Row } from './database.page.ts'

/**
 * - 'puts': single rows, written and deleted.
 * - 'bulk': inserts of many rows, that skip the log.
 * - 'index': an index is built and dropped again and again, beside a few puts.
 * - 'checkpoint': puts of larger rows, with storage checkpoints all the time.
 */
export type Workload = 'puts' | 'bulk' | 'index' | 'checkpoint'

export const WORKLOADS: readonly Workload[] = ['puts', 'bulk', 'index', 'checkpoint']

export interface RandomWrites {
  /** Makes what the writes begin with. */
  prepareWrites(workload: Workload): Promise<void>
  /** Writes until the page is gone. */
  startWrites(workload: Workload, seed: number): void
  /** Resolves with the number of writes that were acknowledged as soon as they are more than `known`. */
  acknowledged(known: number): Promise<number>
  /** Fails unless exactly the first so many writes are there, or more of them than were reported. Gives how many are. */
  verifyWrites(workload: Workload, seed: number, reported: number): Promise<number>
}

type Opened = () => { readonly database: Database; readonly rows: Collection<Row> }

const SLOTS = 150
const BULK_ROWS = 1500
const INDEXED_ROWS = 12_000
const TO_BE_BUILT = ['n', '-group']

export function randomWrites(opened: Opened): RandomWrites {
  let count = 0
  let told: (() => void)[] = []
  const acknowledge = (): void => {
    count++
    for (const tell of told.splice(0)) tell()
  }
  return {
    async prepareWrites(workload) {
      if (workload !== 'index') return
      await opened().rows.insert(Array.from({ length: INDEXED_ROWS }, (_, at) => someRow(`indexed${at}`, -at)))
    },
    startWrites(workload, seed) {
      count = 0
      told = []
      void writeOn(opened(), workload, seed, acknowledge)
      if (workload === 'checkpoint') void checkpointOn(opened().database)
      if (workload === 'index') void buildOn(opened().database)
    },
    async acknowledged(known) {
      while (count <= known) await new Promise<void>((resolve) => told.push(resolve))
      return count
    },
    async verifyWrites(workload, seed, reported) {
      const { database, rows } = opened()
      await database.refresh()
      await rows.ready()
      const found = new Map((await rows.find({ n: { $gte: 0 } }).toArray()).map((row) => [row._id, row]))
      const newest = Math.max(0, ...Array.from(found.values(), ({ n }) => n))
      // The newest write shows in the number of its row, unless it was a deletion.
      const last = workload === 'bulk' ? Math.ceil(newest / BULK_ROWS) : newest
      const expected = expectedRows(workload, seed, last)
      const deletion = workload === 'bulk' ? undefined : deletedBy(last + 1)
      const deleted = deletion !== undefined && expected.has(deletion) && !found.has(deletion)
      if (deleted) expected.delete(deletion)
      assertEqual(new Set(found.keys()), new Set([...found.keys()].filter((id) => expected.has(id))), 'rows found')
      for (const [id, n] of expected) assertEqual(found.get(id)?.n, n, `row ${id} after ${last} writes`)
      const there = deleted ? last + 1 : last
      // A deletion of what is not there leaves no trace.
      assertTrue(there >= reported || (there === reported - 1 && deletion !== undefined), `${reported} writes were acknowledged, ${there} are there`)
      assertEqual(await database.check(), [])
      if (workload === 'index') await verifyIndexes(opened())
      return there
    },
  }
}

async function writeOn(
  { rows }: ReturnType<Opened>,
  workload: Workload,
  seed: number,
  acknowledge: () => void,
): Promise<void> {
  for (let write = 1; ; write++) {
    if (workload === 'bulk') await rows.insert(bulkRows(write))
    else {
      const deleted = deletedBy(write)
      if (deleted !== undefined) await rows.delete(deleted)
      else await rows.upsert(rowOf(workload, seed, write))
    }
    acknowledge()
  }
}

async function checkpointOn(database: Database): Promise<void> {
  for (;;) await database.checkpoint()
}

async function buildOn(database: Database): Promise<void> {
  for (;;) {
    const rows = database.collection<Row>('rows', { indexes: [TO_BE_BUILT] })
    await rows.ready()
    await rows.dropIndex(TO_BE_BUILT.join(','))
  }
}

/** Every fifth write deletes. */
function deletedBy(write: number): string | undefined {
  return write % 5 === 0 ? `p${(write * 7) % SLOTS}` : undefined
}

function rowOf(workload: Workload, seed: number, write: number): Row {
  const random = seededRandom(seed + write)
  const row = someRow(`p${random.below(SLOTS)}`, write)
  return workload === 'checkpoint' ? { ...row, text: row.text.repeat(1 + random.below(30)) } : row
}

function bulkRows(write: number): Row[] {
  const first = (write - 1) * BULK_ROWS + 1
  return Array.from({ length: BULK_ROWS }, (_, at) => someRow(`b${first + at}`, first + at))
}

/** The numbers of the rows that are there after so many writes. */
function expectedRows(workload: Workload, seed: number, writes: number): Map<string, number> {
  const expected = new Map<string, number>()
  for (let write = 1; write <= writes; write++) {
    const deleted = deletedBy(write)
    if (workload === 'bulk') for (const { _id, n } of bulkRows(write)) expected.set(_id, n)
    else if (deleted !== undefined) expected.delete(deleted)
    else expected.set(rowOf(workload, seed, write)._id, write)
  }
  return expected
}

/** An index that was being built is built now, or gone. */
async function verifyIndexes({ rows }: ReturnType<Opened>): Promise<void> {
  for (const { name, ready } of await rows.indexes()) assertTrue(ready, `the index ${name} is ready`)
  assertEqual(await rows.find({ n: { $lte: 0 } }).count(), INDEXED_ROWS)
}
