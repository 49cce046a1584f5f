/** What an AbortSignal means to long work: it ends with PANNIER_ABORTED. */
import { PannierError } from './errors.ts'

/** `what` is the subject of the message: 'The import'. */
export function throwIfAborted(signal: AbortSignal | undefined, what: string): void {
  if (signal?.aborted === true) throw new PannierError('PANNIER_ABORTED', `${what} was cancelled.`, { cause: signal.reason })
}
