/** What an AbortSignal means to long work. */
import { PannierError } from './errors.ts'

/** PANNIER_ABORTED, or the library's own reason (PANNIER_CLOSED). `what` begins the message: 'The import'. */
export function abortError({ reason: cause }: AbortSignal, what: string): PannierError {
  return cause instanceof PannierError
    ? cause
    : new PannierError('PANNIER_ABORTED', `${what} was cancelled.`, { cause })
}

/** @throws PannierError as `abortError` makes it */
export function throwIfAborted(signal: AbortSignal | undefined, what: string): void {
  if (signal?.aborted === true) throw abortError(signal, what)
}
