/** Reports from a page of `runPage` to the process that started it. Reports arrive in order. */

/** Keeps the run alive and reaches `onProgress`. */
export function progress(value: unknown): Promise<void> {
  return post({ type: 'progress', value })
}

/** Ends the run with this result, which must be JSON. */
export function done(value: unknown): Promise<void> {
  return post({ type: 'done', value })
}

/**
 * After `done`: ends the browser like closing its last window, if a page may (Firefox). Other browsers are ended from
 * outside.
 */
export function quit(): void {
  globalThis.close()
}

/** Ends the run with this error. */
export function failed(error: unknown): Promise<void> {
  return post({ type: 'failed', error: errorFacts(error) })
}

export interface ErrorFacts {
  readonly message: string
  readonly stack?: string
}

export function errorFacts(error: unknown): ErrorFacts {
  if (!(error instanceof Error)) return { message: String(error) }
  const code = (error as { code?: unknown }).code
  const message = `${error.name}${typeof code === 'string' ? ` ${code}` : ''}: ${error.message}`
  const causes = error.cause === undefined ? '' : `\ncaused by ${stackOf(error.cause)}`
  return { message, stack: `${stackOf(error)}${causes}` }
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Only some engines begin the stack with the message.
  const head = `${error.name}: ${error.message}`
  const stack = error.stack ?? ''
  return stack.startsWith(head) ? stack : `${head}\n${stack}`
}

let posted: Promise<unknown> = Promise.resolve()

function post(report: unknown): Promise<void> {
  const body = JSON.stringify(report)
  const sent = posted.then(() => fetch('/report', { method: 'POST', body }))
  posted = sent.catch(() => undefined)
  return sent.then(() => undefined)
}
