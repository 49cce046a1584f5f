/** A bucket of a service that speaks S3. PocketBase's buckets have the same keys. */
import { AwsClient } from 'aws4fetch'
import type { Environment } from 'pannier/types'
import { withTimeLimit } from '../gateway/time-limit.ts'
import type { S3Settings } from '../settings/settings-values.ts'
import type { ByteRange, FileContent, FileHead, FileInfo, FilePlace } from './file-place.ts'

/** As the settings have it. */
export type S3Options = Omit<S3Settings, 'enabled'>

/** The length of a part. Longer content goes in parts. S3 takes no part below 5 MiB but the last. */
const PART_BYTES: number = 8 * 1024 * 1024
/** How long the service may take for a request: with the answer, unless that is content. */
const ANSWER_MS_MAX = 30_000
/** How long the service may take for the next bytes of content. */
const NEXT_BYTES_MS_MAX = 30_000
const RETRIES = 3
const RETRY_MS_MIN = 50
const SHOWN_CHARS = 200
/** The metadata of S3 are ASCII. */
const OTHER_THAN_ASCII = /[^\x20-\x7e]/g

type Query = Readonly<Record<string, string>>

interface S3Request {
  readonly key?: string
  readonly query?: Query
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
  /** Ends the answer, also when its content is being read. */
  readonly reading?: AbortSignal
}

export class S3Place implements FilePlace {
  readonly #client: AwsClient
  readonly #base: string
  readonly #bucket: string
  readonly #environment: Pick<Environment, 'after'>
  readonly #ending: AbortSignal | undefined

