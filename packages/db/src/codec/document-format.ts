/**
 * The format of a document's content. Numbers are little-endian, lengths are varints (bytes.ts).
 *
 *   content   header, stream
 *   header    count of the shapes used; each in order of first use: its id + 1, or 0 and the shape itself (`encodeShape`)
 *   stream    the tag of the document's own shape, then the values of its fields in order
 *   value     one tag byte, then
 *     00..3f  nothing: the integer itself
 *     40..7f  1 byte a char: an ASCII string of tag - 40 chars
 *     a0..    see below
 *     d0..de  an object of the tag - d0'th shape in the header: length in bytes of what follows, values
 *     df      an object, with the index of its shape before the length
 *     e1..e7  tag - e0 bytes: a positive integer
 *     e9..ef  tag - e8 bytes: a negative integer n as -1 - n
 *
 * The stream names shapes only by their index in the header. So equal documents have equal streams in every database,
 * whatever its dictionary.
 */
export const TAG_STRING_SHORT = 0x40
export const TAG_NULL = 0xa0
export const TAG_FALSE = 0xa1
export const TAG_TRUE = 0xa2
/** A float of 64 bits: 8 bytes. */
export const TAG_FLOAT64 = 0xa3
/** Length in bytes, ASCII. */
export const TAG_STRING_ASCII = 0xa4
/** A string: length in bytes, WTF-8. */
export const TAG_STRING_TEXT = 0xa5
/** An array: length in bytes, values. */
export const TAG_ARRAY = 0xa6
/** Plus the position in ELEMENT_TYPES: a plain array of numbers. Length in bytes, elements. */
export const TAG_PACKED = 0xb0
/** Plus the position in ELEMENT_TYPES: a typed array. Length in bytes, elements. */
export const TAG_TYPED = 0xc0
export const TAG_OBJECT = 0xd0
export const TAG_OBJECT_FAR = 0xdf
export const TAG_POSITIVE = 0xe0
export const TAG_NEGATIVE = 0xe8

/** The end of small integers: those below it are their own tag. */
export const SMALL_INTEGER_END = 0x40
/** Chars of a string whose length is in its tag. */
export const STRING_SHORT_CHARS_MAX = 63

export type ElementArray =
  | Int8Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>
  | Int16Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>
  | Uint8ClampedArray<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Float32Array<ArrayBuffer>

export interface ElementType {
  readonly BYTES_PER_ELEMENT: number
  new (source: ArrayLike<number>): ElementArray
  new (buffer: ArrayBuffer): ElementArray
}

/** Positions are part of the format. Plain arrays of numbers use the first five: the smallest that holds every element. */
export const ELEMENT_TYPES: readonly ElementType[] = [
  Int8Array,
  Uint8Array,
  Int16Array,
  Int32Array,
  Float64Array,
  Uint8ClampedArray,
  Uint16Array,
  Uint32Array,
  Float32Array,
]

/** Shorter arrays of numbers are not packed. */
export const PACKED_COUNT_MIN = 4

/** Objects and arrays inside one another, the document itself included. Deeper ones could exhaust the stack. */
export const DOCUMENT_DEPTH_MAX = 200
/** Encoded bytes of a document's content. A document is read and written in one piece. */
export const DOCUMENT_BYTES_MAX: number = 64 * 1024 * 1024
/** Bytes of the JSON of an imported document, its attachments included. It is parsed in one piece. */
export const DOCUMENT_TEXT_BYTES_MAX: number = 128 * 1024 * 1024
