/** What a page's worker runs: one database. */
import { Host, type News } from './host.ts'
import { Ownership } from './ownership.ts'
import { postedError, type FromWorker, type ToWorker } from './protocol.ts'

/** How long a database that is to be destroyed may be kept by a tab that does not answer. */
const PATIENCE_MS = 3000

const scope = globalThis as unknown as {
  onmessage: (event: MessageEvent<ToWorker>) => void
  postMessage(message: FromWorker, transfer: Transferable[]): void
}

let host: Host | undefined

scope.onmessage = ({ data }) => {
  if (data === 'close') host?.close()
  else if ('join' in data) host = new Host(data.join, (message, transfer = []) => scope.postMessage(message, transfer))
  else if ('destroy' in data) void destroy(data.destroy)
  else host?.call(data)
}

async function destroy(name: string): Promise<void> {
  const everybody = new BroadcastChannel(`pannier-opfs:${name}:`)
  everybody.postMessage('gone' satisfies News)
  try {
    await new Ownership(name).destroy(PATIENCE_MS)
    scope.postMessage({ id: 0 }, [])
  } catch (error) {
    scope.postMessage({ id: 0, error: postedError(error) }, [])
  }
  everybody.close()
}
