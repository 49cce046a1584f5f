/**
 * Runs functions of design documents in their own threads, without blocking the server.
 *
 * Guarantees: every call ends after `threadMsMax` at the latest, whatever the function does. QuickJS reaches no
 * environment, no modules and no I/O. A thread that had to be ended is replaced. Each database runs one call at a time,
 * and databases take turns: a function waits at most for one call of another database on each thread.
 */
import { createHash } from 'node:crypto'
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'
import type { Environment } from 'pannier/types'
import { startThread } from '@pannier/backend/internal'
import { DesignFunctionError } from './design-function-error.ts'
import { SANDBOX_LIMITS } from './protocol.ts'
import type { Method, ProgramSource, Reply, Request, SandboxLimits } from './protocol.ts'

interface SandboxOptions {
  readonly environment: Environment
  readonly limits?: Partial<SandboxLimits>
  /** Called with what functions log. */
  readonly onLog?: (line: string) => void
}

/** The design document that owns the functions. */
export interface ProgramOwner {
  /** Calls for one database wait for each other. */
  readonly database: string
  /** Programs share a heap only if this is the same, and their source. */
  readonly design: string
}

/** The threads of the sandbox. A function that never ends keeps one of them busy. */
const THREADS_MAX = 2
/** Calls of one database that wait. */
const WAITING_MAX = 1000
const STARTED = 0
const NOBODY: ProgramOwner = { database: '', design: '' }

interface Pending {
  readonly database: string
  readonly request: Omit<Request, 'source'>
  readonly source: ProgramSource
  readonly settle: (reply: Reply) => void
}

export class Sandbox {
  readonly #environment: Environment
  readonly #limits: SandboxLimits
  readonly #threads: SandboxThread[] = []
  /** Waiting calls by database. The database that was served last is at the end. */
  readonly #waiting = new Map<string, Pending[]>()
  readonly #onLog: (line: string) => void
  #lastId = STARTED
  #closed = false

  constructor(options: SandboxOptions) {
    this.#environment = options.environment
    this.#limits = { ...SANDBOX_LIMITS, ...options.limits }
    this.#onLog = options.onLog ?? (() => {})
  }

