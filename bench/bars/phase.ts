/** Runs one phase of workloads with one contender; the same in a page and in a Node process. */
import type { Contender } from './contenders/contender.ts'
import type { DataSet } from '../documents.ts'
import { phases } from './workloads.ts'
import type { Outcome } from './workloads.ts'

export type ContenderName = 'pannier' | 'pannier-encrypted' | 'indexed-db' | 'node-sqlite'

/** The request to a page or process: plain data. */
export interface PhaseRequest {
  readonly contender: ContenderName
  readonly phase: string
  /** Name or path of the database. */
  readonly place: string
  readonly set: DataSet
  /** Storage of Pannier in a browser; the default one when left out. */
  readonly storage?: 'opfs'
  /** The workload to record a profile of. */
  readonly profile?: string
}

export interface PhaseReport {
  /** Name and version of the browser or Node, by its own account. */
  readonly agent: string
  readonly outcomes: Outcomes
}

/** By name of the workload. */
export type Outcomes = Readonly<Record<string, Outcome>>

export interface Profiler {
  start(): Promise<void>
  stop(): Promise<void>
}

export async function runPhase(
  contender: Contender,
  { phase: name, set, place, profile }: PhaseRequest,
  profiler?: Profiler,
): Promise<PhaseReport> {
  const phase = phases.find((one) => one.name === name)
  if (phase === undefined) throw new TypeError(`there is no phase ${name}`)
  const outcomes: Record<string, Outcome> = {}
  const context = { contender, set, place }
  for (const workload of phase.workloads) {
    await workload.prepare?.(context)
    const profiled = workload.name === profile ? profiler : undefined
    await profiled?.start()
    outcomes[workload.name] = await workload.run(context)
    await profiled?.stop()
  }
  return { agent: navigator.userAgent, outcomes }
}
