/**
 * Encodes documents (document-format.ts).
 *
 * Input is treated as by JSON.stringify. Undefined fields are left out, undefined elements and holes become null, -0
 * becomes 0. `toJSON` is called, except that of a Date: its type would lie about what is read back
 * (docs/adr/0017-dates.md). Values that JSON would lose silently (NaN, functions, maps, …) are a TypeError that names
 * their path.
 */
import { PannierError } from '../base/errors.ts'
import { ArgumentError, isObject } from '../base/options.ts'
import { type ByteWriter, isNode, varintBytes, writeVarint } from './bytes.ts'
import {
  DOCUMENT_BYTES_MAX,
  DOCUMENT_DEPTH_MAX,
  ELEMENT_TYPES,
  PACKED_COUNT_MIN,
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
import { LOCAL_SHAPE, type Shape, type ShapeDictionary } from './shape.ts'
import { BYTES_PER_UNIT_MAX, writeText } from './text.ts'

/**
 * Appends the content of a document: everything but its top-level fields whose names start with '_' (`__proto__` is
 * data, though). Shapes that are new are added to `shapes`. When it throws, `writer` is as before, but `shapes` may have grown.
 */
export function encodeDocument(document: object, shapes: ShapeDictionary, writer: ByteWriter): void {
  const start = writer.length
  // toJSON is foreign code, and may encode another document in the meantime.
  const encoder = idle ?? new DocumentEncoder()
  idle = undefined
  try {
    encoder.encode(document, shapes, writer)
  } catch (error) {
    writer.length = start
    throw error
  } finally {
    idle = encoder
  }
}

class DocumentEncoder {
  #writer!: ByteWriter
  /** The bytes of the writer's buffer, and how far it is filled. */
  #bytes!: Uint8Array
  #at = 0
  #start = 0
  #shapes!: ShapeDictionary
  /** The shapes met so far, in order; what lies beyond `usedCount` is of an earlier document. */
  readonly #used: Shape[] = []
  #usedCount = 0
  /** Index in `used` of each local shape, by its names: a shape that is used again must have the same index. */
  readonly #usedLocal = new Map<string, number>()
  /** The fields of the objects that are being encoded, the innermost last: a stack up to `top`. */
  readonly #names: string[] = []
  readonly #values: unknown[] = []
  #top = 0
  /** Leads to the container being encoded, for messages. */
  readonly #trail: (string | number)[] = []
  #depth = 0
  #mayInherit = false
  /**
   * Header bytes of the previous document. Most headers are equally long, so the stream can mostly stay where it is
   * written.
   */
  #headerBytes = 2

  encode(document: object, shapes: ShapeDictionary, writer: ByteWriter): void {
    const start = writer.length
    this.#writer = writer
    this.#shapes = shapes
    this.#start = start
    this.#depth = 0
    this.#mayInherit = isPrototypePolluted()
    this.#top = 0
    this.#usedCount = 0
    if (this.#usedLocal.size > 0) this.#usedLocal.clear()
    this.#bytes = writer.bytes
    this.#at = start
    const expectedBytes = this.#headerBytes
    this.#reserve(expectedBytes)
    this.#at = start + expectedBytes
    const root = resolveToJson(document, '')
    if (!isObject(root) || ArrayBuffer.isView(root)) this.#fail(root, '')
    this.#container(root, '')
    const headerBytes = this.#headerLength()
    if (headerBytes !== expectedBytes) this.#move(start + expectedBytes, headerBytes - expectedBytes)
    this.#header(start)
    this.#headerBytes = headerBytes
    if (this.#at - start > DOCUMENT_BYTES_MAX) throw tooLarge()
    writer.length = this.#at
  }

  #headerLength(): number {
    let length = varintBytes(this.#usedCount)
    for (let i = 0; i < this.#usedCount; i++) {
      const shape = this.#used[i]!
      length += shape.id === LOCAL_SHAPE ? 1 + shape.encoded.length : varintBytes(shape.id + 1)
    }
    return length
  }

  #header(at: number): void {
    const bytes = this.#bytes
    at = writeVarint(bytes, at, this.#usedCount)
    for (let i = 0; i < this.#usedCount; i++) {
      const shape = this.#used[i]!
      at = writeVarint(bytes, at, shape.id + 1)
      if (shape.id !== LOCAL_SHAPE) continue
      bytes.set(shape.encoded, at)
      at += shape.encoded.length
    }
  }

  #value(value: unknown, key: string | number): void {
    this.#reserve(SCALAR_BYTES_MAX)
    if (typeof value === 'string') this.#string(value)
    else if (typeof value === 'number') this.#number(value, key)
    else if (value === null || value === undefined) this.#bytes[this.#at++] = TAG_NULL
    else if (typeof value === 'boolean') this.#bytes[this.#at++] = value ? TAG_TRUE : TAG_FALSE
    else if (typeof value !== 'object') this.#fail(value, key)
    else if (ArrayBuffer.isView(value)) this.#typedArray(value, key)
    else this.#container(value, key)
  }

  #number(value: number, key: string | number): void {
    const bytes = this.#bytes
    let at = this.#at
    if (!Number.isSafeInteger(value)) {
      if (value - value !== 0) this.#fail(value, key)
      double[0] = value
      bytes[at++] = TAG_FLOAT64
      for (let i = 0; i < 8; i++) bytes[at++] = doubleBytes[i]!
    } else if (value >= 0 && value < SMALL_INTEGER_END) {
      bytes[at++] = value
    } else {
      const tagAt = at++
      let rest = value < 0 ? -1 - value : value
      while (rest > 0xffffffff) {
        bytes[at++] = rest % 256
        rest = Math.floor(rest / 256)
      }
      do {
        bytes[at++] = rest
        rest >>>= 8
      } while (rest > 0)
      bytes[tagAt] = (value < 0 ? TAG_NEGATIVE : TAG_POSITIVE) + at - tagAt - 1
    }
    this.#at = at
  }

  #string(value: string): void {
    const { length } = value
    this.#reserve(length * BYTES_PER_UNIT_MAX + SCALAR_BYTES_MAX)
    if (length > STRING_SHORT_CHARS_MAX) return this.#longString(value)
    const bytes = this.#bytes
    let at = this.#at
    bytes[at++] = TAG_STRING_SHORT + length
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i)
      if (code > 127) return this.#text(value)
      bytes[at++] = code
    }
    this.#at = at
  }

  #longString(value: string): void {
    const bytes = this.#bytes
    const at = this.#at
    const { length } = value
    const body = writeVarint(bytes, at + 1, length)
    if (length > LOOPED_CHARS_MAX) {
      const { written } = utf8.encodeInto(value, bytes.subarray(body))
      if (written > length) return this.#text(value)
    } else {
      for (let i = 0; i < length; i++) {
        const code = value.charCodeAt(i)
        if (code > 127) return this.#text(value)
        bytes[body + i] = code
      }
    }
    bytes[at] = TAG_STRING_ASCII
    this.#at = body + length
  }

  #text(value: string): void {
    this.#bytes[this.#at++] = TAG_STRING_TEXT
    const body = ++this.#at
    this.#at = writeText(this.#bytes, body, value)
    this.#close(body)
  }

  #typedArray(value: ArrayBufferView, key: string | number): void {
    const type = ELEMENT_TYPES.findIndex((type) => value instanceof type)
    if (type < 0) this.#fail(value, key)
    this.#elements(TAG_TYPED + type, value)
  }

  #elements(tag: number, elements: ArrayBufferView): void {
    const length = elements.byteLength
    this.#reserve(length + SCALAR_BYTES_MAX)
    this.#bytes[this.#at] = tag
    this.#at = writeVarint(this.#bytes, this.#at + 1, length)
    this.#bytes.set(new Uint8Array(elements.buffer, elements.byteOffset, length), this.#at)
    this.#at += length
  }

  #container(value: object, key: string | number): void {
    if (this.#depth === DOCUMENT_DEPTH_MAX) {
      throw new PannierError(
        'PANNIER_DOCUMENT_TOO_DEEP',
        `The document is nested deeper than ${DOCUMENT_DEPTH_MAX} levels, or contains itself.`,
      )
    }
    if (Array.isArray(value)) {
      this.#trail[this.#depth++] = key
      this.#array(value)
    } else {
      const prototype: unknown = Object.getPrototypeOf(value)
      const isUsual = prototype === Object.prototype || prototype === null
      // An object of another realm has another Object.prototype, but nothing above that either.
      if (!isUsual && Object.getPrototypeOf(prototype) !== null) this.#fail(value, key)
      this.#trail[this.#depth++] = key
      this.#object(value, !isUsual || this.#mayInherit)
    }
    this.#depth--
  }

  #array(value: readonly unknown[]): void {
    const type = packedType(value)
    if (type >= 0) {
      const elements = new ELEMENT_TYPES[type]!(value as readonly number[])
      // Makes 0 of -0.
      if (type === TYPE_FLOAT64) for (let i = 0; i < elements.length; i++) elements[i]! += 0
      return this.#elements(TAG_PACKED + type, elements)
    }
    this.#bytes[this.#at++] = TAG_ARRAY
    const body = ++this.#at
    for (let i = 0; i < value.length; i++) this.#value(resolveToJson(value[i], i), i)
    this.#close(body)
  }

  #object(value: object, mayInherit: boolean): void {
    const names = this.#names
    const values = this.#values
    const isRoot = this.#depth === 1
    const from = this.#top
    let to = from
    for (const name in value) {
      if ((mayInherit && !Object.hasOwn(value, name)) || (isRoot && isReserved(name))) continue
      const field = resolveToJson((value as Record<string, unknown>)[name], name)
      if (field === undefined) continue
      names[to] = name
      values[to++] = field
    }
    this.#top = to
    const index = this.#use(from, to)
    if (isRoot) {
      for (let i = from; i < to; i++) this.#value(values[i], names[i]!)
    } else {
      this.#bytes[this.#at++] = Math.min(TAG_OBJECT + index, TAG_OBJECT_FAR)
      if (index >= TAG_OBJECT_FAR - TAG_OBJECT) this.#at = writeVarint(this.#bytes, this.#at, index)
      const body = ++this.#at
      for (let i = from; i < to; i++) this.#value(values[i], names[i]!)
      this.#close(body)
    }
    this.#top = from
  }

  /** The index in the header of the shape with these names. */
  #use(from: number, to: number): number {
    const used = this.#used
    const usedCount = this.#usedCount
    const shape = this.#shapes.find(this.#names, from, to) ?? this.#shapes.resolve(this.#names.slice(from, to))
    if (shape.id === LOCAL_SHAPE) {
      const key = JSON.stringify(shape.names)
      const known = this.#usedLocal.get(key)
      if (known !== undefined) return known
      this.#usedLocal.set(key, usedCount)
    } else {
      for (let i = 0; i < usedCount; i++) if (used[i] === shape) return i
    }
    used[usedCount] = shape
    return this.#usedCount++
  }

  /** Writes the length of what starts at `body` and ends here, for which one byte was left free. */
  #close(body: number): void {
    const length = this.#at - body
    if (length >= 128) this.#move(body, varintBytes(length) - 1)
    writeVarint(this.#bytes, body - 1, length)
  }

  /** Moves what starts at `from` and ends here. */
  #move(from: number, distance: number): void {
    this.#reserve(distance)
    this.#bytes.copyWithin(from + distance, from, this.#at)
    this.#at += distance
  }

  #reserve(count: number): void {
    if (this.#at + count <= this.#bytes.length) return
    if (this.#at + count - this.#start > DOCUMENT_BYTES_MAX * BYTES_PER_UNIT_MAX) throw tooLarge()
    this.#writer.length = this.#at
    this.#writer.reserve(count)
    this.#bytes = this.#writer.bytes
  }

  #fail(value: unknown, key: string | number): never {
    const path = [...this.#trail.slice(1, this.#depth), ...(this.#depth > 0 ? [key] : [])].map(pathSegment).join('')
    const hint = isDate(value) ? ' (store date.toISOString() or date.getTime())' : ''
    throw new ArgumentError(`$${path} must be a JSON value${hint}`, value)
  }
}

