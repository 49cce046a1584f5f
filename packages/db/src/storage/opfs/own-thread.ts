/**
 * Files read and written by the thread that asks, where that is a dedicated worker: it may have access handles itself. A worker of its
 * own would be one thread more; and in Firefox `new Worker` within a worker now and then never returns.
 *
 * It passes for a worker. Messages are cloned and handed over as between two threads, so that neither side sees what the other does
 * to its bytes afterwards.
 */
import type { FileThread } from './link.ts'
import type { FromWorker, ToWorker } from './protocol.ts'
import { serve } from './serve.ts'

export class OwnThread implements FileThread {
  onmessage: ((event: { readonly data: FromWorker }) => void) | null = null
  /** Never called: nothing can fail to load. */
  onerror = null
  private readonly hear = serve((message, transfer = []) => this.onmessage?.({ data: moved(message, transfer) }))

  postMessage(message: ToWorker, transfer: Transferable[]): void {
    this.hear(moved(message, transfer))
  }

  terminate(): void {
    this.hear('close')
  }
}

function moved<T>(message: T, transfer: Transferable[]): T {
  return structuredClone(message, { transfer })
}
