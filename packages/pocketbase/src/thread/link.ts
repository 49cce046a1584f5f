/** Calls of the server that wait for the answer: the thread sleeps meanwhile, as PocketBase's code expects. */
import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads'
import type { AnswerMessage, CallMessage } from '../protocol/messages.ts'
import { errorOf } from './errors.ts'

/** The other end, and how values go there. */
interface Link {
  readonly port: MessagePort
  /** Counts answers. */
  readonly answers: Int32Array
  encode(value: unknown): unknown
  decode(value: unknown): unknown
}

let link: Link | undefined

export function openLink(opened: Link): void {
  link = opened
}

/** Calls the server. @throws what the server throws */
export function call(target: string, method: string, ...parameters: readonly unknown[]): unknown {
  const { port, answers, encode, decode } = link!
  let seen = Atomics.load(answers, 0)
  port.postMessage({
    kind: 'call',
    target,
    method,
    parameters: encode(parameters) as readonly unknown[],
  } satisfies CallMessage)
  for (;;) {
    Atomics.wait(answers, 0, seen)
    seen = Atomics.load(answers, 0)
    const received = receiveMessageOnPort(port) as { readonly message: AnswerMessage } | undefined
    if (received === undefined) continue
    const { value, error } = received.message
    if (error !== undefined) throw errorOf(error)
    return decode(value)
  }
}

/** Nothing runs for this time, in milliseconds. */
export function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}
