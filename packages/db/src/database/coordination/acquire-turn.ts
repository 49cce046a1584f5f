/** The wait for a turn that a signal can end. */
import { throwIfAborted } from '../../base/abort.ts'
import type { Coordinator, WriterLease } from '../../kv/coordinator.ts'

/**
 * An abort meanwhile closes the coordinator, and so ends the wait. `what` begins the message: 'The restore'.
 *
 * @throws PANNIER_ABORTED
 */
export async function acquireTurn(
  coordinator: Coordinator,
  signal: AbortSignal | undefined,
  what: string,
): Promise<WriterLease> {
  throwIfAborted(signal, what)
  const giveUp = (): void => coordinator.close()
  signal?.addEventListener('abort', giveUp)
  try {
    const lease = await coordinator.acquireWriter()
    throwIfAborted(signal, what)
    return lease
  } catch (error) {
    throwIfAborted(signal, what)
    throw error
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
}
