/** Options and results of the steps of `npm test`. */
import type { BrowserLane } from './browser-lanes.ts'
import type { Lane } from './lanes.ts'
import type { FileCost } from './setup/costs.ts'

const SLOWEST_SHOWN = 40

export interface Failure {
  /** The failed case or check. */
  readonly title: string
  /** Why. */
  readonly text: string
  /** The command that shows it again. */
  readonly replay: string
}

export interface Outcome {
  readonly passed: number
  readonly failed: number
  /** Said again in the summary: figures, what was left out. */
  readonly notes?: readonly string[]
  /** Failures with their causes. The summary repeats it at the end of a long log. */
  readonly failures?: readonly Failure[]
  /** Cases that can't run here, and what is missing. The summary lists them. */
  readonly notRun?: readonly string[]
  /** The costs of test files. */
  readonly costs?: readonly FileCost[]
}

export interface BrowserOptions {
  readonly lane: BrowserLane
  readonly engines: readonly string[] | undefined
  readonly filter: string | undefined
  /** Parts of paths: only files that have one of them. */
  readonly files?: readonly string[]
  /** Notes say which files and suites took longest. */
  readonly times: boolean
}

export interface StepOptions extends BrowserOptions {
  /** Unit tests of these lanes. */
  readonly lanes: readonly Lane[]
}

export interface Step {
  readonly name: string
  readonly title: string
  run(options: StepOptions): Promise<Outcome>
}

/** Notes about what took longest: milliseconds by name. */
export function slowest(times: ReadonlyMap<string, number>): string[] {
  const sorted = [...times].toSorted((a, b) => b[1] - a[1]).slice(0, SLOWEST_SHOWN)
  return sorted.map(([name, ms]) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${name}`)
}

/** Begins the lines that name tests which take very long. */
export const STILL_RUNNING = '… still running:'
