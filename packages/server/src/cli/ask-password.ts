/** Reads passwords. A terminal asks twice and shows nothing; otherwise the first line of the standard input counts. */
import { createInterface } from 'node:readline/promises'
import { addAbortSignal, Writable } from 'node:stream'
import { UsageError } from './outcome.ts'
import { printLine, type Terminal } from './terminal.ts'

const LINE_CHARS_MAX = 8192

export async function askNewPassword(terminal: Terminal, label: string): Promise<string> {
  if (terminal.stdin.isTTY !== true) return firstLine(terminal)
  const password = await askHidden(terminal, `${label}: `)
  if ((await askHidden(terminal, 'Once more: ')) !== password) throw new UsageError('The two are not the same.')
  return password
}

/** Asks at a terminal for a password that exists already. */
export function askPassword(terminal: Terminal, label: string): Promise<string> {
  return askHidden(terminal, `${label}: `)
}

/** Reads a password that exists already: asked for at a terminal, else the first line of the standard input. */
export function readPassword(terminal: Terminal, label: string): Promise<string> {
  return terminal.stdin.isTTY === true ? askPassword(terminal, label) : firstLine(terminal)
}

/** Asks a hidden question: typed characters are not shown. */
async function askHidden(terminal: Terminal, question: string): Promise<string> {
  const { stdin, stderr, signal } = terminal
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 })
  const stopped = new AbortController()
  // At a terminal whose keys are read one by one Ctrl-C is a key.
  lines.on('SIGINT', () => stopped.abort(new Error('Stopped.')))
  lines.on('close', () => stopped.abort(new UsageError('No password was given.')))
  stderr.write(question)
  try {
    return await lines.question('', { signal: AbortSignal.any([signal, stopped.signal]) })
  } catch (error) {
    throw stopped.signal.aborted ? stopped.signal.reason : error
  } finally {
    lines.close()
    printLine(stderr, '')
  }
}

async function firstLine({ stdin, signal }: Terminal): Promise<string> {
  let text = ''
  // A letter of several bytes may come in two pieces.
  stdin.setEncoding('utf8')
  for await (const piece of addAbortSignal(signal, stdin) as AsyncIterable<string>) {
    text += piece
    if (text.includes('\n') || text.length > LINE_CHARS_MAX) break
  }
  const [line = ''] = text.split(/\r?\n/, 1)
  if (line === '') throw new UsageError('No password was given: it is the first line of the standard input.')
  return line
}
