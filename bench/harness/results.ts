/**
 * The files that a run writes (bench/README.md documents them), and how runs become rows. A file is one run in one
 * place. The version rises when a reader of the last version could misunderstand the new one.
 */
import type { Place } from '../contenders/catalog.ts'
import { factsOf, gapOf } from '../contenders/catalog.ts'
import { median, quantile } from '../measure.ts'
import type { Cell, Metric } from '../suites/suite.ts'
import { suiteOf } from '../suites/suites.ts'
import type { Environment } from './environment.ts'
import type { WrongAnswer } from './expected.ts'

export const SCHEMA = 'pannier-bench'
export const SCHEMA_VERSION = 1

export interface ResultFile {
  readonly schema: typeof SCHEMA
  readonly version: typeof SCHEMA_VERSION
  readonly place: Place
  /** Distinguishes further results of the same place: 'million', 'presets'. */
  readonly name?: string
  readonly startedAt: string
  readonly finishedAt: string
  /** False for a run that is not complete: stopped by a person or by a time limit. */
  readonly complete: boolean
  readonly environment: Environment
  readonly runs: readonly Run[]
  readonly rows: readonly Row[]
}

/** One contender in one repeat of one cell. */
export interface Run {
  readonly suite: string
  readonly cell: Cell
  readonly contender: string
  readonly repeat: number
  /** By metric; those of wrongly answered workloads are not among them. */
  readonly values: Readonly<Record<string, number>>
  readonly wrong: readonly WrongAnswer[]
  readonly gaps: Readonly<Record<string, string>>
  readonly failures: Readonly<Record<string, string>>
}

/** One figure of one contender. */
export interface Row {
  readonly suite: string
  readonly cell: string
  readonly metric: string
  readonly title: string
  readonly unit: Metric['unit']
  readonly contender: string
  readonly samples: readonly number[]
  readonly median?: number
  readonly p95?: number
  /** (largest sample - smallest sample) / median. */
  readonly spread?: number
  /** The ratio to Pannier's value, pair by pair within a repeat. */
  readonly ratio?: { readonly median: number; readonly least: number; readonly most: number }
  /** The reason why the figure is missing. */
  readonly missing?: string
}

/** Bytes on disk after the loading phase of the standard suite; measured from outside. */
export const DISK_METRIC: Metric = { name: 'bytesOnDisk', title: 'bytes on disk after load', unit: 'bytes' }
const REFERENCE = 'pannier'

export function rowsOf(runs: readonly Run[]): Row[] {
  const groups = Map.groupBy(runs, ({ suite, cell }) => `${suite} ${cell.label}`)
  return [...groups.values()].flatMap((group) => {
    const { suite, cell } = group[0]!
    const contenders = [...new Set(group.map((run) => run.contender))]
    return metricsOf(suite).flatMap(({ metric, workload }) => {
      const asked = group.some((run) => metric.name in run.values || isMentioned(run, workload))
      if (!asked) return []
      return contenders.map((contender) => rowOf({ suite, cell: cell.label, contender }, metric, workload, group))
    })
  })
}

function rowOf(
  head: Pick<Row, 'suite' | 'cell' | 'contender'>,
  { name, title, unit }: Metric,
  workload: string,
  group: readonly Run[],
): Row {
  const own = group.filter((run) => run.contender === head.contender)
  const samples = own.flatMap((run) => run.values[name] ?? [])
  const base = { ...head, metric: name, title, unit, samples }
  if (samples.length === 0) return { ...base, missing: reasonOf(own, workload, head.contender) }
  const ratios = pairRatios(own, group, name)
  const middle = median(samples)
  return {
    ...base,
    median: middle,
    p95: quantile(samples, 0.95),
    spread: middle === 0 ? 0 : (Math.max(...samples) - Math.min(...samples)) / middle,
    ...(ratios.length > 0 && {
      ratio: { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) },
    }),
  }
}

/** Pairs only runs of the same repeat, because the machine was equally busy for both. */
export function pairRatios(own: readonly Run[], group: readonly Run[], metric: string): number[] {
  return own.flatMap((run) => {
    const other = group.find((one) => one.contender === REFERENCE && one.repeat === run.repeat)
    const [value, reference] = [run.values[metric], other?.values[metric]]
    return value === undefined || reference === undefined || reference === 0 ? [] : [value / reference]
  })
}

function reasonOf(runs: readonly Run[], workload: string, contender: string): string {
  if (runs.some((run) => run.wrong.some((one) => one.workload === workload))) return 'wrong answer'
  const gap = runs.map((run) => run.gaps[workload]).find((reason) => reason !== undefined)
  if (gap !== undefined) return gap
  const failure = runs.flatMap((run) =>
    Object.entries(run.failures).map(([at, message]) => `failed at ${at}: ${message}`),
  )
  if (failure[0] !== undefined) return failure[0]
  return gapOf(factsOf(contender), ['keep']) ?? 'not told here'
}

function isMentioned(run: Run, workload: string): boolean {
  return workload in run.gaps || workload in run.failures || run.wrong.some((one) => one.workload === workload)
}

function metricsOf(suite: string): { metric: Metric; workload: string }[] {
  const own = suiteOf(suite).phases.flatMap((phase) =>
    phase.workloads.flatMap(({ name, metrics }) => metrics.map((metric) => ({ metric, workload: name }))),
  )
  return suite === 'standard' ? [...own, { metric: DISK_METRIC, workload: DISK_METRIC.name }] : own
}
