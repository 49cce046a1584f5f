/** Threads for PocketBase's code. A handler has one for itself until it ends, also while it waits. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'
import type { Environment } from 'pannier/types'
import { startThread } from '@pannier/backend/internal'
import type { AnswerMessage, CallMessage, DoneMessage, Task, ThreadData } from '../protocol/messages.ts'

/** Answers calls of a task. */
type Answer = (call: CallMessage) => Promise<AnswerMessage>

/** The number of handlers that run at once, without handlers that others have started: they may not wait for their own end. */
const RUNNING_MAX = 15
/** The number of idle threads that wait for work. More of them wait a while: others may come as these did. */
const IDLE_MAX = 4
const IDLE_MS = 10_000
/** A thread with a larger heap ends, as nothing else gives it back. */
const IDLE_HEAP_BYTES_MAX = 64 << 20
/** A handler that computes for longer is ended with its thread. */
const COMPUTING_MS_MAX = 60_000

class Thread {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #answers = new Int32Array(new SharedArrayBuffer(4))
  readonly #environment: Environment
  #answer: Answer = async () => ({})
  #done: PromiseWithResolvers<DoneMessage> | undefined
  #cancel: () => void = () => {}
  #isAlive = true

  constructor(environment: Environment, hooksFolder: string) {
    const { port1, port2 } = new MessageChannel()
    this.#environment = environment
    this.#port = port1
    const data: ThreadData = { hooksFolder, answers: this.#answers.buffer as SharedArrayBuffer }
    this.#worker = startThread(import.meta.url.replace('/host/', '/thread/'), 'hook-thread', {
      workerData: { ...data, port: port2 },
      transferList: [port2],
      execArgv: [],
    })
    this.#port.on('message', (message: CallMessage | DoneMessage) => this.#received(message))
    this.#worker.on('error', (error: Error) => this.#fail(error))
    this.#worker.on('exit', () => this.#fail(new Error('The thread of the handler has ended.')))
    this.#keepsProcess('unref')
  }

  /** Whether the thread is alive. What a handler has left behind may have ended it. */
  get isAlive(): boolean {
    return this.#isAlive
  }

  async run(task: Task, answer: Answer): Promise<DoneMessage> {
    this.#done = Promise.withResolvers()
    this.#answer = answer
    this.#keepsProcess('ref')
    this.#watch()
    this.#port.postMessage(task)
    try {
      return await this.#done.promise
    } finally {
      this.#done = undefined
      this.#cancel()
      this.#keepsProcess('unref')
    }
  }

  async end(): Promise<void> {
    this.#port.close()
    await this.#worker.terminate()
  }

  /** Work keeps the process: perhaps nothing else does, as while migrations run. An idle thread keeps nothing. */
  #keepsProcess(how: 'ref' | 'unref'): void {
    this.#worker[how]()
    this.#port[how]()
  }

  #watch(): void {
    this.#cancel = this.#environment.after(COMPUTING_MS_MAX, () => {
      this.#fail(new Error('The handler has computed for a minute, and was ended.'))
      void this.end()
    })
  }

  #received(message: CallMessage | DoneMessage): void {
    this.#cancel()
    if (message.kind === 'done') this.#done?.resolve(message)
    else void this.#call(message)
  }

  async #call(message: CallMessage): Promise<void> {
    const answer = await this.#answer(message)
    this.#watch()
    this.#port.postMessage(answer)
    Atomics.add(this.#answers, 0, 1)
    Atomics.notify(this.#answers, 0)
  }

  #fail(error: Error): void {
    this.#isAlive = false
    this.#done?.reject(error)
  }
}

export class ThreadPool {
  readonly #environment: Environment
  readonly #hooksFolder: string
  readonly #idle: Thread[] = []
  readonly #waiting: (() => void)[] = []
  readonly #inside = new AsyncLocalStorage<true>()
  readonly #works = new Set<Promise<unknown>>()
  #running = 0
  #cancelTrim: () => void = () => {}
  #isClosed = false

  constructor(environment: Environment, hooksFolder: string) {
    this.#environment = environment
    this.#hooksFolder = hooksFolder
  }

  /** Runs a task. Calls of it are answered as its own work. @throws if its thread ends before it does */
  run(task: Task, answer: Answer): Promise<DoneMessage> {
    const work = this.#work(task, answer)
    this.#works.add(work)
    const forget = (): void => void this.#works.delete(work)
    work.then(forget, forget)
    return work
  }

  async #work(task: Task, answer: Answer): Promise<DoneMessage> {
    const isInner = this.#inside.getStore() === true
    if (!isInner) await this.#turn()
    let thread = this.#idle.pop()
    while (thread?.isAlive === false) thread = this.#idle.pop()
    thread ??= new Thread(this.#environment, this.#hooksFolder)
    let isSmall = false
    try {
      const done = await this.#inside.run(true, () => {
        const asItsWork = AsyncLocalStorage.snapshot()
        return thread.run(task, (call) => asItsWork(answer, call))
      })
      isSmall = done.heapBytes <= IDLE_HEAP_BYTES_MAX
      return done
    } finally {
      // Handlers don't see what is around them in their files: a thread that has run a file is of no more use.
      if (isSmall && task.kind === 'handle' && !this.#isClosed) this.#keep(thread)
      else await thread.end()
      if (!isInner) this.#pass()
    }
  }

  #keep(thread: Thread): void {
    this.#cancelTrim()
    if (this.#idle.push(thread) <= IDLE_MAX) return
    this.#cancelTrim = this.#environment.after(IDLE_MS, () => {
      for (const one of this.#idle.splice(0, this.#idle.length - IDLE_MAX)) void one.end()
    })
  }

  /** Closes the threads, and waits for tasks that run. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#works)
    this.#cancelTrim()
    await Promise.all(this.#idle.splice(0).map((thread) => thread.end()))
  }

  async #turn(): Promise<void> {
    if (this.#running < RUNNING_MAX) this.#running++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #pass(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#running--
    else next()
  }
}
