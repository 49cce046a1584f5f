/**
 * Runs functions of design documents in a thread of their own, without blocking the server (`call`) or, where the database needs
 * the answer at once, blocking it (`callSync`).
 *
 * Guarantees: every call ends after `threadMsMax` at the latest, whatever the function does; the thread has no environment, no
 * modules and no I/O that QuickJS could reach. A thread that had to be ended is replaced; calls of others that were
 * under way are made again.
 */
import { createHash } from 'node:crypto'
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads'
import { DesignFunctionError } from './design-function-error.ts'
import { SANDBOX_LIMITS } from './protocol.ts'
import type { Method, ProgramSource, Reply, Request, SandboxLimits } from './protocol.ts'

export interface SandboxOptions {
  readonly limits?: Partial<SandboxLimits>
  /** Called with what functions log. */
  readonly onLog?: (line: string) => void
}

/** Starting the thread may take so long on a busy machine. */
const START_MS_MAX = 20_000
const STARTED = 0

interface Thread {
  readonly worker: Worker
  readonly port: MessagePort
  readonly flag: Int32Array
  isStarted: boolean
}

interface Pending {
  readonly request: Omit<Request, 'source'>
  readonly source: ProgramSource
  readonly settle: (reply: Reply) => void
}

export class Sandbox {
  readonly #limits: SandboxLimits
  readonly #onLog: (line: string) => void
  #thread: Thread | undefined
  #lastId = STARTED
  /** Calls that do not block: one is with the thread, so that one which blocks never waits for more. */
  readonly #queue: Pending[] = []
  #current: Pending | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: SandboxOptions = {}) {
    this.#limits = { ...SANDBOX_LIMITS, ...options.limits }
    this.#onLog = options.onLog ?? (() => {})
  }

  /** Equal sources share what is compiled. */
  program(source: ProgramSource): SandboxProgram {
    return new SandboxProgram(this, source)
  }

  async close(): Promise<void> {
    this.#closed = true
    const waiting = this.#current === undefined ? this.#queue.splice(0) : [this.#current, ...this.#queue.splice(0)]
    this.#current = undefined
    clearTimeout(this.#timer)
    const thread = this.#thread
    this.#thread = undefined
    for (const { request, settle } of waiting) settle(unavailable(request.id))
    thread?.port.close()
    await thread?.worker.terminate()
  }

  /** @internal */
  run(program: string, source: ProgramSource, method: Method, name: string, args: readonly string[]): Promise<Reply> {
    return new Promise((settle) => {
      const request = { id: ++this.#lastId, program, method, name, args }
      if (this.#closed) return settle(unavailable(request.id))
      this.#queue.push({ request, source, settle })
      this.#next()
    })
  }

  /** @internal */
  runSync(program: string, source: ProgramSource, method: Method, name: string, args: readonly string[]): Reply {
    const request = { id: ++this.#lastId, program, method, name, args }
    if (this.#closed) return unavailable(request.id)
    const reply = this.#ask({ ...request, source: undefined })
    return reply.isUnknown === true ? this.#ask({ ...request, source }) : reply
  }

  #ask(request: Request): Reply {
    const thread = (this.#thread ??= this.#start())
    if (!thread.isStarted && this.#receiveSync(thread, STARTED, START_MS_MAX) === undefined) {
      this.#restart()
      return unavailable(request.id)
    }
    thread.port.postMessage(request)
    // Another call may be before it.
    const allowedMs = this.#limits.threadMsMax * (this.#current === undefined ? 1 : 2)
    const reply = this.#receiveSync(thread, request.id, allowedMs)
    if (reply !== undefined) return reply
    this.#restart()
    return stopped(request.id)
  }

  #receiveSync(thread: Thread, id: number, allowedMs: number): Reply | undefined {
    const deadline = performance.now() + allowedMs
    for (;;) {
      const seen = Atomics.load(thread.flag, 0)
      const received = receiveMessageOnPort(thread.port) as { message: Reply } | undefined
      if (received !== undefined) {
        this.#received(thread, received.message, id)
        if (received.message.id === id) return received.message
        continue
      }
      const left = deadline - performance.now()
      if (left <= 0) return undefined
      Atomics.wait(thread.flag, 0, seen, left)
    }
  }

  #next(): void {
    if (this.#current !== undefined || this.#closed) return
    const next = this.#queue.shift()
    if (next === undefined) return
    this.#current = next
    this.#thread ??= this.#start()
    if (this.#thread.isStarted) this.#send()
  }

  #send(source?: ProgramSource): void {
    const { request } = this.#current!
    this.#thread!.port.postMessage({ ...request, source } satisfies Request)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      const { settle } = this.#current!
      this.#current = undefined
      this.#restart()
      settle(stopped(request.id))
    }, this.#limits.threadMsMax)
  }

  #received(thread: Thread, reply: Reply, awaited?: number): void {
    if (thread !== this.#thread) return
    for (const line of reply.logs ?? []) this.#onLog(line)
    if (reply.id === STARTED) {
      thread.isStarted = true
      if (this.#current !== undefined) this.#send()
      return
    }
    const current = this.#current
    if (reply.id === awaited || current?.request.id !== reply.id) return
    if (reply.isUnknown === true) return this.#send(current.source)
    clearTimeout(this.#timer)
    this.#current = undefined
    current.settle(reply)
    this.#next()
  }

  #start(): Thread {
    const { port1, port2 } = new MessageChannel()
    const flag = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const worker = new Worker(new URL(`./thread.${extension}`, import.meta.url), {
      workerData: { port: port2, flag, limits: this.#limits },
      transferList: [port2],
      env: {},
      execArgv: [],
      argv: [],
    })
    const thread: Thread = { worker, port: port1, flag, isStarted: false }
    port1.on('message', (reply: Reply) => this.#received(thread, reply))
    worker.on('error', () => {
      if (thread === this.#thread) this.#failed()
    })
    // A server that has nothing else to do may end.
    port1.unref()
    worker.unref()
    return thread
  }

  /** The thread has ended by itself. */
  #failed(): void {
    const current = this.#current
    this.#current = undefined
    clearTimeout(this.#timer)
    this.#thread?.port.close()
    this.#thread = undefined
    current?.settle(unavailable(current.request.id))
    this.#next()
  }

  #restart(): void {
    const old = this.#thread
    old?.port.close()
    void old?.worker.terminate()
    clearTimeout(this.#timer)
    // Starts what is under way again, once it answers.
    this.#thread = this.#start()
    this.#next()
  }
}

/** Functions of one design document. Each function throws a DesignFunctionError if it fails as a whole. */
export class SandboxProgram {
  readonly #sandbox: Sandbox
  readonly #source: ProgramSource
  readonly #key: string

  /** @internal Use `sandbox.program`. */
  constructor(sandbox: Sandbox, source: ProgramSource) {
    this.#sandbox = sandbox
    this.#source = source
    this.#key = createHash('sha256').update(JSON.stringify(source)).digest('hex')
  }

  async call(method: Method, name: string, args: readonly unknown[]): Promise<unknown> {
    return valueOf(await this.#sandbox.run(this.#key, this.#source, method, name, texts(args)))
  }

  /** Blocks until the answer is there. */
  callSync(method: Method, name: string, args: readonly unknown[]): unknown {
    return valueOf(this.#sandbox.runSync(this.#key, this.#source, method, name, texts(args)))
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
