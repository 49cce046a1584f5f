/** What the steps of `npm test` are given and what they give. */

export interface Outcome {
  readonly passed: number
  readonly failed: number
  /** Said again in the summary: figures, what was left out. */
  readonly notes?: readonly string[]
  /** What failed and why, told again in the summary: whoever reads the end of a long log reads it there. */
  readonly failures?: readonly string[]
}

export interface StepOptions {
  readonly engines: readonly string[] | undefined
  readonly filter: string | undefined
}

export interface Step {
  readonly name: string
  readonly title: string
  run(options: StepOptions): Promise<Outcome>
}

/** Begins the lines that tell of tests that take very long. */
export const STILL_RUNNING = '… still running:'
