/** Reads a multipart body part by part. Holds only the bytes that have just come, never a whole part. */
import { badRequest } from './http-error.ts'

export interface MultipartPart {
  /** Headers by name in lower case. */
  readonly headers: ReadonlyMap<string, string>
  /** Read it before you ask for the next part; then the rest of it is skipped. */
  readonly body: AsyncGenerator<Uint8Array, void, undefined>
}

const HEADER_BYTES_MAX: number = 16 * 1024
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i
const LINE_END = '\r\n'

export function boundaryOf(contentType: string): string {
  const match = BOUNDARY.exec(contentType)
  if (match === null) throw badRequest('The content type has no boundary.')
  return match[1] ?? match[2]!
}

export class MultipartReader {
  readonly #pieces: AsyncIterator<Uint8Array, unknown>
  readonly #delimiter: Buffer
  /** The rest: bytes not used yet. Starts with a line end, because the first boundary has no line before it. */
  #rest: Buffer = Buffer.from(LINE_END)
  /** Body of the current part; at first the text before the first part. */
  #body: MultipartPart['body']
  #isOver = false

  constructor(pieces: AsyncIterable<Uint8Array>, boundary: string) {
    this.#pieces = pieces[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, unknown>
    this.#delimiter = Buffer.from(`${LINE_END}--${boundary}`, 'latin1')
    this.#body = this.#untilDelimiter()
  }

  /** Undefined after the last one. @throws HttpError 400 if the body is cut off or malformed */
  async next(): Promise<MultipartPart | undefined> {
    if (this.#isOver) return undefined
    while ((await this.#body.next()).done !== true);
    if (await this.#isLast()) {
      this.#isOver = true
      return undefined
    }
    const headers = await this.#headers()
    const body = this.#untilDelimiter()
    this.#body = body
    return { headers, body }
  }

  /** Closes it. Discards the rest, so that the sender reads the answer. */
  async close(): Promise<void> {
    await this.#pieces.return?.()
  }

  async *#untilDelimiter(): MultipartPart['body'] {
    for (;;) {
      const end = this.#rest.indexOf(this.#delimiter)
      if (end !== -1) {
        const content = this.#rest.subarray(0, end)
        this.#rest = this.#rest.subarray(end + this.#delimiter.length)
        if (content.length > 0) yield content
        return
      }
      const safe = this.#rest.length - this.#delimiter.length + 1
      if (safe > 0) {
        const content = this.#rest.subarray(0, safe)
        this.#rest = this.#rest.subarray(safe)
        yield content
      }
      await this.#more()
    }
  }

  async #isLast(): Promise<boolean> {
    while (this.#rest.length < 2) await this.#more()
    return this.#rest.toString('latin1', 0, 2) === '--'
  }

  async #headers(): Promise<Map<string, string>> {
    let end: number
    while ((end = this.#rest.indexOf(LINE_END + LINE_END)) === -1) {
      if (this.#rest.length > HEADER_BYTES_MAX) throw badRequest('The headers of a part are too long.')
      await this.#more()
    }
    const lines = this.#rest.toString('utf8', 0, end).split(LINE_END).slice(1)
    this.#rest = this.#rest.subarray(end + 2 * LINE_END.length)
    const headers = new Map<string, string>()
    let last: string | undefined
    for (const line of lines) {
      const colon = line.indexOf(':')
      // CouchDB writes the line ends of a file's name as they are.
      if (colon < 1 && last === undefined) throw badRequest('A header of a part is malformed.')
      if (colon < 1) headers.set(last!, `${headers.get(last!)}${LINE_END}${line}`)
      else headers.set((last = line.slice(0, colon).trim().toLowerCase()), line.slice(colon + 1).trim())
    }
    return headers
  }

  async #more(): Promise<void> {
    const { done, value } = await this.#pieces.next()
    if (done === true) throw badRequest('The multipart body is cut off.')
    this.#rest = this.#rest.length === 0 ? asBuffer(value) : Buffer.concat([this.#rest, value])
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