  /** `ending` ends all requests of the place. */
  constructor(options: S3Options, environment: Pick<Environment, 'after'>, ending?: AbortSignal) {
    const { accessKey, secret, region, bucket } = options
    this.#client = new AwsClient({
      accessKeyId: accessKey,
      secretAccessKey: secret,
      service: 's3',
      region,
    })
    this.#base = baseOf(options)
    this.#bucket = bucket
    this.#environment = environment
    this.#ending = ending
  }

  async put(key: string, content: FileContent, type: string): Promise<void> {
    const headers = { 'content-type': type.replaceAll(OTHER_THAN_ASCII, '_') }
    const parts = partsOf(content)
    try {
      const first = await parts.next()
      const bytes = first.done === true ? new Uint8Array(0) : first.value
      const second = bytes.length < PART_BYTES ? undefined : await parts.next()
      if (second === undefined || second.done === true) await this.#done('PUT', { key, headers, body: bytes })
      else await this.#putParts(key, headers, [bytes, second.value], parts)
    } finally {
      // What makes the content ends, too, when the service does not take the first parts.
      await parts.return(undefined)
    }
  }

  async head(key: string): Promise<FileHead | undefined> {
    const found = await this.#answer('HEAD', { key })
    if (found === undefined) return undefined
    const { headers } = found
    return {
      key,
      size: Number(headers.get('content-length')),
      modifiedMs: Date.parse(headers.get('last-modified') ?? '') || 0,
      type: headers.get('content-type') ?? 'application/octet-stream',
    }
  }

  async get(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined> {
    if (range !== undefined && range.start >= range.end) return noBytes()
    const headers = range === undefined ? {} : { range: `bytes=${range.start}-${range.end - 1}` }
    const reading = new AbortController()
    const response = await this.#ask('GET', { key, headers, reading: reading.signal }, async (begun) => {
      if (begun.ok || begun.status === 404) return begun
      throw failed('GET', key, begun.status, await begun.text())
    })
    if (response.status === 404) {
      await response.body?.cancel()
      return undefined
    }
    if (range !== undefined && response.status !== 206) {
      await response.body?.cancel()
      throw new Error(`S3 has not answered with the range of ${key} that was asked for.`)
    }
    return response.body === null ? noBytes() : this.#inTime(response.body, key, reading)
  }

  async delete(key: string): Promise<void> {
    await this.#answer('DELETE', { key })
  }

  async *list(prefix: string): AsyncIterable<FileInfo> {
    let after: Query = {}
    for (;;) {
      const xml = await this.#done('GET', { query: { 'list-type': '2', prefix, ...after } })
      for (const [, item = ''] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
        const modifiedMs = Date.parse(textIn(item, 'LastModified'))
        yield { key: textIn(item, 'Key'), size: Number(textIn(item, 'Size')), modifiedMs }
      }
      if (textIn(xml, 'IsTruncated') !== 'true') return
      after = { 'continuation-token': textIn(xml, 'NextContinuationToken') }
    }
  }

  /** Puts the parts of a file. Nothing is there before the last request. */
  async #putParts(
    key: string,
    headers: Readonly<Record<string, string>>,
    first: readonly Uint8Array[],
    rest: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const uploadId = textIn(await this.#done('POST', { key, query: { uploads: '' }, headers }), 'UploadId')
    try {
      const tags: string[] = []
      const putPart = async (body: Uint8Array): Promise<void> => {
        const query = { partNumber: String(tags.length + 1), uploadId }
        const answer = await this.#answer('PUT', { key, query, body })
        tags.push(answer?.headers.get('etag') ?? '')
      }
      for (const body of first) await putPart(body)
      for await (const body of rest) await putPart(body)
      const parts = tags.map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`)
      const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
      const answer = await this.#done('POST', { key, query: { uploadId }, body })
      // The status may have been sent before it failed.
      if (answer.includes('<Error>')) throw failed('POST', key, 200, answer)
    } catch (error) {
      await this.#done('DELETE', { key, query: { uploadId } }).catch(() => undefined)
      throw error
    }
  }

  /** The text of an answer that says that it went well. @throws Error also for what is missing */
  async #done(method: string, asked: S3Request): Promise<string> {
    const answer = await this.#answer(method, asked)
    if (answer === undefined) throw failed(method, asked.key ?? this.#bucket, 404, '')
    return answer.text
  }

  /** The whole answer. Undefined: an object is missing. @throws Error with the reason of the service */
  async #answer(
    method: string,
    asked: S3Request,
  ): Promise<{ readonly headers: Headers; readonly text: string } | undefined> {
    return this.#ask(method, asked, async (response) => {
      const { status, ok, headers } = response
      const text = await response.text()
      const isMissing = status === 404 && (method === 'HEAD' || method === 'DELETE')
      if (!ok && !isMissing) throw failed(method, asked.key ?? this.#bucket, status, text)
      return isMissing ? undefined : { headers, text }
    })
  }

  /** Sends a request. `read` reads from the answer what has to come in time. */
  async #ask<T>(method: string, asked: S3Request, read: (response: Response) => Promise<T>): Promise<T> {
    const { key = '', query = {}, headers = {}, body, reading } = asked
    if (/(?:^|\/)\.{1,2}(?:\/|$)/.test(key)) throw new Error(`S3 takes no key with . or .. between slashes: ${key}`)
    const path = key.split('/').map(encoded).join('/')
    const search = Object.entries(query).map(([name, value]) => `${name}=${encoded(value)}`)
    const url = `${this.#base}/${path}${search.length === 0 ? '' : `?${search.join('&')}`}`
    const init = { method, headers, ...(body !== undefined && { body: body as BodyInit }) }
    const late = new Error(`S3 has not answered for ${ANSWER_MS_MAX / 1000} s.`)
    const others = [reading, this.#ending].filter((signal) => signal !== undefined)
    const ask = async (inTime: AbortSignal): Promise<T> =>
      read(await this.#send(url, init, AbortSignal.any([inTime, ...others])))
    try {
      return await withTimeLimit(this.#environment, ANSWER_MS_MAX, ask, late)
    } catch (error) {
      if (error instanceof Refusal) throw error
      const { cause, message } = error as Error
      const reason = cause instanceof Error ? cause.message : message
      throw new Error(`S3 can't be reached at ${this.#base}: ${reason}`, { cause: error })
    }
  }

  /** Sends a request, and bridges a short outage. Node forgets the signal of a `Request` when it collects garbage, so `fetch` itself gets it. */
  async #send(url: string, init: RequestInit, signal: AbortSignal): Promise<Response> {
    for (let tries = 0; ; tries++) {
      const response = await fetch(await this.#client.sign(url, init), { signal })
      if (tries === RETRIES || (response.status < 500 && response.status !== 429)) return response
      await response.body?.cancel()
      await new Promise<void>((resolve) => void this.#environment.after(RETRY_MS_MIN * 2 ** tries, resolve))
    }
  }

  /** The pieces of content, while each comes in time. */
  async *#inTime(
    content: ReadableStream<Uint8Array>,
    key: string,
    reading: AbortController,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const reader = content.getReader()
    const late = new Error(`S3 has sent nothing more of ${key} for ${NEXT_BYTES_MS_MAX / 1000} s.`)
    try {
      for (;;) {
        const cancel = this.#environment.after(NEXT_BYTES_MS_MAX, () => reading.abort(late))
        const { done, value } = await reader.read().finally(cancel)
        if (done) return
        yield value
      }
    } finally {
      await reader.cancel().catch(() => undefined)
    }
  }
}

/** The service has answered, and refuses. */
class Refusal extends Error {}

function baseOf({ endpoint, bucket, forcePathStyle }: S3Options): string {
  const { protocol, host, pathname } = new URL(/^https?:\/\//i.test(endpoint) ? endpoint : `https://${endpoint}`)
  const path = pathname.replace(/\/+$/, '')
  return forcePathStyle ? `${protocol}//${host}${path}/${encoded(bucket)}` : `${protocol}//${bucket}.${host}${path}`
}

/** The text encoded, as S3 wants it in signatures, too. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

function failed(method: string, key: string, status: number, answer: string): Refusal {
  const [code, message] = [textIn(answer, 'Code'), textIn(answer, 'Message')]
  const said = code === '' ? answer.slice(0, SHOWN_CHARS) : `${code}: ${message}`
  return new Refusal(`S3 refuses ${method} of ${key}: ${status} ${said}`.trim())
}

/** The text of the first element with the name. The answers have no attributes and no others inside. */
function textIn(xml: string, name: string): string {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? ''
  return text.replaceAll(/&(?:(lt|gt|amp|quot|apos)|#(\d+)|#x([0-9a-f]+));/gi, (_all, named, decimal, hex) =>
    named === undefined
      ? String.fromCodePoint(decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal))
      : { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }[named as 'lt'],
  )
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

/** Parts of one length, except for the last. */
async function* partsOf(content: FileContent): AsyncGenerator<Uint8Array, undefined> {
  const pieces = content instanceof Uint8Array ? [content] : content
  let part = new Uint8Array(0)
  let length = 0
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      const taken = piece.subarray(at, at + PART_BYTES - length)
      if (length + taken.length > part.length) part = grown(part, length + taken.length)
      part.set(taken, length)
      length += taken.length
      at += taken.length
      if (length < PART_BYTES) continue
      yield part
      part = new Uint8Array(0)
      length = 0
    }
  }
  if (length > 0) yield part.subarray(0, length)
  return undefined
}

function grown(part: Uint8Array, bytes: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.min(PART_BYTES, Math.max(bytes, part.length * 2)))
  larger.set(part)
  return larger
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}
