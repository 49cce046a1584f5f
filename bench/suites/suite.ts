/**
 * Workloads as data: the abilities that each needs, what it measures, and the answer that a contender must give before
 * a figure counts. Phases group workloads by process. Each phase runs in a fresh browser or Node process, on the files
 * that the phase before has left.
 */
import type { Capability, Contender } from '../contenders/contender.ts'
import { checksum, makeId, makePeople } from '../documents.ts'
import type { DataSet, Person } from '../documents.ts'
import { time, timeWarm } from '../measure.ts'

export type ValueEncoding = 'object' | 'numbers' | 'base64' | 'json' | 'bytes'

/** One set of parameters that a suite runs with. */
export interface Cell extends DataSet {
  /** The label for a reader. */
  readonly label: string
  /** The number of characters of a key, set by the preset that varies it. */
  readonly keyChars?: number
  readonly valueBytes?: number
  readonly encoding?: ValueEncoding
}

export interface Context {
  readonly contender: Contender
  readonly cell: Cell
  readonly place: string
  /** Nothing is repeated for the sake of its time. */
  readonly answersOnly: boolean
}

export interface Outcome {
  /** The values by metric. */
  readonly values: Readonly<Record<string, number>>
  /** The answer, which must equal the model's, or no value counts. */
  readonly answer: string
}

export interface Metric {
  readonly name: string
  readonly title: string
  readonly unit: 'ms' | 'bytes'
}

export interface Workload {
  readonly name: string
  readonly needs: readonly Capability[]
  readonly metrics: readonly Metric[]
  /** A stage that other stages need. If it was not asked for, it runs without being reported. */
  readonly stage?: boolean
  /** The workload before, whose store it uses. If it was not asked for, it runs without being reported. */
  readonly after?: string
  /** Opens the database itself, as part of what it measures. */
  readonly opens?: boolean
  /** Prepares the run, without being timed. */
  prepare?(context: Context): Promise<void>
  run(context: Context): Promise<Outcome>
}

export interface Phase {
  readonly name: string
  /** The secondary indexes are there from the start. */
  readonly indexed: boolean
  readonly workloads: readonly Workload[]
}

export interface Suite {
  readonly name: string
  readonly title: string
  readonly source: string
  readonly phases: readonly Phase[]
  /** Parts of the source that are not run, and why. */
  readonly left: readonly { readonly title: string; readonly reason: string }[]
  cells(choice: CellChoice): readonly Cell[]
}

export interface CellChoice {
  readonly documents: readonly number[]
  readonly full: boolean
  readonly seed: number
}

export function cellOf(documents: number, seed: number): Cell {
  return { documents, seed, ids: 'random', label: `${documents.toLocaleString('en-US')} documents` }
}

export function milliseconds(name: string, title: string): Metric {
  return { name, title, unit: 'ms' }
}

/** A read, run several times after one that does not count; the median counts. */
export function warmRead<T>(
  metric: Metric,
  needs: readonly Capability[],
  run: (context: Context) => T | Promise<T>,
  describe: (result: T) => string,
): Workload {
  return {
    name: metric.name,
    needs,
    metrics: [metric],
    async run(context) {
      const measure = context.answersOnly ? time : timeWarm
      const { milliseconds: value, result } = await measure(() => run(context))
      return { values: { [metric.name]: value }, answer: describe(result) }
    },
  }
}

/** Documents beyond those that were loaded, from the `from`th on. */
export function extraPeople(cell: Cell, from: number, count: number): Person[] {
  return makePeople(cell, cell.documents + from, cell.documents + from + count)
}

/** Ids from the upper half of what was loaded, which no workload deletes; the same for the same salt. */
export function keptIds(cell: Cell, count: number, salt: number): string[] {
  const half = Math.floor(cell.documents / 2)
  const step = 2_654_435_761 % Math.max(1, half)
  return Array.from({ length: count }, (_, i) => makeId(cell, half + ((salt * 97 + i * step) % half)))
}

export function idsOf(people: readonly Person[]): string {
  return checksum(people.map((person) => person._id + person.bio))
}
