/** A contender that lives in a worker, and the page's end of it. Parameters and answers are cloned, as an app would have them. */
import { OPERATIONS } from './contender.ts'
import type { Contender } from './contender.ts'

interface Call {
  readonly number: number
  readonly operation: keyof Contender
  readonly parameters: readonly unknown[]
}

interface Reply {
  readonly number: number
  readonly value?: unknown
  readonly error?: string
}

interface Port {
  postMessage(message: unknown): void
  addEventListener(type: 'message', listener: (event: MessageEvent) => void): void
}

/** The page's end. */
export function remoteContender(port: Port): Contender {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let calls = 0
  port.addEventListener('message', ({ data }) => {
    const { number, value, error } = data as Reply
    const call = waiting.get(number)
    waiting.delete(number)
    if (error === undefined) call?.resolve(value)
    else call?.reject(new Error(error))
  })
  const operationOf =
    (operation: keyof Contender) =>
    (...parameters: readonly unknown[]) => {
      const call = Promise.withResolvers<unknown>()
      const number = calls++
      waiting.set(number, call)
      port.postMessage({ number, operation, parameters } satisfies Call)
      return call.promise
    }
  const operations = OPERATIONS.map((operation) => [operation, operationOf(operation)])
  return Object.fromEntries(operations) as unknown as Contender
}

/** The worker's end. Calls are answered in their order. */
export function serveContender(port: Port, loading: Promise<Contender>): void {
  let last: Promise<unknown> = Promise.resolve()
  const reply = (message: Reply): void => port.postMessage(message)
  port.addEventListener('message', ({ data }) => {
    const { number, operation, parameters } = data as Call
    const answer = async (): Promise<unknown> => {
      const contender = await loading
      return (contender[operation] as (...parameters: readonly unknown[]) => unknown).apply(contender, [...parameters])
    }
    last = last
      .then(answer)
      .then((value) => reply({ number, value }))
      .catch((error: unknown) => reply({ number, error: String(error) }))
  })
}
