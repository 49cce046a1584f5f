/**
 * Serves the files in the calling thread, if that is a dedicated worker, which may have access handles itself. Another
 * worker would be one more thread, and in Firefox `new Worker` inside a worker sometimes never returns.
 *
 * It behaves like a worker. Messages are cloned and transferred as between two threads, so that neither side sees later
 * changes of the other's bytes.
 */
import type { FileThread, FromWorker, ToWorker } from './protocol.ts'
import { serve } from './serve.ts'

/**
 * Other tabs ask this thread for what is in the files, too. Of its own code, which may await one answer after another, it hears so
 * many messages in a row; the next one comes in a later task, behind what others have said.
 */
const MESSAGES_IN_A_ROW = 32

export class OwnThread implements FileThread {
  onmessage: ((event: { readonly data: FromWorker }) => void) | null = null
  /** Never called: nothing can fail to load. */
  onerror = null
  private readonly hear = serve((message, transfer = []) => this.onmessage?.({ data: moved(message, transfer) }))
  private readonly channel = new MessageChannel()
  /** Messages that are heard in a later task. */
  private readonly late: ToWorker[] = []
  private inARow = 0

  constructor() {
    this.channel.port1.onmessage = () => {
      this.inARow = 0
      for (const message of this.late.splice(0)) this.hear(message)
    }
  }

  postMessage(message: ToWorker, transfer: Transferable[]): void {
    const own = moved(message, transfer)
    if (++this.inARow <= MESSAGES_IN_A_ROW) this.hear(own)
    else if (this.late.push(own) === 1) this.channel.port2.postMessage(0)
  }

  terminate(): void {
    this.hear('close')
    this.channel.port1.close()
  }
}

function moved<T>(message: T, transfer: Transferable[]): T {
  return structuredClone(message, { transfer })
}