  /** Equal sources of one owner share what is compiled. */
  program(source: ProgramSource, owner: ProgramOwner = NOBODY): SandboxProgram {
    return new SandboxProgram(this, source, owner)
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { request, settle } of [...this.#waiting.values()].flat()) settle(unavailable(request.id))
    this.#waiting.clear()
    await Promise.all(this.#threads.map((thread) => thread.close()))
  }

  /** @internal */
  run(
    { database }: ProgramOwner,
    program: string,
    source: ProgramSource,
    call: { readonly method: Method; readonly name: string; readonly args: readonly string[] },
  ): Promise<Reply> {
    return new Promise((settle) => {
      const request = { id: ++this.#lastId, program, ...call }
      const waiting = this.#waiting.get(database) ?? []
      if (this.#closed || waiting.length >= WAITING_MAX) return settle(unavailable(request.id))
      waiting.push({ database, request, source, settle })
      this.#waiting.set(database, waiting)
      this.#next()
    })
  }

  /** Gives idle threads to the next databases. */
  #next(): void {
    for (const [database, waiting] of this.#waiting) {
      if (this.#threads.some(({ current }) => current?.database === database)) continue
      const thread = this.#idleThread()
      if (thread === undefined) return
      const pending = waiting.shift()!
      this.#waiting.delete(database)
      if (waiting.length > 0) this.#waiting.set(database, waiting)
      thread.run(pending)
    }
  }

  #idleThread(): SandboxThread | undefined {
    const idle = this.#threads.find(({ current }) => current === undefined)
    if (idle !== undefined || this.#threads.length === THREADS_MAX || this.#closed) return idle
    const made = new SandboxThread(this.#environment, this.#limits, this.#onLog, () => this.#next())
    this.#threads.push(made)
    return made
  }
}

interface Running {
  readonly worker: Worker
  readonly port: MessagePort
  isStarted: boolean
}

/** A thread, and the one that takes its place when it has to be ended. It has one call at a time. `close()` waits for the end of each. */
class SandboxThread {
  readonly #environment: Environment
  readonly #limits: SandboxLimits
  readonly #onLog: (line: string) => void
  readonly #isIdle: () => void
  #running: Running | undefined
  #ended: Promise<unknown> = Promise.resolve()
  #cancel: () => void = () => {}
  current: Pending | undefined

  constructor(environment: Environment, limits: SandboxLimits, onLog: (line: string) => void, isIdle: () => void) {
    this.#environment = environment
    this.#limits = limits
    this.#onLog = onLog
    this.#isIdle = isIdle
  }

  run(pending: Pending): void {
    this.current = pending
    this.#running ??= this.#start()
    this.#keepsProcess('ref')
    if (this.#running.isStarted) this.#send()
  }

  async close(): Promise<void> {
    this.#settle((id) => unavailable(id))
    await this.#end()
  }

  #send(source?: ProgramSource): void {
    this.#running!.port.postMessage({ ...this.current!.request, source } satisfies Request)
    this.#cancel()
    this.#cancel = this.#environment.after(this.#limits.threadMsMax, () => {
      void this.#end()
      this.#settle(stopped)
    })
  }

  #received(port: MessagePort, reply: Reply): void {
    if (port !== this.#running?.port) return
    for (const line of reply.logs ?? []) this.#onLog(line)
    if (reply.id === STARTED) {
      this.#running.isStarted = true
      if (this.current !== undefined) this.#send()
    } else if (reply.id === this.current?.request.id) {
      if (reply.isUnknown === true) this.#send(this.current.source)
      else this.#settle(() => reply)
    }
  }

  /** A call keeps the process, also where nothing else does. An idle thread keeps nothing. */
  #keepsProcess(how: 'ref' | 'unref'): void {
    this.#running?.worker[how]()
    this.#running?.port[how]()
  }

  #settle(reply: (id: number) => Reply): void {
    this.#cancel()
    this.#keepsProcess('unref')
    const { current } = this
    this.current = undefined
    current?.settle(reply(current.request.id))
    this.#isIdle()
  }

  #start(): Running {
    const { port1: port, port2 } = new MessageChannel()
    const worker = startThread(import.meta.url, 'thread', {
      workerData: { port: port2, limits: this.#limits },
      transferList: [port2],
      env: {},
      execArgv: [],
      argv: [],
    })
    port.on('message', (reply: Reply) => this.#received(port, reply))
    worker.on('error', () => {
      if (port !== this.#running?.port) return
      void this.#end()
      this.#settle(unavailable)
    })
    return { worker, port, isStarted: false }
  }

  #end(): Promise<unknown> {
    const old = this.#running
    this.#running = undefined
    old?.port.close()
    return (this.#ended = Promise.all([this.#ended, old?.worker.terminate()]))
  }
}

/** Functions of one design document. Each function throws a DesignFunctionError if it fails as a whole. */
export class SandboxProgram {
  readonly #sandbox: Sandbox
  readonly #source: ProgramSource
  readonly #owner: ProgramOwner
  readonly #key: string

  /** @internal Use `sandbox.program`. */
  constructor(sandbox: Sandbox, source: ProgramSource, owner: ProgramOwner) {
    this.#sandbox = sandbox
    this.#source = source
    this.#owner = owner
    this.#key = createHash('sha256')
      .update(JSON.stringify([owner.design, source]))
      .digest('hex')
  }

  async call(method: Method, name: string, args: readonly unknown[]): Promise<unknown> {
    return valueOf(await this.#sandbox.run(this.#owner, this.#key, this.#source, { method, name, args: texts(args) }))
  }
}

function texts(args: readonly unknown[]): string[] {
  return args.map((arg) => JSON.stringify(arg) ?? 'null')
}

function valueOf({ value, failure }: Reply): unknown {
  if (failure !== undefined) throw new DesignFunctionError(failure.kind, failure.message)
  return JSON.parse(value ?? 'null')
}

function stopped(id: number): Reply {
  return { id, failure: { kind: 'timeout', message: 'it took too long and was ended' } }
}

function unavailable(id: number): Reply {
  return { id, failure: { kind: 'unavailable', message: 'functions of design documents can not be run now' } }
}
