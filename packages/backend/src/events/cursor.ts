/**
 * Names a message: the commit, the place of the change in it, and which message about that change it is for the client. The numbers
 * of commits are good for one start of the server, so a cursor names that, too.
 */
import type { Environment } from 'pannier/types'

export interface Cursor {
  /** The number of the commit. */
  readonly sequence: number
  /** Undefined: all of the commit. */
  readonly within: MessagePosition | undefined
}

/** Where a message stands in its commit. */
export interface MessagePosition {
  readonly change: number
  readonly message: number
}

export class Cursors {
  /** The epoch of this start. */
  readonly #epoch: string

  constructor(environment: Pick<Environment, 'randomId'>) {
    this.#epoch = environment.randomId().slice(0, 8)
  }

  text({ sequence, within }: Cursor): string {
    const place = within === undefined ? '' : `.${within.change}.${within.message}`
    return `${this.#epoch}-${sequence}${place}`
  }

  /** Undefined if it is of another start, or no cursor. */
  read(text: string): Cursor | undefined {
    const [, epoch, sequence, change, message] = /^(\w+)-(\d{1,15})(?:\.(\d{1,9})\.(\d{1,9}))?$/.exec(text) ?? []
    if (epoch !== this.#epoch) return undefined
    const within = change === undefined ? undefined : { change: Number(change), message: Number(message) }
    return { sequence: Number(sequence), within }
  }
}

/** Whether a message comes after a cursor of the same commit. */
export function isAfter({ change, message }: MessagePosition, { within }: Cursor): boolean {
  return within !== undefined && (change > within.change || (change === within.change && message > within.message))
}
