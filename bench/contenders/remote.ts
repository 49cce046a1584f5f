/** An object that lives in a worker, and the page's end of it. Parameters and answers are cloned, as an app would have them. */

interface Call {
  readonly number: number
  readonly operation: string
  readonly parameters: readonly unknown[]
}

interface Reply {
  readonly number: number
  readonly value?: unknown
  readonly error?: string
}

export interface Port {
  postMessage(message: unknown): void
  addEventListener(type: 'message', listener: (event: MessageEvent) => void): void
}

/** The page's end. */
export function remote<Operations extends object>(
  port: Port,
  operations: readonly (string & keyof Operations)[],
): Operations {
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
    (operation: string) =>
    (...parameters: readonly unknown[]) => {
      const call = Promise.withResolvers<unknown>()
      const number = calls++
      waiting.set(number, call)
      port.postMessage({ number, operation, parameters } satisfies Call)
      return call.promise
    }
  return Object.fromEntries(operations.map((operation) => [operation, operationOf(operation)])) as Operations
}

/** The worker's end. Calls are answered in their order. */
export function serve(port: Port, loading: Promise<object>): void {
  let last: Promise<unknown> = Promise.resolve()
  const reply = (message: Reply): void => port.postMessage(message)
  port.addEventListener('message', ({ data }) => {
    const { number, operation, parameters } = data as Call
    const answer = async (): Promise<unknown> => {
      const served = (await loading) as Record<string, (...parameters: readonly unknown[]) => unknown>
      return served[operation]!(...parameters)
    }
    last = last
      .then(answer)
      .then((value) => reply({ number, value }))
      .catch((error: unknown) => reply({ number, error: String(error) }))
  })
}
