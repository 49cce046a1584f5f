/** Cancels work at a random moment; nothing of it may be left. */
import { isPannierError } from '../src/base/errors.ts'
import type { Random } from './random.ts'
import { pause } from './slow-storage.ts'

export const ABORT_TURNS_MAX = 60

export function abortedLater(random: Random): AbortSignal {
  const controller = new AbortController()
  void pause(random, ABORT_TURNS_MAX).then(() => controller.abort())
  return controller.signal
}

/** Undefined: it was aborted. */
export async function unlessAborted<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise
  } catch (error) {
    if (!isPannierError(error, 'PANNIER_ABORTED')) throw error
    return undefined
  }
}
