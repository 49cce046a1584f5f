/**
 * Names the hooks that run when the thread is blocked, or when the process ends without closing. Another thread looks whether this one
 * still counts, and keeps the names in a file.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { FastifyBaseLogger } from 'fastify'
import type { PlacedHandler } from '@pannier/backend/internal'

interface WatchdogParts {
  readonly log: FastifyBaseLogger
  /** The file that has the names while hooks run. Undefined: nothing is kept. */
  readonly file: string | undefined
}

const BEAT_MS = 1000
/** Without a beat for that long the thread is blocked. */
const BLOCKED_MS = 5000
/** A hook that ends sooner is not kept: memory does not end so soon. */
const LOOK_MS = 100
const NAMES_BYTES = 2048
const ENCODER = new TextEncoder()

/** Shared: the count of beats, the length of the names, and the names. */
const PROGRAM = `
  const { workerData: { shared, blockedMs, lookMs, file } } = require('node:worker_threads')
  const { writeFileSync, writeSync } = require('node:fs')
  const counts = new Int32Array(shared, 0, 2)
  let seen = -1, since = Date.now(), told = false, kept = ''
  setInterval(() => {
    const names = Buffer.from(new Uint8Array(shared, 8, Atomics.load(counts, 1))).toString()
    if (file !== undefined && names !== kept) {
      kept = names
      try { writeFileSync(file, names) } catch {}
    }
    const beat = Atomics.load(counts, 0)
    if (beat !== seen) { seen = beat; since = Date.now(); told = false; return }
    if (told || Date.now() - since < blockedMs) return
    told = true
    const which = names === '' ? 'No hook runs.' : 'The hooks that run, the last one first: ' + names + '.'
    writeSync(2, 'The server answers nobody for ' + Math.round((Date.now() - since) / 1000) + ' s. ' + which
      + ' If that does not end, stop the server (kill -9 ' + process.pid + '), mend the hook, and start again. No answered write is lost.\\n')
  }, lookMs)
`

export class Watchdog {
  readonly #shared = new SharedArrayBuffer(8 + NAMES_BYTES)
  readonly #counts = new Int32Array(this.#shared, 0, 2)
  readonly #names = new Uint8Array(this.#shared, 8)
  /** How often each runs; the one that began last is the last. */
  readonly #running = new Map<string, number>()
  readonly #parts: WatchdogParts
  #worker: Worker | undefined
  #beat: ReturnType<typeof setInterval> | undefined
  #isClosed = false

  /** Says which hooks ran when the process before this one ended without closing. */
  constructor(parts: WatchdogParts) {
    this.#parts = parts
    const { file, log } = parts
    if (file === undefined || !existsSync(file)) return
    const names = readFileSync(file, 'utf8')
    if (names !== '')
      log.warn(
        `The server has ended without closing while these hooks ran, the last one first: ${names}. ` +
          'If its memory was full, or it answered nobody, mend the hook. No answered write is lost.',
      )
    rmSync(file, { force: true })
  }

  /** A handler begins; the function that it gives says that it has ended. The first one starts the watch. */
  begin(handler: PlacedHandler): () => void {
    this.#watch()
    const name = `${handler.name} in ${handler.source}`
    const times = this.#running.get(name) ?? 0
    this.#running.delete(name)
    this.#running.set(name, times + 1)
    this.#share()
    return () => {
      const left = this.#running.get(name)! - 1
      if (left > 0) return void this.#running.set(name, left)
      this.#running.delete(name)
      this.#share()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#beat)
    await this.#worker?.terminate()
    const { file } = this.#parts
    if (file !== undefined) rmSync(file, { force: true })
  }

  #share(): void {
    const { written } = ENCODER.encodeInto([...this.#running.keys()].reverse().join(', '), this.#names)
    Atomics.store(this.#counts, 1, written)
  }

  #watch(): void {
    if (this.#isClosed || this.#beat !== undefined) return
    const { log, file } = this.#parts
    this.#beat = setInterval(() => Atomics.add(this.#counts, 0, 1), BEAT_MS).unref()
    const worker = new Worker(PROGRAM, {
      eval: true,
      workerData: { shared: this.#shared, blockedMs: BLOCKED_MS, lookMs: LOOK_MS, file },
    })
    worker.on('error', (error) => log.warn({ err: error }, 'nobody watches the thread any more'))
    worker.unref()
    this.#worker = worker
  }
}
