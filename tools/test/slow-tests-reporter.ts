/**
 * Vitest's reporters print tests that have ended. This one prints those that have not: a test that never ends would otherwise
 * be nowhere in the log.
 */
import type { TestCase, TestModule } from 'vitest/node'
import type { Reporter } from 'vitest/reporters'
import { STILL_RUNNING } from './outcome.ts'

const LOOK_EVERY_MS = 30_000
const SLOW_MS = 60_000

export default class SlowTestsReporter implements Reporter {
  /** What is running now in which file, and since when. */
  readonly #running = new Map<string, { name: string; since: number }>()
  #timer: NodeJS.Timeout | undefined

  onTestRunStart(): void {
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

  onTestRunEnd(): void {
    clearInterval(this.#timer)
  }

  #note(module: TestModule, name: string): void {
    this.#running.set(module.relativeModuleId, { name, since: performance.now() })
  }

  #tell(): void {
    for (const [file, { name, since }] of this.#running) {
      const elapsedMs = performance.now() - since
      if (elapsedMs > SLOW_MS) console.log(`${STILL_RUNNING} ${file}: ${name} (${Math.round(elapsedMs / 1000)} s)`)
    }
  }
}
