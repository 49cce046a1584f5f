/** Cases that can't run here, as a program is missing: neither passed nor failed. The run lists them at its end. */
import type { TestContext } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** The program that was missing. */
    notRun?: string
  }
}

/**
 * Ends a case that can't run here. The nightly run forbids it.
 *
 * @param what What is missing, and how to get it: 'pgbouncer (apt-get install pgbouncer)'
 * @example
 * test('asks the real one', async (context) => {
 *   if (program === undefined) notRun(context, 'PocketBase (install Go)')
 * })
 */
export function notRun(context: TestContext, what: string): never {
  context.task.meta.notRun = what
  context.skip(what)
  throw new Error('skip() has ended the case.')
}
