/**
 * Lines of JSON that another Pannier has written, parsed as they come. Half of the work of codec/json-splitter.ts, which takes what
 * people have and finds names that occur twice: here, as in every answer of a peer, the last one counts.
 */
import { DOCUMENT_TEXT_BYTES_MAX } from '../../codec/document-format.ts'

export interface JsonLine {
  readonly value: unknown
  /** Of its text. */
  readonly chars: number
}

/** Everything it throws means that the text is not what it has to be. Memory: a chunk and a line. */
export class JsonLines {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  /** Of the line that has not ended yet. */
  #pieces: string[] = []
  #chars = 0

  /** The lines that end in this chunk. */
  push(chunk: Uint8Array): Iterable<JsonLine> {
    const pieces = this.#decoder.decode(chunk, { stream: true }).split('\n')
    const [first] = pieces
    this.#chars += first!.length
    if (this.#chars > DOCUMENT_TEXT_BYTES_MAX) throw new RangeError('a line is too long')
    this.#pieces.push(first!)
    if (pieces.length === 1) return []
    pieces[0] = this.#pieces.join('')
    const rest = pieces.pop()!
    this.#pieces = [rest]
    this.#chars = rest.length
    return parsed(pieces)
  }

  /** No line has begun that has not ended. */
  get isAtEnd(): boolean {
    return this.#chars === 0
  }
}

function* parsed(lines: readonly string[]): Iterable<JsonLine> {
  for (const line of lines) yield { value: JSON.parse(line), chars: line.length }
}
