/**
 * Writes what each case came to, for the runner; and prints cases that have not ended. A case that never ends would otherwise be nowhere
 * in the log.
 */
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { TestCase, TestModule, TestSpecification } from 'vitest/node'
import type { Reporter } from 'vitest/reporters'
import { root } from '../checks/packages.ts'
import { STILL_RUNNING } from './outcome.ts'

/** Where results are written: JSON. Nowhere when it is not set. */
export const RESULTS_FILE = 'PANNIER_TEST_RESULTS'

export interface CaseOutcome {
  readonly name: string
  readonly state: 'passed' | 'failed' | 'skipped'
  readonly ms: number
  /** Why it failed. */
  readonly errors: readonly string[]
  /** The sum of what it has drawn from seeds. */
  readonly drawn: number
  /** The missing program, for a case that was not run. */
  readonly notRun?: string
}

export interface FileOutcome {
  /** From the root of the repository. */
  readonly file: string
  readonly ms: number
  readonly cases: readonly CaseOutcome[]
  /** Why it does not load, or what it leaves behind. */
  readonly errors: readonly string[]
}

export interface RunOutcome {
  readonly files: readonly FileOutcome[]
  /** Errors that were thrown outside of a case. */
  readonly unhandled: readonly string[]
  /** Files that have no result: the process that ran them is gone. */
  readonly lost: readonly string[]
}

const LOOK_EVERY_MS = 30_000
const SLOW_MS = 60_000

interface Failure {
  readonly message?: string
  readonly stack?: string | undefined
  readonly diff?: string | undefined
}

export default class ResultsReporter implements Reporter {
  /** The case that runs now in each file, and since when. */
  readonly #running = new Map<string, { name: string; since: number }>()
  #timer: NodeJS.Timeout | undefined
  #chosen: readonly string[] = []

  onTestRunStart(files: readonly TestSpecification[]): void {
    this.#chosen = files.map(({ moduleId }) => relative(root, moduleId))
    this.#timer = setInterval(() => this.#tell(), LOOK_EVERY_MS).unref()
  }

  onTestModuleQueued(module: TestModule): void {
    this.#note(module, 'is being loaded')
  }

  onTestModuleStart(module: TestModule): void {
    this.#note(module, 'has started')
  }

  onTestCaseReady({ module, fullName }: TestCase): void {
    this.#note(module, fullName)
  }

  onTestCaseResult({ module, fullName }: TestCase): void {
    this.#note(module, `after ${fullName}`)
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running.delete(module.relativeModuleId)
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly Failure[]): void {
    clearInterval(this.#timer)
    const path = process.env[RESULTS_FILE]
    if (path === undefined) return
    const files = modules.map(fileOutcome)
    const seen = new Set(files.map(({ file }) => file))
    const lost = this.#chosen.filter((file) => !seen.has(file))
    const outcome: RunOutcome = { files, unhandled: errors.map(textOf), lost }
    writeFileSync(path, JSON.stringify(outcome))
  }

  #note(module: TestModule, name: string): void {
    // The last result of a file may come after its end.
    if (module.state() !== 'pending' && module.state() !== 'queued') return
    this.#running.set(module.relativeModuleId, { name, since: performance.now() })
  }

  #tell(): void {
    for (const [file, { name, since }] of this.#running) {
      const elapsedMs = performance.now() - since
      if (elapsedMs > SLOW_MS) console.log(`${STILL_RUNNING} ${file}: ${name} (${Math.round(elapsedMs / 1000)} s)`)
    }
  }
}

function fileOutcome(module: TestModule): FileOutcome {
  const suites = [...module.children.allSuites()]
  const errors = [...module.errors(), ...suites.flatMap((suite) => suite.errors())]
  return {
    file: relative(root, module.moduleId),
    ms: module.diagnostic().duration,
    cases: [...module.children.allTests()].map(caseOutcome),
    errors: errors.map(textOf),
  }
}

function caseOutcome(test: TestCase): CaseOutcome {
  const { state, errors = [] } = test.result()
  const { notRun, drawn = 0 } = test.meta()
  return {
    name: test.fullName,
    state: state === 'pending' ? 'failed' : state,
    ms: test.diagnostic()?.duration ?? 0,
    errors: state === 'pending' ? ['It did not end.'] : errors.map(textOf),
    drawn,
    ...(notRun !== undefined && { notRun }),
  }
}

function textOf({ message = '', stack, diff }: Failure): string {
  const text = stack === undefined || !stack.includes(message) ? `${message}\n${stack ?? ''}` : stack
  return diff === undefined ? text : `${text}\n${diff}`
}
