/** The environment of a page, a worker or Node. */
import type { Environment } from '../../base/environment.ts'
import { toHex } from '../../codec/bytes.ts'

/** The real clock, chance and timers. */
export function systemEnvironment(): Environment {
  return { now: () => performance.now(), wallClock: Date.now, randomBytes, randomId, yield: makeYield(), after }
}

const ID_BYTES = 16

/** Random bytes in stock: a call for 4,096 costs as much as one for 16. */
const chance = new Uint8Array(4096)
let unused = 0
function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  if (length > chance.length) return crypto.getRandomValues(new Uint8Array(length))
  if (length > unused) unused = crypto.getRandomValues(chance).length
  return chance.slice((unused -= length), unused + length)
}

const randomId = (): string => toHex(randomBytes(ID_BYTES))

function after(delayMs: number, callback: () => void, isAwaited = false): () => void {
  const timer: unknown = setTimeout(callback, delayMs)
  // Node's timers are objects, which keep the process alive unless unreferenced; a browser's are numbers.
  if (!isAwaited && typeof timer === 'object') (timer as { unref(): void }).unref()
  return () => clearTimeout(timer as number)
}

/**
 * A turn at the end of the queue, behind results of the backend that wait already. Continuations of `scheduler.yield` go before them, and
 * timers are slowed down: to 4 ms, in a hidden page to a second.
 */
function makeYield(): () => Promise<void> {
  if (typeof setImmediate === 'function') return () => new Promise((resolve) => setImmediate(resolve))
  const { port1, port2 } = new MessageChannel()
  const waiting: (() => void)[] = []
  port1.onmessage = () => waiting.shift()!()
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      port2.postMessage(0)
    })
}
