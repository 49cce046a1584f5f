/** Results as a run would have them. */
import type { ResultFile, Run } from '../harness/results.ts'
import { rowsOf, SCHEMA, SCHEMA_VERSION } from '../harness/results.ts'
import { cellOf } from '../suites/suite.ts'

export function runOf(contender: string, repeat: number, values: Run['values'], rest: Partial<Run> = {}): Run {
  const nothing = { wrong: [], gaps: {}, failures: {} }
  return { suite: 'standard', cell: cellOf(200, 1), contender, repeat, values, ...nothing, ...rest }
}

export function fileOf(runs: readonly Run[], environment: Partial<ResultFile['environment']> = {}): ResultFile {
  return {
    schema: SCHEMA,
    version: SCHEMA_VERSION,
    place: 'chromium',
    startedAt: '2026-01-01T00:00:00.000Z',
    finishedAt: '2026-01-01T00:05:00.000Z',
    complete: true,
    environment: {
      place: 'chromium',
      agent: 'Chrome/1.2',
      engineVersion: '1.2',
      features: [],
      processor: 'a <fast> one',
      cores: 2,
      memoryBytes: 2 ** 30,
      system: 'linux',
      document: { bytes: 350, sample: {} },
      seed: 1,
      versions: { pannier: '0.1.0', dexie: '4.0.0' },
      ...environment,
    },
    runs,
    rows: rowsOf(runs),
  }
}
