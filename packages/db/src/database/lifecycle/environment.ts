/** The environment of a page, a worker or Node. */
import type { Environment } from '../../base/environment.ts'
import { toHex } from '../../codec/bytes.ts'

/** The real clock, chance and timers. */
export function systemEnvironment(): Environment {
  return { now: () => performance.now(), wallClock: Date.now, randomBytes, randomId, yield: makeYield(), after }
}

const ID_BYTES = 16

const randomBytes = (length: number): Uint8Array<ArrayBuffer> => crypto.getRandomValues(new Uint8Array(length))
const randomId = (): string => toHex(randomBytes(ID_BYTES))

function after(delayMs: number, callback: () => void, isAwaited = false): () => void {
  const timer: unknown = setTimeout(callback, delayMs)
  // Node's timers are objects, which keep the process alive unless unreferenced; a browser's are numbers.
  if (!isAwaited && typeof timer === 'object') (timer as { unref(): void }).unref()
  return () => clearTimeout(timer as number)
}

/**
 * A turn at the end of the queue, behind results of the backend that wait already. `scheduler.yield` is no choice: its
 * continuations go first, so a long row of them would keep those results waiting. Timers are none either: they are
 * slowed down to 4 ms, and to a second in a hidden page.
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
