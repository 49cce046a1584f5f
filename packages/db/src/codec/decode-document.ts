/**
 * Decodes documents (document-format.ts). For any bytes, decoding ends, reads nothing outside them, and touches no
 * prototype. Visible damage is PANNIER_CORRUPT.
 */
import { ByteReader, corruptBytes, readAscii, shortString } from './bytes.ts'
import {
  DOCUMENT_DEPTH_MAX,
  ELEMENT_TYPES,
  type ElementArray,
  type ElementType,
  SMALL_INTEGER_END,
  STRING_SHORT_CHARS_MAX,
  TAG_ARRAY,
  TAG_FALSE,
  TAG_FLOAT64,
  TAG_NEGATIVE,
  TAG_NULL,
  TAG_OBJECT,
  TAG_OBJECT_FAR,
  TAG_PACKED,
  TAG_POSITIVE,
  TAG_STRING_ASCII,
  TAG_STRING_SHORT,
  TAG_STRING_TEXT,
  TAG_TRUE,
  TAG_TYPED,
} from './document-format.ts'
import { defineField, elementIndex, type FieldPath } from './field-path.ts'
import { LOCAL_SHAPE, readShapeNames, Shape, type ShapeDictionary } from './shape.ts'
import { readText } from './text.ts'

/** Adds the fields of a document to `target`, in their order, and returns it. Give `{ _id, _rev }` for these to come first. */
export function decodeDocument(
  bytes: Uint8Array,
  start: number,
  end: number,
  shapes: ShapeDictionary,
  target: Record<string, unknown> = {},
): Record<string, unknown> {
  return decoder.decode(bytes, start, end, shapes, target)
}

/** One field of a document, without decoding the rest; undefined if it is missing, as top-level names with '_' always are. */
export function readField(
  bytes: Uint8Array,
  start: number,
  end: number,
  shapes: ShapeDictionary,
  path: FieldPath,
): unknown {
  return decoder.read(bytes, start, end, shapes, path)
}

/** Decodes one document after another. */
class DocumentDecoder {
  #bytes: Uint8Array = new Uint8Array()
  /** The shapes of the header; shapes beyond `shapeCount` are of an earlier document. */
  readonly #shapes: Shape[] = []
  #shapeCount = 0
  /**
   * Where the last document begins, if it has shapes of its own; else -1. Their names may be very many, and each condition of a query opens
   * the document. Bytes never change.
   */
  #ownStart = -1
  /** Where its content begins. */
  #contentAt = 0
  #at = 0
  /** End of the current value or container. */
  #end = 0
  #depth = 0
  #documentEnd = 0
  /** The bytes from `textStart` on, a char for each; only the ASCII ones are right. Decoding text costs by the call. */
  #text = ''
  #textStart = 0

  /** See `decodeDocument`. */
  decode(
    bytes: Uint8Array,
    start: number,
    end: number,
    shapes: ShapeDictionary,
    target: Record<string, unknown>,
  ): Record<string, unknown> {
    this.#open(bytes, start, end, shapes)
    this.#fields(this.#shape(0), target)
    if (this.#at !== this.#end) throw corruptBytes('a document is too long')
    return target
  }

  /** See `readField`. */
  read(bytes: Uint8Array, start: number, end: number, shapes: ShapeDictionary, path: FieldPath): unknown {
    this.#open(bytes, start, end, shapes)
    return this.#field(path)
  }

  /** Reads the header; `at` is then the first field. */
  #open(bytes: Uint8Array, start: number, end: number, dictionary: ShapeDictionary): void {
    const isOpen = this.#bytes === bytes && this.#ownStart === start
    this.#bytes = bytes
    this.#at = isOpen ? this.#contentAt : start
    this.#end = this.#documentEnd = end
    this.#depth = 0
    this.#text = ''
    this.#textStart = 0
    if (isOpen) return
    this.#ownStart = -1
    let own = -1
    const count = this.#varint()
    for (let i = 0; i < count; i++) {
      const id = this.#varint() - 1
      if (id === LOCAL_SHAPE) own = start
      this.#shapes[i] = id === LOCAL_SHAPE ? this.#localShape() : dictionary.get(id)
    }
    this.#shapeCount = count
    this.#ownStart = own
    this.#contentAt = this.#at
  }

