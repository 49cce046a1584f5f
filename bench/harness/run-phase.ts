/** Runs one phase of a suite with one contender; the same in a page and in a Node process. */
import { gapOf } from '../contenders/catalog.ts'
import type { ContenderFacts } from '../contenders/catalog.ts'
import type { Capability, Contender, Views } from '../contenders/contender.ts'
import { makePeople, someAges, someCity, someCountry } from '../documents.ts'
import type { DataSet } from '../documents.ts'
import { suiteOf } from '../suites/suites.ts'
import type { Cell, Outcome, Phase, Workload } from '../suites/suite.ts'

/** The request to a page or process: plain data. */
export interface PhaseRequest {
  readonly contender: string
  readonly suite: string
  readonly phase: string
  readonly cell: Cell
  /** Name or path of the database. */
  readonly place: string
  /** The only workloads that run; none: all. */
  readonly only: readonly string[]
  /** Reads are made once, for their answers: no value counts. */
  readonly answersOnly?: boolean
}

export interface PhaseReport {
  /** Name and version of the browser or Node, by its own account. */
  readonly agent: string
  /** The outcomes by workload. */
  readonly outcomes: Readonly<Record<string, Outcome>>
  /** The gaps: workloads that the contender can't do, with the reason. */
  readonly gaps: Readonly<Record<string, string>>
  /** The failures by workload. A failure ends the phase. */
  readonly failures: Readonly<Record<string, string>>
  /** Bytes that the origin uses at the end, as the browser reports them. */
  readonly usageBytes?: number
}

/** Longer ones not every contender takes. */
const KEY_CHARS_USUAL_MAX = 1_000
const WARM_UP: DataSet = { documents: 200, seed: 99, ids: 'random' }

export async function runPhase(
  contender: Contender,
  facts: ContenderFacts,
  request: PhaseRequest,
  onWorkload: (name: string) => unknown = () => undefined,
): Promise<PhaseReport> {
  const phase = phaseOf(request)
  const outcomes: Record<string, Outcome> = {}
  const gaps: Record<string, string> = {}
  const failures: Record<string, string> = {}
  const { cell, place, answersOnly = false } = request
  const context = { contender, cell, place, answersOnly }
  let opened = false
  let current = 'open'
  try {
    if (phase === suiteOf(request.suite).phases[0]) await warmUp(contender, facts, `${place}-warm-up`)
    for (const workload of workloadsOf(phase, request.only)) {
      const gap = gapOf(facts, needsOf(workload, cell))
      if (gap !== undefined) {
        gaps[workload.name] = gap
        continue
      }
      current = workload.name
      await onWorkload(current)
      if (!opened && workload.opens !== true) await contender.open(place, phase.indexed)
      opened = true
      await workload.prepare?.(context)
      outcomes[current] = await workload.run(context)
    }
    current = 'close'
    if (opened) await contender.close()
  } catch (error) {
    failures[current] = String(error)
  }
  const usageBytes = await usage()
  return { agent: navigator.userAgent, outcomes, gaps, failures, ...(usageBytes !== undefined && { usageBytes }) }
}

/** The chosen ones and those that others build on. */
export function workloadsOf(phase: Phase, only: readonly string[]): readonly Workload[] {
  const needed = phase.workloads.flatMap(({ name, after }) =>
    after !== undefined && only.includes(name) ? [after] : [],
  )
  const isChosen = ({ name, stage }: Workload): boolean =>
    only.length === 0 || stage === true || only.includes(name) || needed.includes(name)
  return phase.workloads.filter(isChosen)
}

function needsOf(workload: Workload, cell: Cell): readonly Capability[] {
  const needs: Capability[] = [...workload.needs]
  if (cell.encoding === 'bytes') needs.push('bytes')
  if ((cell.keyChars ?? 0) > KEY_CHARS_USUAL_MAX) needs.push('longKeys')
  return needs
}

function phaseOf({ suite, phase: name }: PhaseRequest): Phase {
  const phase = suiteOf(suite).phases.find((one) => one.name === name)
  if (phase === undefined) throw new TypeError(`there is no phase ${name}`)
  return phase
}

/** Code is compiled, and the engine's storage set up, on a database of its own. */
async function warmUp(contender: Contender, facts: ContenderFacts, place: string): Promise<void> {
  const can = (...needs: Capability[]): boolean => gapOf(facts, needs) === undefined
  const people = makePeople(WARM_UP, 0, WARM_UP.documents)
  await contender.open(place, false)
  await contender.insertMany(people.slice(1))
  await contender.findByCountry(someCountry)
  if (can('insert')) await contender.insert(people[0]!)
  if (can('get')) for (const { _id } of people) await contender.get(_id)
  if (can('count')) await contender.count()
  if (can('pageById')) await contender.pageById(100, 10)
  if (can('buildIndexes')) await contender.buildIndexes()
  if (can('countAges')) await contender.countAges(someAges.gte, someAges.lt)
  if (can('findByCity')) await contender.findByCity(someCity)
  if (can('views')) await warmUpViews(contender.views!)
  if (can('update')) await contender.update(people[0]!._id, { name: 'Warm' })
  if (can('delete')) await contender.delete(people[0]!._id)
  await contender.close()
  await contender.destroy(place)
}

async function warmUpViews(views: Views): Promise<void> {
  await views.adHoc(5)
  await views.buildByScore()
  await views.byScore(5)
  await views.buildByCity()
  await views.groups()
}

async function usage(): Promise<number | undefined> {
  const storage = (navigator as { readonly storage?: StorageManager }).storage
  const estimate = await storage?.estimate?.().catch(() => undefined)
  return estimate?.usage
}
