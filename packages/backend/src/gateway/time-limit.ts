/** Work that may take only so long. */
import type { Environment } from 'pannier/types'

/** Runs work that ends when its signal is aborted: after its milliseconds, with `reason`. */
export async function withTimeLimit<T>(
  environment: Pick<Environment, 'after'>,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  reason: Error = new DOMException('The operation was aborted due to timeout', 'TimeoutError'),
): Promise<T> {
  const late = new AbortController()
  const cancel = environment.after(ms, () => late.abort(reason))
  try {
    return await work(late.signal)
  } finally {
    cancel()
  }
}
