/** Long work in steps, which lets others have the thread between them. */
import type { Environment } from './environment.ts'
import type { MaybePromise } from './async.ts'

/** The thread is let go of this often. */
const SLICE_MS = 8

/** To be called after each step, and awaited if it gives a promise: which it does when it is time to let go. */
export type Pause = () => MaybePromise<void>

export function pauseIn(environment: Environment): Pause {
  let startMs = environment.now()
  return () => {
    if (environment.now() - startMs < SLICE_MS) return undefined
    return environment.yield().then(() => {
      startMs = environment.now()
    })
  }
}
