/** How commands end: exit codes, and the text of an error on a terminal. */
import { CommanderError } from 'commander'
import { isPannierError } from 'pannier'

/** As shells have it: done; something failed or was found; wrong arguments; stopped by Ctrl-C. */
export const EXIT = { done: 0, failed: 1, usage: 2, stopped: 130 } as const

/** Wrong arguments that only show once files are looked at. */
export class UsageError extends Error {}

/** The command has failed: it did what it could, and has said what is wrong. */
export class FailedError extends Error {}

export function exitCodeOf(error: unknown, signal: AbortSignal): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  if (error instanceof UsageError) return EXIT.usage
  return signal.aborted ? EXIT.stopped : EXIT.failed
}

/** Undefined: there is nothing more to say. */
export function describeError(error: unknown, signal: AbortSignal): string | undefined {
  if (error instanceof CommanderError) return undefined
  if (signal.aborted) return 'Stopped.'
  if (!(error instanceof Error)) return String(error)
  // As `pannier export shop.db cities | head` does: who has closed the output wants no more.
  if ('code' in error && error.code === 'EPIPE') return undefined
  return isPannierError(error) ? `${error.message}${adviceFor(error.code)} (${error.code})` : error.message
}

function adviceFor(code: string): string {
  switch (code) {
    case 'PANNIER_LOCKED':
      return ' A server that is running has it: stop that, or talk to it by its URL.'
    case 'PANNIER_FORMAT_NEWER':
      return ' Update this program.'
    case 'PANNIER_ENCRYPTED':
      return ' Put its password into the environment variable PANNIER_PASSWORD.'
    case 'PANNIER_NOT_ENCRYPTED':
      return ' Start without PANNIER_PASSWORD in the environment.'
    case 'PANNIER_CORRUPT':
      return ' `pannier verify` tells more, `pannier repair` saves what can be saved.'
    default:
      return ''
  }
}
