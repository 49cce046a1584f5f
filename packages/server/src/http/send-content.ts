/** Answers a request with the bytes of a file, or with the ranges of it that were asked for. */
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { rangeAnswer, type ByteRange } from './byte-ranges.ts'

/** The content of an answer. */
interface Content {
  readonly size: number
  readonly modifiedMs: number
  /** All bytes, or those of a range. */
  stream(range?: ByteRange): Promise<AsyncIterable<Uint8Array>>
}

interface ContentHeaders {
  readonly type: string
  readonly cacheControl: string
}

const BOUNDARY_BYTES = 30

export async function sendContent(
  request: FastifyRequest,
  reply: FastifyReply,
  content: Content,
  { type, cacheControl }: ContentHeaders,
): Promise<FastifyReply> {
  const { size, modifiedMs } = content
  const answer = rangeAnswer(request.headers, size, modifiedMs)
  if (answer.status === 416) {
    if (answer.isOutside) reply.header('content-range', `bytes */${size}`)
    const text = answer.isOutside ? 'invalid range: failed to overlap\n' : 'invalid range\n'
    return reply.code(416).header('content-type', 'text/plain; charset=utf-8').send(text)
  }
  reply
    .code(answer.status)
    .header('cache-control', cacheControl)
    .header('last-modified', new Date(modifiedMs).toUTCString())
  if (answer.status === 304) return reply.send()
  reply.header('content-type', type)
  if (answer.status === 412) return reply.header('content-length', 0).send()
  reply.header('accept-ranges', 'bytes')
  const ranges = answer.status === 206 ? answer.ranges : [{ start: 0, end: size }]
  if (ranges.length > 1) return sendParts(request, reply, content, { type, ranges })
  const [range] = ranges as [ByteRange]
  if (answer.status === 206) reply.header('content-range', contentRange(range, size))
  reply.header('content-length', range.end - range.start)
  return request.method === 'HEAD' ? sendHead(reply) : reply.send(Readable.from(await content.stream(range)))
}

/** An empty stream: without one, fastify says that the content has no bytes. */
function sendHead(reply: FastifyReply): FastifyReply {
  return reply.send(Readable.from([]))
}

/** Several ranges in one answer. */
function sendParts(
  request: FastifyRequest,
  reply: FastifyReply,
  content: Content,
  { type, ranges }: { readonly type: string; readonly ranges: readonly ByteRange[] },
): FastifyReply {
  const boundary = Buffer.from(reply.server.environment.randomBytes(BOUNDARY_BYTES)).toString('hex')
  const heads = ranges.map((range, at) => {
    const fields = `Content-Range: ${contentRange(range, content.size)}\r\nContent-Type: ${type}`
    return `${at === 0 ? '' : '\r\n'}--${boundary}\r\n${fields}\r\n\r\n`
  })
  const end = `\r\n--${boundary}--\r\n`
  const bytes = ranges.reduce((sum, range) => sum + range.end - range.start, 0)
  reply
    .header('content-type', `multipart/byteranges; boundary=${boundary}`)
    .header('content-length', bytes + Buffer.byteLength(heads.join('') + end))
  if (request.method === 'HEAD') return sendHead(reply)
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (const [at, range] of ranges.entries()) {
      yield Buffer.from(heads[at]!)
      yield* await content.stream(range)
    }
    yield Buffer.from(end)
  }
  return reply.send(Readable.from(pieces()))
}

function contentRange({ start, end }: ByteRange, size: number): string {
  return `bytes ${start}-${end - 1}/${size}`
}
