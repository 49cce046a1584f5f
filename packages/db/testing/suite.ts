/**
 * The shape of a suite that any test runner can run: vitest in Node, the project's own runner in a browser page.
 *
 * A suite is `export function thingSuite({ test, create }: SuiteContext<() => Promise<Thing>>): void`. It calls `test`
 * once for each case and may not use anything of a runner beyond it. `create` makes a fresh instance of what is under
 * test; the case closes what it made.
 *
 * In vitest: `import { test } from 'vitest'`, then `thingSuite({ test, create })`. In a browser the suite is registered
 * in `test/browser/suites.ts`.
 */

/** Declares one case. A case fails if its body throws or rejects. */
export type Test = (name: string, body: () => void | Promise<void>) => void

/** What a suite is given. `Create` is the function that makes a fresh instance of what is under test. */
export interface SuiteContext<Create> {
  /** Registers a test, as the test runner's `test` does. */
  readonly test: Test
  /** Makes what a test works on. */
  readonly create: Create
}

/** Puts `prefix` before the name of each case, so that one suite can run over several instances in one report. */
export function prefixed(test: Test, prefix: string): Test {
  return (name, body) => test(`${prefix}: ${name}`, body)
}

/** Leaves out the cases of further seeds: they are about what is above the storage, and run in full where that is fastest. */
export function ofFewSeeds(test: Test, seedsMax = 2): Test {
  return (name, body) => {
    const seed = /\bseed (\d+)/.exec(name)?.[1]
    if (seed === undefined || Number(seed) <= seedsMax) test(name, body)
  }
}

/** Waits until the condition holds; the test runner limits how long. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await aMoment()
}

/** Resolves in a later task of the event loop. */
export function aMoment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve))
}
