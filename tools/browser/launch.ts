/** Starts the programs of a browser, with a virtual display where one is needed. */
import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import { spawnTracked } from '../processes.ts'
import { findProgram, type Command } from './engines.ts'

/** Rejects with what `what` says if `promise` takes longer than `timeoutMs`. */
export async function withTimeout<T>(promise: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The process leads its own group and is killed, with all that it started, when this process ends. */
export async function launch(command: Command): Promise<ChildProcess> {
  const display = command.display ? { DISPLAY: await startDisplay() } : {}
  const environment = { ...command.environment, ...display }
  const child = spawnTracked(command.program, command.parameters, {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // Nobody may read them: they must not fill up.
  child.stdout?.resume()
  child.stderr?.resume()
  return child
}

/** Waits until `child` writes something that `pattern` matches, and gives its first group. */
export function waitForOutput(child: ChildProcess, pattern: RegExp, timeoutMs: number): Promise<string> {
  const found = new Promise<string>((resolve, reject) => {
    let text = ''
    const read = (chunk: Buffer): void => {
      text += chunk.toString()
      const match = pattern.exec(text)
      if (match?.[1] !== undefined) resolve(match[1])
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.on('error', reject)
    child.on('exit', (code) => reject(new Error(`${child.spawnfile} ended with ${code} before it was ready:\n${text}`)))
  })
  return withTimeout(found, timeoutMs, `the start of ${child.spawnfile}`)
}

const DISPLAY_START_MS_MAX = 20_000
let display: Promise<string> | undefined

/** One virtual display serves all browsers of this process. */
function startDisplay(): Promise<string> {
  display ??= startXvfb()
  return display
}

async function startXvfb(): Promise<string> {
  const program = findProgram('Xvfb')
  if (program === undefined) throw new Error('Xvfb is not installed.')
  const parameters = ['-displayfd', '3', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp']
  const child = spawnTracked(program, parameters, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] })
  const number = await withTimeout(firstLine(child.stdio[3] as Readable), DISPLAY_START_MS_MAX, 'the start of Xvfb')
  // The display serves as long as this process lives, and does not keep it alive.
  child.unref()
  const pipe = child.stdio[3] as Readable & { unref?(): void }
  pipe.unref?.()
  return `:${number}`
}

function firstLine(stream: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes('\n')) resolve(text.trim())
    })
    stream.on('end', () => reject(new Error('Xvfb did not start.')))
  })
}
