/** Files of records: `/api/files`. */
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Download } from '@pannier/backend'
import { isContentType } from '../couch/document-input.ts'
import { rangeAnswer } from '../http/byte-ranges.ts'
import type { ByteRange } from '../http/byte-ranges.ts'
import { contentDisposition } from '../http/content-disposition.ts'
import { actorOf, queryText } from './actor.ts'
import { tagged } from './rest-context.ts'
import type { RestRoutes } from './rest-context.ts'

interface FileRoute {
  Params: { readonly collection: string; readonly record: string; readonly name: string }
}

/** As Go reads a boolean. */
const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])
/** For a month, as another content has another name. */
const CACHED = 'max-age=2592000, stale-while-revalidate=86400'
/** Whatever is in a file runs nothing, and reads nothing of this origin. */
const POLICY = "default-src 'none'; media-src 'self'; style-src 'unsafe-inline'; sandbox"
const UNKNOWN = 'application/octet-stream'
const BOUNDARY_BYTES = 30

export const fileRoutes: RestRoutes = (app, context) => {
  const { files } = context.backend
  app.post('/api/files/token', async (request) => ({ token: await files.newToken(actorOf(request)) }))
  app.route<FileRoute>({
    method: ['GET', 'HEAD'],
    url: '/api/files/:collection/:record/:name',
    ...tagged('file'),
    handler: async (request, reply) => {
      const { collection, record, name } = request.params
      const options = { thumb: queryText(request, 'thumb'), token: queryText(request, 'token') }
      return serve(request, reply, await files.open(actorOf(request), collection, record, name, options))
    },
  })
}

async function serve(request: FastifyRequest, reply: FastifyReply, file: Download): Promise<FastifyReply> {
  const { size, modifiedMs } = file
  // What came with an attachment may be any text.
  const type = isContentType(file.type) ? file.type : UNKNOWN
  const form = file.isShown && !TRUE.has(queryText(request, 'download')) ? 'inline' : 'attachment'
  reply
    .removeHeader('x-frame-options')
    .header('content-disposition', dispositionOf(file.name, form))
    .header('content-security-policy', POLICY)
  const answer = rangeAnswer(request.headers, size, modifiedMs)
  if (answer.status === 416) {
    if (answer.isOutside) reply.header('content-range', `bytes */${size}`)
    const text = answer.isOutside ? 'invalid range: failed to overlap\n' : 'invalid range\n'
    return reply.code(416).header('content-type', 'text/plain; charset=utf-8').send(text)
  }
  reply.code(answer.status).header('cache-control', CACHED).header('last-modified', new Date(modifiedMs).toUTCString())
  if (answer.status === 304) return reply.send()
  reply.header('content-type', type)
  if (answer.status === 412) return reply.header('content-length', 0).send()
  reply.header('accept-ranges', 'bytes')
  const ranges = answer.status === 206 ? answer.ranges : [{ start: 0, end: size }]
  if (ranges.length > 1) return sendParts(request, reply, file, { type, ranges })
  const [range] = ranges as [ByteRange]
  if (answer.status === 206) reply.header('content-range', contentRange(range, size))
  reply.header('content-length', range.end - range.start)
  return request.method === 'HEAD' ? reply.send() : reply.send(Readable.from(await file.stream(range)))
}

/** Several ranges in one answer. */
function sendParts(
  request: FastifyRequest,
  reply: FastifyReply,
  file: Download,
  { type, ranges }: { readonly type: string; readonly ranges: readonly ByteRange[] },
): FastifyReply {
  const boundary = randomBytes(BOUNDARY_BYTES).toString('hex')
  const heads = ranges.map((range, at) => {
    const fields = `Content-Range: ${contentRange(range, file.size)}\r\nContent-Type: ${type}`
    return `${at === 0 ? '' : '\r\n'}--${boundary}\r\n${fields}\r\n\r\n`
  })
  const end = `\r\n--${boundary}--\r\n`
  const bytes = ranges.reduce((sum, range) => sum + range.end - range.start, 0)
  reply
    .header('content-type', `multipart/byteranges; boundary=${boundary}`)
    .header('content-length', bytes + Buffer.byteLength(heads.join('') + end))
  if (request.method === 'HEAD') return reply.send()
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (const [at, range] of ranges.entries()) {
      yield Buffer.from(heads[at]!)
      yield* await file.stream(range)
    }
    yield Buffer.from(end)
  }
  return reply.send(Readable.from(pieces()))
}

function contentRange({ start, end }: ByteRange, size: number): string {
  return `bytes ${start}-${end - 1}/${size}`
}

/** Names that PocketBase has made stand as they are. */
function dispositionOf(name: string, form: 'inline' | 'attachment'): string {
  return /^[\w.*+=#-]+$/.test(name) ? `${form}; filename=${name}` : contentDisposition(name, form)
}
