/** Choices for a run: contenders and workloads of a suite, and the cells that sizes make. */
import { CONTENDERS } from '../../contenders/catalog.ts'
import type { ContenderFacts, Place } from '../../contenders/catalog.ts'
import { makeCell } from '../../suites/indexed-db-perf.ts'
import { cellOf } from '../../suites/suite.ts'
import type { Cell, Metric } from '../../suites/suite.ts'
import { suiteOf } from '../../suites/suites.ts'
import type { Parameter } from './chart-data.ts'

/** The heap is that of the whole page here, so it says nothing about a contender. */
const NOT_IN_A_PAGE: readonly string[] = ['memoryAfterLoad']

export const SEED = 1

/** A parameter that a suite can vary, with its first choices and its default ones. */
export interface Axis {
  readonly parameter: Parameter
  readonly values: readonly number[]
  readonly chosen: readonly number[]
}

const AXES: Readonly<Record<string, readonly Axis[]>> = {
  standard: [{ parameter: 'documents', values: [200, 1_000, 10_000, 100_000], chosen: [1_000] }],
  'json-store': [{ parameter: 'documents', values: [1_000, 2_000, 4_000, 8_000, 100_000], chosen: [2_000] }],
  'indexed-db-perf': [
    { parameter: 'documents', values: [200, 500, 1_000, 2_000, 5_000], chosen: [200, 500, 1_000] },
    { parameter: 'valueBytes', values: [100, 1_000, 5_000, 10_000, 50_000], chosen: [100, 1_000, 5_000] },
    { parameter: 'keyChars', values: [8, 16, 50, 500, 2_000], chosen: [16] },
  ],
  pouchdb: [],
}

export function axesOf(suite: string): readonly Axis[] {
  return AXES[suite] ?? []
}

/** All combinations of what was chosen. */
export function cellsOf(
  suite: string,
  chosen: Readonly<Partial<Record<Parameter, readonly number[]>>>,
): readonly Cell[] {
  const { documents = [], valueBytes = [], keyChars = [] } = chosen
  if (suite === 'pouchdb') return suiteOf(suite).cells({ documents: [], full: false, seed: SEED })
  if (suite !== 'indexed-db-perf') return documents.map((count) => cellOf(count, SEED))
  return keyChars.flatMap((chars) =>
    valueBytes.flatMap((bytes) => documents.map((count) => makeCell(count, chars, bytes, 'object', SEED))),
  )
}

export function contendersIn(place: Place): readonly ContenderFacts[] {
  return CONTENDERS.filter((facts) => facts.places.includes(place))
}

export interface WorkloadChoice {
  readonly name: string
  readonly title: string
}

/** Workloads that measure something and can be measured in a page. */
export function workloadsIn(suite: string): readonly WorkloadChoice[] {
  return suiteOf(suite).phases.flatMap((phase) =>
    phase.workloads.flatMap(({ name, metrics }) => {
      const [metric] = metrics as readonly [Metric?]
      if (metric === undefined || NOT_IN_A_PAGE.includes(name)) return []
      return [{ name, title: metric.title.replace(/\bcold\b/, 'reopened') }]
    }),
  )
}
