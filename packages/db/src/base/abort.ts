/** What an AbortSignal means to long work. */
import { PannierError } from './errors.ts'

/** Ends with PANNIER_ABORTED, or with the library's own reason (PANNIER_CLOSED). `what` begins the message: 'The import'. */
export function throwIfAborted(signal: AbortSignal | undefined, what: string): void {
  if (signal?.aborted !== true) return
  const cause: unknown = signal.reason
  throw cause instanceof PannierError ? cause : new PannierError('PANNIER_ABORTED', `${what} was cancelled.`, { cause })
}
