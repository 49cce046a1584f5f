/**
 * One contender, one repeat, one cell: runs all phases on a fresh database and compares the answers with the model's.
 */
import { factsOf } from '../contenders/catalog.ts'
import { expectedAnswers, wrongAnswers } from './expected.ts'
import type { Answers, WrongAnswer } from './expected.ts'
import { DISK_METRIC } from './results.ts'
import type { Run } from './results.ts'
import { workloadsOf } from './run-phase.ts'
import type { PhaseReport, PhaseRequest } from './run-phase.ts'
import type { Turn } from './schedule.ts'

export interface TurnResult {
  readonly run: Run
  readonly agent: string
}

/** Runs phases; each finds what the one before has stored. */
export interface PhaseRunner {
  run(request: Omit<PhaseRequest, 'place'>): Promise<PhaseReport>
  /** Bytes after the first phase, if they can be measured. */
  bytesOnDisk?(): number
}

/** Answers of the model are computed once for contenders that can do the same. */
const known = new Map<string, Promise<Answers>>()

/** `only`: workloads; none: all. */
export async function runPhases(turn: Turn, only: readonly string[], runner: PhaseRunner): Promise<TurnResult> {
  const { suite, cell, contender, repeat } = turn
  const facts = factsOf(contender)
  const key = JSON.stringify([suite.name, cell, only, Object.keys(facts.gaps).sort()])
  const expecting = known.get(key) ?? expectedAnswers(suite.name, cell, only, facts.gaps)
  known.set(key, expecting)
  const expected = await expecting
  const run = { values: {} as Record<string, number>, wrong: [] as WrongAnswer[], gaps: {}, failures: {} }
  let agent = ''
  const tellsDisk = suite.name === 'standard' && facts.gaps.keep === undefined && isWanted([DISK_METRIC], only)
  const wanted = suite.phases.map((phase, at) => isWanted(workloadsOf(phase, only), only) || (tellsDisk && at === 0))
  const last = wanted.lastIndexOf(true)
  for (const [at, phase] of suite.phases.entries()) {
    // A wanted phase needs what earlier phases have stored.
    const isStage = at < last && phase.workloads.some(({ stage }) => stage === true)
    if (!isStage && !wanted[at]) continue
    if (at > 0 && facts.gaps.keep !== undefined) {
      const reason = facts.gaps.keep
      Object.assign(run.gaps, Object.fromEntries(phase.workloads.map(({ name }) => [name, reason])))
      continue
    }
    const request = { contender, suite: suite.name, phase: phase.name, cell, only }
    const report = await runner.run(request).catch((error: unknown) => failedReport(error))
    agent = report.agent || agent
    const wrong = wrongAnswers(report.outcomes, expected)
    run.wrong.push(...wrong)
    Object.assign(run.values, countedValues(report, wrong, only))
    Object.assign(run.gaps, report.gaps)
    Object.assign(run.failures, report.failures)
    if (Object.keys(report.failures).length > 0) break
    const bytes = tellsDisk && at === 0 ? runner.bytesOnDisk?.() : undefined
    if (bytes !== undefined) run.values[DISK_METRIC.name] = bytes
  }
  return { run: { suite: suite.name, cell, contender, repeat, ...run }, agent }
}

/** No value goes with a wrong answer, nor one that was not asked for. */
export function countedValues(
  { outcomes }: Pick<PhaseReport, 'outcomes'>,
  wrong: readonly WrongAnswer[],
  only: readonly string[],
): Record<string, number> {
  const counted = Object.entries(outcomes).filter(
    ([workload]) => isWanted([{ name: workload }], only) && !wrong.some((one) => one.workload === workload),
  )
  return Object.assign({}, ...counted.map(([, { values }]) => values)) as Record<string, number>
}

function isWanted(workloads: readonly { readonly name: string }[], only: readonly string[]): boolean {
  return only.length === 0 || workloads.some(({ name }) => only.includes(name))
}

function failedReport(error: unknown): PhaseReport {
  return { agent: '', outcomes: {}, gaps: {}, failures: { start: String(error) } }
}
