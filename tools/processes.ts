/**
 * Child processes and folders that never outlive this process. Each child leads its own process group. The groups are
 * killed when this process ends, by itself or by a signal.
 */
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'

const children = new Set<ChildProcess>()
const folders = new Set<string>()
const STOP_GRACE_MS = 3000

process.on('exit', () => {
  for (const child of children) signalGroup(child, 'SIGKILL')
  for (const folder of folders) removeNow(folder)
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => process.exit(128 + constants.signals[signal]))
}

/** Like `spawn`, but the child and its descendants are killed when this process ends. */
export function spawnTracked(command: string, parameters: readonly string[], options: SpawnOptions = {}): ChildProcess {
  const child = spawn(command, parameters, { ...options, detached: true })
  children.add(child)
  // Descendants may outlive the leader of the group: they are stopped with it.
  child.on('exit', () => {
    signalGroup(child, 'SIGKILL')
    children.delete(child)
  })
  child.on('error', () => children.delete(child))
  return child
}

/** Asks the group to end, kills it if it does not, and resolves when its leader is gone. */
export async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  signalGroup(child, signal)
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), STOP_GRACE_MS)
  await gone
  clearTimeout(timer)
}

/** Kills one process, and resolves when it is gone. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

export interface RunResult {
  readonly code: number
  /** The text that the process wrote to both outputs, in order. */
  readonly output: string
}

export interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** Shows the output as it comes, too. */
  readonly show?: boolean
  /** Killed after that, with the code 124. */
  readonly timeoutMs?: number
}

/** Runs a program to its end. Never rejects: a program that can't be started has code 127. */
export function run(command: string, parameters: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const { show = false, timeoutMs, ...rest } = options
  return new Promise((resolve) => {
    const child = spawnTracked(command, parameters, { ...rest, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let late = false
    const expire = (): void => {
      late = true
      signalGroup(child, 'SIGKILL')
    }
    const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs)
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text
        if (show) process.stdout.write(text)
      })
    }
    child.on('error', (error) => resolve({ code: 127, output: `${output}${command}: ${error.message}` }))
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code: late ? 124 : (code ?? 1), output })
    })
  })
}

/** A fresh folder that is removed when this process ends, if not before. */
export function makeFolder(purpose: string): string {
  const folder = mkdtempSync(join(tmpdir(), `pannier-${purpose}-`))
  folders.add(folder)
  return folder
}

export function removeFolder(folder: string): void {
  removeNow(folder)
  folders.delete(folder)
}

function removeNow(folder: string): void {
  try {
    // A browser that was just killed may still be writing: a few tries.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  } catch {
    // What is left is in the folder for temporary files, and nobody's data.
  }
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // The group is gone already.
  }
}

/** Below those that systems choose from: nobody gets one of these between the choice and its use. */
const PORT_MIN = 12_000
const PORT_MAX = 32_000
const portsGiven = new Set<number>()

/**
 * A port of this machine that nobody listens at, and that this process has not had before. What a browser has stored belongs to a port: a
 * page that got one again would find the session of another test.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORT_MIN, PORT_MAX)
    if (portsGiven.has(port)) continue
    portsGiven.add(port)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, () => server.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}