  #localShape(): Shape {
    const reader = new ByteReader(this.#bytes, this.#at, this.#end)
    const names = readShapeNames(reader)
    const shape = new Shape(LOCAL_SHAPE, names, this.#bytes.subarray(this.#at, reader.at))
    this.#at = reader.at
    return shape
  }

  #shape(index: number): Shape {
    if (index >= this.#shapeCount) throw corruptBytes('a document lacks a shape')
    return this.#shapes[index]!
  }

  #fields(shape: Shape, target: Record<string, unknown>): Record<string, unknown> {
    const { names, mustDefine } = shape
    for (let i = 0; i < names.length; i++) {
      const name = names[i]!
      const value = this.#value()
      if (mustDefine && name in Object.prototype) defineField(target, name, value)
      else target[name] = value
    }
    return target
  }

  /** The field at a path, undefined if it is missing: values before it are skipped by their tags. */
  #field(path: FieldPath): unknown {
    const { names } = path
    let found = this.#seek(path.position(0, this.#shape(0)))
    for (let level = 1; found && level < names.length; level++) {
      const tag = this.#bytes[this.#take(1)]!
      if (tag === TAG_ARRAY) {
        this.#narrow()
        found = this.#seek(elementIndex(names[level]!))
      } else if (tag >= TAG_OBJECT && tag <= TAG_OBJECT_FAR) {
        const index = tag === TAG_OBJECT_FAR ? this.#varint() : tag - TAG_OBJECT
        this.#narrow()
        found = this.#seek(path.position(level, this.#shape(index)))
      } else if (tag >= TAG_PACKED && tag < TAG_OBJECT) {
        const elements = this.#container(tag) as ArrayLike<number>
        return level === names.length - 1 ? elements[elementIndex(names[level]!)] : undefined
      } else {
        return undefined
      }
    }
    return found ? this.#single() : undefined
  }

  /** The value at `at`. The caller wants nothing else of the document, so reading the text around it does not pay. */
  #single(): unknown {
    const bytes = this.#bytes
    const at = this.#at
    const length = bytes[at]! - TAG_STRING_SHORT
    if (length < 0 || length > STRING_SHORT_CHARS_MAX) return this.#value()
    this.#at = at + 1
    return shortString(bytes, this.#take(length), this.#at)
  }

  /** Skips `count` values; false if nothing follows them, or `count` is negative. */
  #seek(count: number): boolean {
    const bytes = this.#bytes
    const end = this.#end
    let at = this.#at
    for (let i = 0; i < count && at < end; i++) {
      const tag = bytes[at++]!
      const size = SIZES[tag]!
      if (size < SIZE_FOLLOWS) {
        at += size
        continue
      }
      if (size !== SIZE_FOLLOWS) throw corruptBytes('a document has an unknown tag')
      this.#at = at
      if (tag === TAG_OBJECT_FAR) this.#varint()
      const length = this.#varint()
      at = this.#take(length) + length
    }
    if (at > end) throw corruptBytes('a document ends too early')
    this.#at = at
    return count >= 0 && at < end
  }

  /** Reads a length; nothing beyond it belongs to the value at hand. */
  #narrow(): void {
    const length = this.#varint()
    this.#end = this.#take(length) + length
    this.#at -= length
  }

  /** The value at `at`, which moves behind it. */
  #value(): unknown {
    const bytes = this.#bytes
    const at = this.#at
    if (at >= this.#end) throw corruptBytes('a document ends too early')
    const tag = bytes[at]!
    this.#at = at + 1
    if (tag < SMALL_INTEGER_END) return tag
    if (tag <= TAG_STRING_SHORT + STRING_SHORT_CHARS_MAX) return this.#ascii(tag - TAG_STRING_SHORT)
    if (tag > TAG_POSITIVE && tag < TAG_POSITIVE + 16) return this.#integer(tag)
    switch (tag) {
      case TAG_NULL:
        return null
      case TAG_FALSE:
        return false
      case TAG_TRUE:
        return true
      case TAG_FLOAT64:
        return this.#float64()
      case TAG_STRING_ASCII:
        return this.#ascii(this.#varint())
      case TAG_STRING_TEXT: {
        const start = this.#take(this.#varint())
        return readText(bytes, start, this.#at)
      }
    }
    return this.#container(tag)
  }

  #ascii(length: number): string {
    const start = this.#take(length)
    if (start - this.#textStart + length > this.#text.length) {
      // As much as is likely to be asked for next.
      this.#textStart = start
      this.#text = readAscii(
        this.#bytes.subarray(start, Math.min(this.#documentEnd, start + Math.max(length, DOCUMENT_TEXT_BYTES))),
      )
    }
    return this.#text.slice(start - this.#textStart, start - this.#textStart + length)
  }

  #integer(tag: number): number {
    const size = tag & 7
    const start = this.#take(size)
    const bytes = this.#bytes
    let value = 0
    for (let i = start + size - 1; i >= start; i--) value = value * 256 + bytes[i]!
    return tag >= TAG_NEGATIVE ? -1 - value : value
  }

  #float64(): number {
    const bytes = this.#bytes
    const start = this.#take(8)
    for (let i = 0; i < 8; i++) doubleBytes[i] = bytes[start + i]!
    return double[0]!
  }

  #container(tag: number): unknown {
    const type = ELEMENT_TYPES[tag & 15]
    if (tag < TAG_OBJECT && tag >= TAG_PACKED && type !== undefined) {
      const elements = this.#elements(type)
      return tag < TAG_TYPED ? Array.from(elements) : elements
    }
    const isObject = tag >= TAG_OBJECT && tag <= TAG_OBJECT_FAR
    if (!isObject && tag !== TAG_ARRAY) throw corruptBytes('a document has an unknown tag')
    if (++this.#depth >= DOCUMENT_DEPTH_MAX) throw corruptBytes('a document is nested too deep')
    const index = tag === TAG_OBJECT_FAR ? this.#varint() : tag - TAG_OBJECT
    const end = this.#end
    this.#narrow()
    const value = isObject ? this.#fields(this.#shape(index), {}) : this.#array()
    if (this.#at !== this.#end) throw corruptBytes('an object is too long')
    this.#end = end
    this.#depth--
    return value
  }

  #array(): unknown[] {
    const array: unknown[] = []
    while (this.#at < this.#end) array.push(this.#value())
    return array
  }

  #elements(type: ElementType): ElementArray {
    const length = this.#varint()
    const start = this.#take(length)
    if (length % type.BYTES_PER_ELEMENT !== 0) throw corruptBytes('an array has half an element')
    // Copied, as the bytes belong to a page, and need not be aligned in it.
    const copy = new Uint8Array(length)
    copy.set(this.#bytes.subarray(start, this.#at))
    return new type(copy.buffer)
  }

  #varint(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.#take(1)]!
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }

  /** Moves on by that many bytes; returns where they start. */
  #take(count: number): number {
    const at = this.#at
    this.#at = at + count
    if (this.#at > this.#end) throw corruptBytes('a document ends too early')
    return at
  }
}

/** Text of one document that is decoded at once. */
const DOCUMENT_TEXT_BYTES = 4096

const SIZE_FOLLOWS = 254
/** By tag: how many bytes follow it, SIZE_FOLLOWS if they begin with their length, more if there is no such tag. */
const SIZES: Uint8Array = Uint8Array.from({ length: 256 }, (_, tag) => {
  if (tag < SMALL_INTEGER_END || (tag >= TAG_NULL && tag <= TAG_TRUE)) return 0
  if (tag <= TAG_STRING_SHORT + STRING_SHORT_CHARS_MAX) return tag - TAG_STRING_SHORT
  if (tag === TAG_FLOAT64) return 8
  if (tag > TAG_POSITIVE && tag < TAG_POSITIVE + 16) return tag & 7
  return tag >= TAG_STRING_ASCII && tag <= TAG_OBJECT_FAR ? SIZE_FOLLOWS : 255
})

const double = new Float64Array(1)
const doubleBytes = new Uint8Array(double.buffer)

const decoder: DocumentDecoder = new DocumentDecoder()
