/** Long work in steps, each of which finds out from what is stored where to go on. */
import { isPannierError } from './errors.ts'

/** A step that was overtaken is tried again so often, without one in between that was not. */
export const STEP_RETRIES_MAX = 20

/**
 * Runs `step` until it says that nothing is left. One that was overtaken (the tab was asleep, and others have written or taken its
 * pages away meanwhile) runs again, after `refresh`, from where things are now.
 */
export async function runSteps(step: () => Promise<boolean>, refresh: () => Promise<void>): Promise<void> {
  for (let retries = 0; ;) {
    try {
      if (!(await step())) return
      retries = 0
    } catch (error) {
      const isOvertaken = isPannierError(error, 'PANNIER_STALE') || isPannierError(error, 'PANNIER_SNAPSHOT_EXPIRED')
      if (!isOvertaken || retries++ === STEP_RETRIES_MAX) throw error
      await refresh()
    }
  }
}
