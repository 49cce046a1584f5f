/**
 * Writes of a tab that is killed in the midst, and of one that looks on: a seed says what the n-th write does, so that another tab knows what must be
 * there when it has been told how many were acknowledged.
 */
import { isPannierError, type Database } from '../../../src/index.ts'
import { assertEqual, assertTrue, CheckError } from '../../../testing/check.ts'
import { seededRandom } from '../../../testing/random.ts'
import { ROWS, someRow, type Opened, type Row } from './rows.ts'

/**
 * - 'puts': single rows are written and deleted.
 * - 'bulk': many rows at a time are inserted, which skips the log.
 * - 'index build': an index is built and dropped again and again, beside puts.
 * - 'checkpoint': puts of larger rows, with storage checkpoints all the time.
 */
export type Workload = 'puts' | 'bulk' | 'index build' | 'checkpoint'

export const WORKLOADS: readonly Workload[] = ['puts', 'bulk', 'index build', 'checkpoint']

export interface RandomWrites {
  /** Makes what the writes begin with. */
  prepareWrites(workload: Workload): Promise<void>
  /** Writes until the page is gone. `written`: so many of the writes were made before. */
  startWrites(workload: Workload, seed: number, written?: number): void
  /** Resolves with the number of writes that were acknowledged as soon as they are more than `known`. */
  acknowledged(known: number): Promise<number>
  /** Inserts rows with negative numbers, which are none of those writes, one after the other until it is told to stop. */
  insertForever(prefix: string): void
  /** Resolves with the number of rows inserted as soon as they are more than `known`. */
  inserted(known: number): Promise<number>
  stopInserting(): Promise<void>
  /** Fails unless exactly the first writes are there, no fewer than were reported. Gives how many are. */
  verifyWrites(workload: Workload, seed: number, reported: number): Promise<number>
}

const SLOTS = 150
const BULK_ROWS = 1500
const INDEXED_ROWS = 12_000
const INDEXED_FROM = -1_000_000
const INDEX = ['n', '-group'] as const

export function randomWrites(opened: Opened): RandomWrites {
  const acknowledgements = new Acknowledgements()
  const insertions = new Acknowledgements()
  let inserting = Promise.resolve()
  let going = false
  return {
    insertForever(prefix) {
      going = true
      const insert = async (): Promise<void> => {
        for (let n = 1; going; n++) {
          try {
            await opened().rows.insert(someRow(`${prefix}${n}`, -n))
            insertions.add()
          } catch (error) {
            // The storage failed. That is no promise, and the row is not there.
            if (!isPannierError(error, 'PANNIER_IO_FAILED')) throw error
          }
        }
      }
      inserting = insert()
      inserting.catch((error: unknown) => insertions.fail(error))
    },
    inserted: (known) => insertions.after(known),
    async stopInserting() {
      going = false
      await inserting
    },
    async prepareWrites(workload) {
      if (workload !== 'index build') return
      const rows = Array.from({ length: INDEXED_ROWS }, (_, at) => someRow(`indexed${at}`, INDEXED_FROM + at))
      await opened().rows.insert(rows)
    },
    startWrites(workload, seed, written = 0) {
      const works = [writeOn(opened(), { workload, seed, written }, acknowledgements)]
      if (workload === 'checkpoint') works.push(checkpointOn(opened().database))
      if (workload === 'index build') works.push(buildOn(opened().database))
      Promise.all(works).catch((error: unknown) => acknowledgements.fail(error))
    },
    acknowledged: (known) => acknowledgements.after(known),
    async verifyWrites(workload, seed, reported) {
      const { database, rows } = opened()
      await database.refresh()
      await rows.ready()
      const found = new Map<string, number>()
      for (const { _id, n } of await rows.find({ n: { $gte: 0 } }).toArray()) found.set(_id, n)
      const written = writesThatMake(found, workload, seed, reported)
      assertEqual((await database.check()).problems, [])
      for (const { name, ready } of await rows.indexes()) assertTrue(ready, `the index ${name} is built`)
      if (workload === 'index build')
        assertEqual(await rows.find({ n: { $lt: INDEXED_FROM / 2 } }).count(), INDEXED_ROWS)
      return written
    },
  }
}

/** Counts what was acknowledged, and tells those who wait for more. */
class Acknowledgements {
  private count = 0
  private waiting: PromiseWithResolvers<void>[] = []
  private failure: unknown

  add(): void {
    this.count++
    for (const { resolve } of this.waiting.splice(0)) resolve()
  }

  fail(error: unknown): void {
    this.failure = error
    for (const { reject } of this.waiting.splice(0)) reject(error)
  }

  async after(known: number): Promise<number> {
    while (this.count <= known) {
      if (this.failure !== undefined) throw this.failure
      const more = Promise.withResolvers<void>()
      this.waiting.push(more)
      await more.promise
    }
    return this.count
  }
}

async function writeOn(
  { rows }: ReturnType<Opened>,
  { workload, seed, written }: { readonly workload: Workload; readonly seed: number; readonly written: number },
  acknowledgements: Acknowledgements,
): Promise<void> {
  for (let write = written + 1; ; write++) {
    const deleted = deletedBy(workload, write)
    if (deleted !== undefined) await rows.delete(deleted)
    else if (workload === 'bulk') await rows.insert(rowsOf(workload, seed, write))
    else await rows.upsert(rowsOf(workload, seed, write)[0]!)
    acknowledgements.add()
  }
}

async function checkpointOn(database: Database): Promise<void> {
  for (;;) await database.flush()
}

async function buildOn(database: Database): Promise<void> {
  for (;;) {
    const rows = database.collection<Row>(ROWS, { indexes: [INDEX] })
    await rows.ready()
    await rows.dropIndex(INDEX.join(','))
  }
}

/** Every fifth write deletes, except in bulk. */
function deletedBy(workload: Workload, write: number): string | undefined {
  return workload !== 'bulk' && write % 5 === 0 ? `p${(write * 7) % SLOTS}` : undefined
}

/** What the others put. */
function rowsOf(workload: Workload, seed: number, write: number): Row[] {
  if (workload === 'bulk') return Array.from({ length: BULK_ROWS }, (_, at) => someRow(`b${write}-${at}`, write))
  const random = seededRandom(seed + write)
  const row = someRow(`p${random.below(SLOTS)}`, write)
  return [workload === 'checkpoint' ? { ...row, text: row.text.repeat(1 + random.below(30)) } : row]
}

/** How many of the writes have made what was found: the number of a row is the number of the write that put it. */
function writesThatMake(
  found: ReadonlyMap<string, number>,
  workload: Workload,
  seed: number,
  reported: number,
): number {
  const newest = Math.max(0, ...new Set(found.values()))
  const expected = new Map<string, number>()
  let difference: unknown
  // What the newest write has put may have been deleted by the next one.
  for (let write = 0; write <= Math.max(newest, reported) + 2; write++) {
    const deleted = deletedBy(workload, write)
    if (deleted !== undefined) expected.delete(deleted)
    else if (write > 0) for (const { _id, n } of rowsOf(workload, seed, write)) expected.set(_id, n)
    if (write < newest || write < reported) continue
    try {
      assertEqual(sorted(found), sorted(expected))
      return write
    } catch (error) {
      difference ??= error
    }
  }
  const what = `${reported} writes were acknowledged; what is there is not what these or a few more make (newest: ${newest})`
  throw new CheckError(`${what}: ${String(difference)}`)
}

function sorted(numbers: ReadonlyMap<string, number>): [id: string, n: number][] {
  return [...numbers].sort(([a], [b]) => (a < b ? -1 : 1))
}
