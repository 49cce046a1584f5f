/** Where a command reads and writes. Passed in, so that tests see what people see. */
import type { Readable, Writable } from 'node:stream'

export interface Terminal {
  readonly stdin: Readable
  /** What was asked for, and nothing else: it may be piped on. */
  readonly stdout: Writable
  /** Progress, warnings, errors. */
  readonly stderr: Writable & { readonly isTTY?: boolean }
  /** Ctrl-C: the command ends as soon as it can leave everything in order. */
  readonly signal: AbortSignal
}

/** The terminal of this process. The second Ctrl-C ends it at once. */
export function processTerminal(): Terminal {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(new Error('Stopped.')))
  return { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, signal: stop.signal }
}

export function printLine(stream: Writable, text: string): void {
  stream.write(`${text}\n`)
}
