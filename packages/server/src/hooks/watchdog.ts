/**
 * Tells the operator when a hook holds the thread, which serves nobody meanwhile. Another thread looks whether this one still
 * counts.
 */
import { Worker } from 'node:worker_threads'
import type { FastifyBaseLogger } from 'fastify'
import type { PlacedHandler } from '@pannier/backend/internal'

const BEAT_MS = 1000
/** Without a beat for that long the thread is held. */
const HELD_MS = 5000
const LABEL_BYTES = 512

/** Shared: the count of beats, the length of a text, and the text. */
const PROGRAM = `
  const { workerData: { shared, heldMs } } = require('node:worker_threads')
  const counts = new Int32Array(shared, 0, 2)
  let seen = -1, since = Date.now(), told = false
  setInterval(() => {
    const beat = Atomics.load(counts, 0)
    if (beat !== seen) { seen = beat; since = Date.now(); told = false; return }
    if (told || Date.now() - since < heldMs) return
    told = true
    const label = Buffer.from(new Uint8Array(shared, 8, Atomics.load(counts, 1))).toString()
    require('node:fs').writeSync(2, 'The server answers nobody for ' + Math.round((Date.now() - since) / 1000) + ' s. The hook that began last is '
      + label + '. If it does not end, stop the server (kill -9 ' + process.pid + '), mend the hook, and start again. No answered write is lost.\\n')
  }, heldMs / 5)
`

export class Watchdog {
  readonly #shared = new SharedArrayBuffer(8 + LABEL_BYTES)
  readonly #counts = new Int32Array(this.#shared, 0, 2)
  readonly #label = new Uint8Array(this.#shared, 8)
  readonly #log: FastifyBaseLogger
  #worker: Worker | undefined
  #beat: ReturnType<typeof setInterval> | undefined

  constructor(log: FastifyBaseLogger) {
    this.#log = log
  }

  /** A handler begins. The first one starts the watch. */
  note(handler: PlacedHandler): void {
    this.#watch()
    const { written } = new TextEncoder().encodeInto(`${handler.name} in ${handler.source}`, this.#label)
    Atomics.store(this.#counts, 1, written)
  }

  async close(): Promise<void> {
    clearInterval(this.#beat)
    await this.#worker?.terminate()
  }

  #watch(): void {
    if (this.#beat !== undefined) return
    this.#beat = setInterval(() => Atomics.add(this.#counts, 0, 1), BEAT_MS).unref()
    const worker = new Worker(PROGRAM, { eval: true, workerData: { shared: this.#shared, heldMs: HELD_MS } })
    worker.on('error', (error) => this.#log.warn({ err: error }, 'nobody watches the thread any more'))
    worker.unref()
    this.#worker = worker
  }
}
