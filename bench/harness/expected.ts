/** Gets the right answers of a suite from the model, and compares a contender's answers with them. */
import type { ContenderFacts } from '../contenders/catalog.ts'
import { ModelContender } from '../contenders/model.ts'
import { suiteOf } from '../suites/suites.ts'
import type { Cell } from '../suites/suite.ts'
import { runPhase } from './run-phase.ts'
import type { PhaseReport } from './run-phase.ts'

/** The answers by workload. */
export type Answers = Readonly<Record<string, string>>

/** `gaps`: those of the contender, whose missing operations change what later ones find. */
export async function expectedAnswers(
  suite: string,
  cell: Cell,
  only: readonly string[],
  gaps: ContenderFacts['gaps'],
): Promise<Answers> {
  const model = new ModelContender()
  const facts: ContenderFacts = {
    name: 'model',
    title: 'Model',
    packages: [],
    places: [],
    kind: 'memory',
    core: false,
    gaps,
    documentation: '',
  }
  const answers: Record<string, string> = {}
  for (const phase of suiteOf(suite).phases) {
    const request = { contender: 'model', suite, phase: phase.name, cell, place: 'model', only, answersOnly: true }
    const { outcomes, failures } = await runPhase(model, facts, request)
    const [failed] = Object.entries(failures)
    if (failed !== undefined) throw new Error(`the model failed at ${failed.join(': ')}`)
    for (const [workload, { answer }] of Object.entries(outcomes)) answers[workload] = answer
  }
  return answers
}

export interface WrongAnswer {
  readonly workload: string
  readonly expected: string
  readonly answer: string
}

/** The wrong answers. No value of such a workload counts. */
export function wrongAnswers(outcomes: PhaseReport['outcomes'], expected: Answers): WrongAnswer[] {
  return Object.entries(outcomes).flatMap(([workload, { answer }]) =>
    expected[workload] === answer ? [] : [{ workload, expected: expected[workload] ?? 'none', answer }],
  )
}
