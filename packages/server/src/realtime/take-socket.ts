import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { forgetAnswer } from '../http/app.ts'

/** The parser of a socket. Node does not document it. */
interface Parser {
  unconsume(): void
  remove(): void
  free(): void
  close(): void
  [part: number | string]: unknown
}

interface ParsedSocket {
  parser?: Parser | null
  [part: string]: unknown
}

const STEPS = ['unconsume', 'remove', 'free', 'close'] as const
/** Parts of a parser that keep the request. Its callbacks have numbers. */
const KEPT = ['socket', 'incoming', 'outgoing', 'onIncoming', ...Array(8).keys()]
const EVENTS = ['data', 'end', 'close', 'drain', 'error', 'timeout', 'resume', 'pause']
/** Functions that HTTP puts on a socket before those of its class. */
const WRAPPERS = ['on', 'addListener', 'prependListener', 'setEncoding']

/**
 * Takes the socket of an answer that has begun from Node's HTTP, which keeps 9 KB for a connection. The answer is closed then. It leans on
 * names that Node does not document: undefined if one of them is missing, and all stays as it is. Call it in a turn of its own, as the
 * parser may run in this one.
 */
export function takeSocket(response: ServerResponse): Socket | undefined {
  const { socket } = response
  const parsed = socket as unknown as ParsedSocket | null
  const parser = parsed?.parser
  if (!socket || socket.destroyed || !parser || STEPS.some((step) => typeof parser[step] !== 'function'))
    return undefined
  response.detachSocket(socket)
  for (const event of EVENTS) socket.removeAllListeners(event)
  parser.unconsume()
  for (const name of WRAPPERS) delete parsed[name]
  for (const part of KEPT) parser[part] = null
  parsed.parser = null
  parser.remove()
  parser.free()
  parser.close()
  forgetAnswer(socket)
  socket.on('error', ignore).on('end', leave).resume()
  response.destroy().emit('close')
  return socket
}

function ignore(): void {}

/** Leaves a socket whose client has ended its side. */
function leave(this: Socket): void {
  this.destroy()
}