let idle: DocumentEncoder | undefined

/** Bytes of the longest value that is no string and no container, and of what precedes one of these. */
const SCALAR_BYTES_MAX = 16
const TYPE_INT8 = 0
const TYPE_UINT8 = 1
const TYPE_INT16 = 2
const TYPE_INT32 = 3
const TYPE_FLOAT64 = 4

/** Up to here a loop is faster than the call of the encoder, which costs about a microsecond in Chromium, and little in Node. */
const LOOPED_CHARS_MAX: number = isNode ? 60 : 600
const utf8 = new TextEncoder()
const double = new Float64Array(1)
const doubleBytes = new Uint8Array(double.buffer)

/** The value that JSON.stringify would use instead. */
function resolveToJson(value: unknown, key: string | number): unknown {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  const { toJSON } = value as { toJSON?: unknown }
  // A Date is refused as what it is.
  if (toJSON === undefined || isDate(value)) return value
  return typeof toJSON === 'function' ? (toJSON.call(value, String(key)) as unknown) : value
}

/** Also one of another realm (a frame, a test environment). */
function isDate(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object Date]'
}

/** True while Object.prototype has enumerable fields. */
function isPrototypePolluted(): boolean {
  for (const _ in Object.prototype) return true
  return false
}

/** The position in ELEMENT_TYPES of the smallest type that holds every element; -1: not to be packed. */
function packedType(value: readonly unknown[]): number {
  if (value.length < PACKED_COUNT_MIN) return -1
  let min = 0
  let max = 0
  let integers = true
  for (let i = 0; i < value.length; i++) {
    const element = value[i]
    if (typeof element !== 'number' || element - element !== 0) return -1
    if (element < min) min = element
    else if (element > max) max = element
    if ((element | 0) !== element) integers = false
  }
  if (!integers) return TYPE_FLOAT64
  if (min >= -128 && max <= 127) return TYPE_INT8
  if (min >= 0 && max <= 255) return TYPE_UINT8
  return min >= -32768 && max <= 32767 ? TYPE_INT16 : TYPE_INT32
}

function pathSegment(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}

function tooLarge(): PannierError {
  return new PannierError('PANNIER_DOCUMENT_TOO_LARGE', `The document takes more than ${DOCUMENT_BYTES_MAX} bytes.`)
}

/** Such names at the top of a document are not content. `__proto__` is data wherever it is. So is what CouchDB's replicator and PouchDB write. */
export function isReserved(name: string): boolean {
  return name.charCodeAt(0) === UNDERSCORE && name !== '__proto__' && !CONTENT_FIELD.test(name)
}

const CONTENT_FIELD = /^_(?:access|replication_(?:id|stat(?:e(?:_time|_reason)?|s)))$/

const UNDERSCORE = 95
