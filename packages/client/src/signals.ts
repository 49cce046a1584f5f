/** Follows the stream of the server that says when a pull has something new. It has no data. */
import { readEvents } from './event-stream.ts'
import type { Server } from './server.ts'

interface SignalOptions {
  readonly collections: readonly string[]
  readonly token: string | undefined
  readonly signal: AbortSignal
  /** The stream has begun, or a collection has something new. */
  readonly onSignal: () => void
}

/** Resolves when the stream of signals ends. */
export async function followSignals(
  server: Server,
  { collections, token, signal, onSignal }: SignalOptions,
): Promise<void> {
  const topics = collections.map((name) => `topic=${encodeURIComponent(`@sync/${name}`)}`)
  const response = await server.open(`GET /api/realtime?${topics.join('&')}`, undefined, { token, signal })
  for await (const { event } of readEvents(response))
    if (event === 'PB_CONNECT' || event.startsWith('@sync/')) onSignal()
}
