/**
 * Runs the chosen workloads in this page: phase by phase in frames, with checked answers. A cancelled run ends at once.
 */
import { factsOf } from '../../contenders/catalog.ts'
import { rowsOf, SCHEMA, SCHEMA_VERSION } from '../../harness/results.ts'
import type { ResultFile, Run } from '../../harness/results.ts'
import { workloadsOf } from '../../harness/run-phase.ts'
import type { PhaseReport, PhaseRequest } from '../../harness/run-phase.ts'
import { schedule } from '../../harness/schedule.ts'
import type { Turn } from '../../harness/schedule.ts'
import { runPhases } from '../../harness/turn.ts'
import { suiteOf } from '../../suites/suites.ts'
import type { Cell } from '../../suites/suite.ts'
import { recordDevice } from './device.ts'

export interface Plan {
  readonly suite: string
  readonly cells: readonly Cell[]
  readonly contenders: readonly string[]
  /** Names of workloads; an empty list means all. */
  readonly workloads: readonly string[]
  readonly repeats: number
  readonly seed: number
}

export interface Progress {
  /** The part that is done, from 0 to 1. */
  readonly done: number
  readonly contender: string
  readonly cell: string
  readonly repeat: number
  readonly workload: string
}

export interface RunnerParts {
  runPhase(
    request: PhaseRequest,
    options: { readonly signal: AbortSignal; readonly onWorkload: (name: string) => void },
  ): Promise<PhaseReport>
  /** Cleans up the data that contenders have left behind. */
  cleanUp(): Promise<void>
  onProgress(progress: Progress): void
  /** Gets the result after each measured turn. */
  onResult(file: ResultFile): void
}

/** Part of the names of all measured databases: every database with it may be removed. */
export const MEASURED_DATABASE = 'pannier-lab-measured'

/** Runs a plan. Returns the results until the end or until it was cancelled, if anything. */
export async function runPlan(plan: Plan, signal: AbortSignal, parts: RunnerParts): Promise<ResultFile | undefined> {
  const { contenders, cells, repeats } = plan
  const turns = schedule({ suites: [{ suite: suiteOf(plan.suite), cells }], contenders, repeats })
  const startedAt = new Date()
  const runs: Run[] = []
  const fileOf = (complete: boolean): ResultFile => makeFile(runs, plan, startedAt, complete)
  await parts.cleanUp()
  for (const [at, turn] of turns.entries()) {
    const run = await runTurn(turn, at, turns.length, plan, signal, parts)
    await parts.cleanUp()
    if (run === undefined) return runs.length === 0 ? undefined : fileOf(false)
    runs.push(run)
    parts.onResult(fileOf(at === turns.length - 1))
  }
  return fileOf(true)
}

/** Undefined if cancelled: nothing of this turn counts. */
async function runTurn(
  turn: Turn,
  at: number,
  turns: number,
  { workloads }: Plan,
  signal: AbortSignal,
  { runPhase, onProgress }: RunnerParts,
): Promise<Run | undefined> {
  if (signal.aborted) return undefined
  const steps = turn.suite.phases.reduce((sum, phase) => sum + workloadsOf(phase, workloads).length, 0)
  let step = 0
  const show = (workload: string): void => {
    const done = (at + step / Math.max(1, steps)) / turns
    onProgress({
      done,
      contender: factsOf(turn.contender).title,
      cell: turn.cell.label,
      repeat: turn.repeat,
      workload,
    })
  }
  show('')
  const onWorkload = (name: string): void => {
    show(titleOfWorkload(turn, name))
    step++
  }
  const place = `${MEASURED_DATABASE}-${at}`
  const runner = {
    run: (request: Omit<PhaseRequest, 'place'>) => runPhase({ ...request, place }, { signal, onWorkload }),
  }
  const { run } = await runPhases(turn, workloads, runner)
  return signal.aborted ? undefined : run
}

function makeFile(runs: readonly Run[], plan: Plan, startedAt: Date, complete: boolean): ResultFile {
  const environment = recordDevice(plan.seed)
  const packages = ['pannier', ...plan.contenders.flatMap((name) => factsOf(name).packages)]
  const versions = Object.fromEntries(packages.map((name) => [name, environment.versions[name] ?? 'unknown']))
  return {
    schema: SCHEMA,
    version: SCHEMA_VERSION,
    place: environment.place,
    startedAt: startedAt.toISOString(),
    finishedAt: new Date().toISOString(),
    complete,
    environment: { ...environment, versions },
    runs: [...runs],
    rows: rowsOf(runs).map((row) => ({ ...row, title: row.title.replace(/\bcold\b/, 'reopened') })),
  }
}

function titleOfWorkload({ suite }: Turn, name: string): string {
  const workload = suite.phases.flatMap((phase) => phase.workloads).find((one) => one.name === name)
  return workload?.metrics[0]?.title.replace(/\bcold\b/, 'reopened') ?? name
}
