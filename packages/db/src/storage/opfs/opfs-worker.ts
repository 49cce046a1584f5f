/** The script of a page's worker: serves one database. */
import type { FromWorker, ToWorker } from './protocol.ts'
import { serve } from './serve.ts'

const scope = globalThis as unknown as {
  onmessage: (event: MessageEvent<ToWorker>) => void
  postMessage(message: FromWorker, transfer: Transferable[]): void
}

const hear = serve((message, transfer = []) => scope.postMessage(message, transfer))

scope.onmessage = ({ data }) => hear(data)
