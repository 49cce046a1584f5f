/**
 * Makes what the lane of a test file forbids throw, with a message that says which lane the file belongs to; and says what a file leaves
 * behind. Files share a process, so the patches stay, and ask each time which file runs.
 */
import childProcess, { type ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import sqlite from 'node:sqlite'
import timers from 'node:timers'
import timersPromises from 'node:timers/promises'
import threads from 'node:worker_threads'
import { laneOf, LANES, type Lane } from '../lanes.ts'

type Deed =
  | 'listen'
  | 'connect'
  | 'start a process'
  | 'start a program of its own'
  | 'start a thread'
  | 'write a file'
  | 'wait for a timer'

/** Which deeds a lane allows. */
const ALLOWED: Readonly<Record<Lane, readonly Deed[] | 'all'>> = {
  pure: [],
  wired: ['listen', 'connect', 'start a program of its own', 'start a thread', 'write a file', 'wait for a timer'],
  real: 'all',
}
/** Programs that a wired test may start: the one PostgreSQL, the product's own programs, the bundler, and tools that end at once. */
const WIRED_PROGRAMS = /\/postgresql\/|-program\.ts$|\/esbuild$|^(id|mkfifo)$/

/** The bundler, whose process and thread wait for more work, and end with this process. */
const BUNDLER = /\/esbuild(\/|$)/

/** The events of this process, for the file that runs. */
export interface Guard {
  file: string
  /** Deeds that could not be refused when they happened: of timers, whose callers are gone. */
  readonly late: string[]
  /** Resources that still run, with their names. */
  readonly running: Map<object, string>
  /** Timers that have been set, have not fired and were not cleared, with the place that has set them. */
  readonly timers: Map<NodeJS.Timeout, Error>
  /** A limit calls back: what it sets now waits for the rest of it. */
  doesLimitRing: boolean
}

/** A new instance of this module finds the guard of the process there. */
const KEY = Symbol.for('pannier guard')
const shared = globalThis as { [KEY]?: Guard }
/** Turns of the event loop in which a server, a process or a thread may end after the last case. */
const LAST_TURNS = 200

/** From now on `file` is the test file that runs. The function returned gives what it did wrong, when it has ended. */
export function guardFile(file: string): () => Promise<readonly string[]> {
  const guard = (shared[KEY] ??= install())
  guard.file = file
  guard.late.length = 0
  guard.running.clear()
  guard.timers.clear()
  return () => wrongsOf(guard)
}

async function wrongsOf({ file, late, running, timers }: Guard): Promise<readonly string[]> {
  const awaited = (): readonly NodeJS.Timeout[] => [...timers.keys()].filter((timer) => timer.hasRef())
  const isOver = (): boolean => running.size === 0 && awaited().length === 0
  for (let turn = 0; turn < LAST_TURNS && !isOver(); turn++) await new Promise((resolve) => setImmediate(resolve))
  const left = [
    ...running.values(),
    ...awaited().map((timer) => `a timer that keeps the process alive, set ${placeOf(timers.get(timer)!)}`),
  ]
  return [...late, ...left.map((what) => `${file} leaves behind: ${what}`)]
}

/** Files that set timers for others. */
const TIMER_KEEPERS = /setup\/guard|\/environment\.ts|new Promise/

/** The line of a stack that says who has set a timer. */
function placeOf({ message, stack = '' }: Error): string {
  const lines = stack.split('\n').filter((text) => text.includes(' at '))
  const line = lines.find((text) => !TIMER_KEEPERS.test(text)) ?? lines[0]
  return `${line?.trim() ?? ''} (${message})`
}

function refusal({ file }: Guard, deed: Deed): string | undefined {
  const lane = laneOf(file)
  const allowed = ALLOWED[lane]
  if (allowed === 'all' || allowed.includes(deed)) return undefined
  const other = ALLOWED.wired.includes(deed) ? 'wired' : 'real'
  return `A test of the lane ${lane} may not ${deed} (${lane}: ${LANES[lane]}). Name the file ….${other}.test.ts: ${file}`
}

function install(): Guard {
  const guard: Guard = { file: '', late: [], running: new Map(), timers: new Map(), doesLimitRing: false }
  const check = (deed: Deed): void => {
    const reason = refusal(guard, deed)
    if (reason !== undefined) throw new Error(reason)
  }
  guardNetwork(guard, check)
  guardProcesses(guard, check)
  guardFiles(check)
  for (const owner of [globalThis, timers]) guardTimers(owner, guard)
  guardPauses(guard)
  syncBuiltinESMExports()
  return guard
}

type Check = (deed: Deed) => void

function guardNetwork({ running }: Guard, check: Check): void {
  around(net.Server.prototype, 'listen', (server: net.Server, listen) => {
    check('listen')
    running.set(server, 'a server that listens')
    server.once('close', () => running.delete(server))
    return listen()
  })
  around(net.Socket.prototype, 'connect', (_socket, connect) => {
    check('connect')
    return connect()
  })
}

function guardProcesses({ running }: Guard, check: Check): void {
  const checkProgram = (program: unknown, parameters: readonly unknown[] = []): void => {
    const isOwn = [program, ...parameters].some((text) => WIRED_PROGRAMS.test(String(text)))
    if (!isOwn) check('start a process')
    else check('start a program of its own')
  }
  around(childProcess.ChildProcess.prototype, 'spawn', (child: ChildProcess, spawn, options) => {
    const { file, args } = options as { file: string; args: readonly string[] }
    checkProgram(file, args)
    if (!BUNDLER.test(file)) running.set(child, `the process ${file}`)
    child.once('exit', () => running.delete(child)).once('error', () => running.delete(child))
    return spawn()
  })
  for (const name of ['spawnSync', 'execSync', 'execFileSync'])
    around(childProcess, name, (_module, start, program, parameters) => {
      checkProgram(program, Array.isArray(parameters) ? parameters : [])
      return start()
    })
  const { Worker } = threads
  threads.Worker = class extends Worker {
    constructor(...parameters: ConstructorParameters<typeof Worker>) {
      check('start a thread')
      super(...parameters)
      const program = String(parameters[0])
      if (!BUNDLER.test(program)) running.set(this, `the thread ${program}`)
      this.once('exit', () => running.delete(this))
    }
  }
}

function guardFiles(check: Check): void {
  const write = (_module: object, run: () => unknown): unknown => {
    check('write a file')
    return run()
  }
  for (const name of ['mkdtemp', 'writeFile', 'mkdir']) {
    around(promises, name, write)
    around(fs, name, write)
    around(fs, `${name}Sync`, write)
  }
  const { DatabaseSync } = sqlite
  sqlite.DatabaseSync = class extends DatabaseSync {
    constructor(...parameters: ConstructorParameters<typeof DatabaseSync>) {
      if (parameters[0] !== ':memory:') check('write a file')
      super(...parameters)
    }
  }
}

/** From here on a timer is a limit, in milliseconds: on a machine that others use, work may reach it. */
const LIMIT_MS = 1000

/** A timer may be set, as a limit. A short one may not fire, unless a limit that rang has set it: it waits for the rest. */
export function guardTimers(owner: object, guard: Guard): void {
  for (const name of ['setTimeout', 'setInterval'])
    around(owner, name, (_owner, set, callback, ms, ...rest) => {
      if (!((ms as number) > 0)) return set()
      const { file } = guard
      const isLimit = (ms as number) >= LIMIT_MS || guard.doesLimitRing
      const place = new Error(`${ms as number} ms`)
      const fired = (...parameters: unknown[]): void => {
        if (name === 'setTimeout') guard.timers.delete(timer)
        const isForgiven = isLimit || guard.file !== file || isHousekeeping(timer, place)
        const reason = isForgiven ? undefined : refusal(guard, 'wait for a timer')
        if (reason !== undefined) guard.late.push(`${reason}: ${placeOf(place)}`)
        guard.doesLimitRing = isLimit
        try {
          ;(callback as (...all: unknown[]) => void)(...parameters)
        } finally {
          guard.doesLimitRing = false
        }
      }
      const timer = set(fired, ms, ...rest) as NodeJS.Timeout
      guard.timers.set(timer, place)
      return timer
    })
  for (const name of ['clearTimeout', 'clearInterval'])
    around(owner, name, (_owner, clear, timer) => {
      guard.timers.delete(timer as NodeJS.Timeout)
      return clear()
    })
}

/** Whether nobody waits for a timer, and a library has set it. TanStack DB forgets unused rows after five minutes. */
function isHousekeeping(timer: NodeJS.Timeout, place: Error): boolean {
  return typeof timer === 'object' && !timer.hasRef() && placeOf(place).includes('/node_modules/')
}

function guardPauses(guard: Guard): void {
  around(timersPromises, 'setTimeout', (_module, pause, ms) => {
    const reason = (ms as number) > 0 ? refusal(guard, 'wait for a timer') : undefined
    if (reason !== undefined) throw new Error(reason)
    return pause()
  })
}

/** Puts `wrapper` around a method. It calls the method with the same parameters, or with others. */
function around<Owner extends object>(
  owner: Owner,
  name: string,
  wrapper: (owner: Owner, call: (...others: unknown[]) => unknown, ...parameters: unknown[]) => unknown,
): void {
  const methods = owner as Record<string, (...parameters: unknown[]) => unknown>
  const real = methods[name]!
  const wrapped = function (this: Owner, ...parameters: unknown[]): unknown {
    const call = (...others: unknown[]): unknown => real.apply(this, others.length > 0 ? others : parameters)
    return wrapper(this, call, ...parameters)
  }
  // `promisify` finds its version of a timer by a symbol.
  for (const key of Object.getOwnPropertySymbols(real)) Object.assign(wrapped, { [key]: real[key as never] })
  methods[name] = wrapped
}
