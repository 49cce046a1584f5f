/** Reads a stream of events. `EventSource` can't send a token, and Node has none. */
import { ClientError } from './client-error.ts'

interface ServerEvent {
  readonly event: string
  readonly data: unknown
}

export async function* readEvents(response: Response): AsyncGenerator<ServerEvent> {
  if (!response.ok || response.body === null)
    throw new ClientError('PANNIER_PEER_UNREACHABLE', `No stream of events: ${response.status}.`)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  try {
    let text = ''
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      text += value
      const events = text.split('\n\n')
      text = events.pop()!
      for (const lines of events) {
        const { event, data } = Object.fromEntries(lines.split('\n').map(fieldOfLine))
        if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data) as unknown }
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function fieldOfLine(line: string): [name: string, value: string] {
  const at = line.indexOf(':')
  return [line.slice(0, at), line.slice(at + 1).trimStart()]
}
