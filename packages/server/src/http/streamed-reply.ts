/**
 * Answers that are made while they are sent, only as fast as the client takes them. When the client leaves, the signal
 * is aborted, and the maker of the answer releases what it holds. A failure before the first piece is an ordinary
 * error. A later one cuts the connection, so that half an answer never looks whole.
 */
import { wellFormed } from '@pannier/backend/internal'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { pauseIn, type Pause } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { HeldBytes, type Holder } from './held-bytes.ts'

type Pieces = AsyncIterable<string | Uint8Array>

const BUFFER_BYTES: number = 64 * 1024
const PIECE_CHARS_MIN: number = 16 * 1024
const GATHERED_CHARS: number = 256 * 1024
/** How many chars are encoded at once: it takes a millisecond. */
const SLICE_CHARS: number = 256 * 1024
/** The first six bits of each. */
const LOW_SURROGATES = 0xdc00 >> 10
const GONE = new Error('the client has gone')
/** By answers of all servers of this process, which have one memory. */
const held = new HeldBytes()

/**
 * The return value of a handler. (An async function that returned the reply would wait for its end with eight
 * listeners.)
 *
 * @param gather For finite answers: a small one is sent whole, which costs much less.
 */
export async function sendPieces(
  reply: FastifyReply,
  contentType: string,
  make: (signal: AbortSignal) => Pieces,
  { gather = false }: { readonly gather?: boolean } = {},
): Promise<string | Readable | FastifyReply> {
  const gone = new AbortController()
  // Without a reason an exception with its stack would be made, at the end of each answer.
  const leave = (): void => gone.abort(GONE)
  whenClosed(reply, leave)
  // Nobody is there any more.
  if (gone.signal.aborted) return reply.send()
  const { environment } = reply.server
  const holder: Holder = { bytes: 0, sinceMs: 0, now: () => environment.now(), cut: () => reply.raw.destroy() }
  const pieces = holding(make(gone.signal)[Symbol.asyncIterator](), holder, pauseIn(environment))
  whenClosed(reply, () => held.release(holder))
  let first: IteratorResult<string | Uint8Array>
  try {
    first = gather ? await gathered(pieces) : await pieces.next()
    if (gather && first.done !== true && (first.value as string).length < GATHERED_CHARS)
      return withType(reply, contentType, first.value as string)
  } catch (error) {
    reply.raw.off('close', leave)
    throw error
  }
  const report = (error: unknown): void => {
    if (!gone.signal.aborted) reply.log.error({ err: error }, 'an answer was cut off')
  }
  const body = Readable.from(following(environment, first, pieces), { objectMode: false, highWaterMark: BUFFER_BYTES })
  body.on('error', report)
  // A body that nobody has begun to read does not end what it reads from.
  body.once('close', () => void pieces.return?.().catch(report))
  return withType(reply, contentType, body)
}

/** JSON of many small pieces, which are joined. As `sendPieces`. */
export function sendJoined(
  reply: FastifyReply,
  make: (signal: AbortSignal) => AsyncIterable<string>,
): ReturnType<typeof sendPieces> {
  return sendPieces(reply, 'application/json', (gone) => joined(make(gone)))
}

function withType<T>(reply: FastifyReply, contentType: string, body: T): T {
  reply.header('content-type', contentType)
  return body
}

/** The same pieces. Each counts until the next one is requested. Others have the thread between them, also where none waits for anything. */
function holding(
  pieces: AsyncIterator<string | Uint8Array>,
  holder: Holder,
  released: Pause,
): AsyncIterator<string | Uint8Array> {
  return {
    next: async () => {
      held.release(holder)
      await released()
      const piece = await pieces.next()
      try {
        if (piece.done !== true) held.hold(holder, piece.value.length)
      } catch (error) {
        await pieces.return?.()
        throw error
      }
      return piece
    },
    return: async () => {
      held.release(holder)
      return (await pieces.return?.()) ?? { done: true, value: undefined }
    },
  }
}

/** The whole answer, or at least its first `GATHERED_CHARS` characters. */
async function gathered(pieces: AsyncIterator<string | Uint8Array>): Promise<IteratorResult<string>> {
  let text = ''
  while (text.length < GATHERED_CHARS) {
    const { done, value } = await pieces.next()
    if (done === true) break
    text += wellFormed(value as string)
  }
  return { done: false, value: text }
}

/** Whether a reply is closed: the answer was sent, or the client has gone. */
export function isClosed({ raw }: FastifyReply): boolean {
  return raw.destroyed || raw.socket?.destroyed === true
}

/** Calls back when the answer was sent or the client has gone, also if that is so already. */
export function whenClosed(reply: FastifyReply, call: () => void): void {
  if (isClosed(reply)) call()
  else reply.raw.once('close', call)
}

async function* joined(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let text = ''
  for await (const piece of pieces) {
    text += piece
    if (text.length < PIECE_CHARS_MIN) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

/** A large text in parts; other requests are served in between. */
async function* inSlices(environment: Environment, text: string): AsyncGenerator<string> {
  for (let start = 0; start < text.length;) {
    let end = Math.min(text.length, start + SLICE_CHARS)
    // Half of a surrogate pair can't be sent.
    if (end < text.length && text.charCodeAt(end) >> 10 === LOW_SURROGATES) end--
    yield text.slice(start, end)
    start = end
    await environment.yield()
  }
}

async function* following(
  environment: Environment,
  first: IteratorResult<string | Uint8Array>,
  rest: AsyncIterator<string | Uint8Array>,
): AsyncGenerator<string | Uint8Array> {
  for (let one = first; one.done !== true; one = await rest.next()) {
    const { value } = one
    if (typeof value !== 'string') yield value
    else if (value.length <= SLICE_CHARS) yield wellFormed(value)
    else yield* inSlices(environment, wellFormed(value))
  }
}
