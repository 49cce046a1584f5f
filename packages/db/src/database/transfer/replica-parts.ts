/**
 * Splits a replica file (docs/internals/replication.md) into parts, each followed by a mark with the checksum of
 * everything up to it. A part is read only after its mark has shown that every byte is intact.
 */
import { checksum } from '../../codec/checksum.ts'
import { DOCUMENT_TEXT_BYTES_MAX } from '../../codec/document-format.ts'

/** The bytes of a part; a larger document gets a larger part. */
export const PART_CHARS: number = 64 * 1024
/** In UTF-8, a document that a line may have. */
const PART_BYTES_MAX: number = 3 * DOCUMENT_TEXT_BYTES_MAX
const MARK = /^\{(?:"end":true,"documents":(\d{1,15}),"revisions":(\d{1,15}),)?"check":"([0-9a-f]{8})"\}$/
const MARK_BYTES_MAX = 100
const LINE_FEED = 10

/** Follows the bytes of all parts, with one checksum after another. */
export class PartChecksum {
  #value = 0

  /** Adds a part. Gives the checksum of everything up to the end of this part, as eight digits. */
  add(part: Uint8Array): string {
    this.#value = checksum(part, 0, part.length, this.#value)
    return this.#value.toString(16).padStart(8, '0')
  }
}

export interface ReplicaPart {
  /** Bytes of whole lines. */
  readonly bytes: Uint8Array
  /** The totals of the whole file, in the last part. */
  readonly end: { readonly documents: number; readonly revisions: number } | undefined
}

/** Everything that it throws means that the file is damaged. Memory: a part. */
export class PartReader {
  readonly #checksum = new PartChecksum()
  #bytes = new Uint8Array(2 * PART_CHARS)
  #length = 0
  /** The start of the line: up to here there is no mark. */
  #lineStart = 0

  /** Whether it is at the end: nothing has come after the last part. */
  get isAtEnd(): boolean {
    return this.#length === 0
  }

  *push(chunk: Uint8Array): Generator<ReplicaPart, void, undefined> {
    let from = this.#length
    this.#append(chunk)
    for (;;) {
      const lineEnd = this.#bytes.subarray(0, this.#length).indexOf(LINE_FEED, from)
      if (lineEnd < 0) return
      const mark = this.#markAt(lineEnd)
      from = lineEnd + 1
      if (mark === null) this.#lineStart = from
      else {
        yield this.#part(mark)
        this.#bytes.copyWithin(0, from, this.#length)
        this.#length -= from
        from = this.#lineStart = 0
      }
    }
  }

  #markAt(lineEnd: number): RegExpExecArray | null {
    const start = this.#lineStart
    return lineEnd - start > MARK_BYTES_MAX
      ? null
      : MARK.exec(String.fromCharCode(...this.#bytes.subarray(start, lineEnd)))
  }

  #part([, documents, revisions, check]: RegExpExecArray): ReplicaPart {
    const bytes = this.#bytes.slice(0, this.#lineStart)
    if (this.#checksum.add(bytes) !== check) throw new RangeError('a part is not as it was written')
    const end = documents === undefined ? undefined : { documents: Number(documents), revisions: Number(revisions) }
    return { bytes, end }
  }

  #append(chunk: Uint8Array): void {
    const length = this.#length + chunk.length
    if (length > PART_BYTES_MAX) throw new RangeError('a part is too long')
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#bytes.length))
      larger.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = larger
    }
    this.#bytes.set(chunk, this.#length)
    this.#length = length
  }
}
