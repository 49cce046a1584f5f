/**
 * A document and its attachments as multipart/related, as CouchDB takes it: first the JSON, then the attachments in the
 * order of the JSON. Attachments are streamed if requests can be streams. Elsewhere (mostly in browsers) they form a
 * Blob, which the browser need not keep in memory. The boundary is random, so that no content can contain it.
 */
import { streamChunks } from '../../base/async.ts'
import { toCouchAttachment } from '../../document/attachments/couch-attachments.ts'
import type { PeerAttachment, PeerRevision } from '../peer.ts'
import { dispositionOf, headerValue } from './names.ts'

interface MultipartBody {
  readonly body: BodyInit
  readonly contentType: string
}

type Replacer = (name: string, value: unknown) => unknown

export async function multipartRelated(
  { document, attachments = new Map<string, PeerAttachment>() }: PeerRevision,
  replacer: Replacer,
  boundary: string,
  signal: AbortSignal,
): Promise<MultipartBody> {
  const follows = [...attachments].map(([name, { contentType, length, revpos }]) => [
    name,
    { follows: true, ...toCouchAttachment({ contentType, length, revpos }) },
  ])
  const json = JSON.stringify({ ...document, _attachments: Object.fromEntries(follows) as unknown }, replacer)
  const encoder = new TextEncoder()
  const parts: (Uint8Array<ArrayBuffer> | PeerAttachment)[] = [
    encoder.encode(`--${boundary}\r\ncontent-type: application/json\r\n\r\n${json}`),
  ]
  for (const [name, attachment] of attachments) {
    const head = [
      `\r\n--${boundary}`,
      `content-disposition: ${dispositionOf(name)}`,
      `content-type: ${headerValue(attachment.contentType)}`,
      `content-length: ${attachment.length}`,
    ]
    parts.push(encoder.encode(`${head.join('\r\n')}\r\n\r\n`), attachment)
  }
  parts.push(encoder.encode(`\r\n--${boundary}--`))
  const contentType = `multipart/related;boundary="${boundary}"`
  if (streamsRequests()) return { body: streamOf(chunksOf(parts, signal)), contentType }
  const blobs: BlobPart[] = []
  for (const part of parts)
    blobs.push(part instanceof Uint8Array ? part : await new Response(await contentOf(part, signal)).blob())
  return { body: new Blob(blobs), contentType }
}

async function* chunksOf(
  parts: readonly (Uint8Array<ArrayBuffer> | PeerAttachment)[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  for (const part of parts) {
    if (part instanceof Uint8Array) yield part
    else yield* streamChunks(await contentOf(part, signal))
  }
}

async function contentOf(
  { inline, open }: PeerAttachment,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  if (inline === undefined) return open(signal)
  const bytes = typeof inline === 'string' ? Uint8Array.from(atob(inline), (char) => char.charCodeAt(0)) : inline
  return new Response(bytes).body!
}

function streamOf(chunks: AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => void (await chunks.return()),
    },
    { highWaterMark: 0 },
  )
}

/** Whether requests are streamed. Browsers do so over HTTP/2 only, and say so only once it has failed. */
function streamsRequests(): boolean {
  return !('document' in globalThis) && !('WorkerGlobalScope' in globalThis)
}
