/** The streams that a command reads and writes, and its clock. Passed in, so that tests see what people see. */
import type { Problem } from 'pannier'
import { systemEnvironment } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { Readable, Writable } from 'node:stream'

export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  /** Only the result of a command, because it may be piped. */
  readonly stdout: Writable
  /** The standard error (stderr): progress, warnings, errors. */
  readonly stderr: Writable & { readonly isTTY?: boolean }
  /** The signal of Ctrl-C: the command ends as soon as it can leave everything in order. */
  readonly signal: AbortSignal
  /** The environment: clock, timers and chance. */
  readonly environment: Environment
}

/** Control characters except line ends and tabs. */
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** The terminal of this process. The second Ctrl-C (or SIGTERM) ends it at once. */
export function processTerminal(): Terminal {
  const stop = new AbortController()
  const ask = (): void => {
    for (const name of SIGNALS) process.off(name, ask)
    stop.abort(new Error('Stopped.'))
  }
  for (const name of SIGNALS) process.on(name, ask)
  const { stdin, stdout, stderr } = process
  return { stdin, stdout, stderr, signal: stop.signal, environment: systemEnvironment() }
}

/** Gives the first error of a stream from now on. */
export function firstError(stream: Writable): () => Error | undefined {
  let first: Error | undefined
  stream.on('error', (error) => (first ??= error))
  return () => first
}

/** Resolves when all that was written has gone, or will not. */
export function written(stream: Writable): Promise<void> {
  return new Promise((resolve) => void stream.write('', () => resolve()))
}

/** Prints a line. Names that others chose command no terminal: control characters are shown as escapes. */
export function printLine(stream: Writable, text: string): void {
  stream.write(`${text.replace(CONTROLS, (found) => `\\x${found.charCodeAt(0).toString(16).padStart(2, '0')}`)}\n`)
}

/** '1 document', '2 documents'. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}

/** A problem of a database, as one line. */
export function problemLine({ code, where, message }: Problem): string {
  return where === undefined ? `${code}: ${message}` : `${code} in ${where}: ${message}`
}
