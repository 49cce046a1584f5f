/**
 * Shapes: ordered lists of field names, stored once a collection instead of once a document.
 *
 * A collection's dictionary only grows, and a committed id never changes its meaning. Some shapes are not worth
 * keeping: they are too long, or the dictionary is full because an app uses objects as maps. Documents carry such a
 * shape with them.
 */
import { ByteReader, ByteWriter, corruptBytes } from './bytes.ts'
import { BYTES_PER_UNIT_MAX, readText, writeText } from './text.ts'

/** Shapes in a dictionary. */
export const SHAPES_MAX = 1024
/** Encoded bytes of a shape in a dictionary. */
export const SHAPE_NAMES_BYTES_MAX = 2048
/** Encoded bytes of all shapes in a dictionary: it is read whole when a database is opened. */
export const SHAPES_BYTES_MAX: number = 128 * 1024

/** The id of a shape that is in no dictionary. */
export const LOCAL_SHAPE = -1

export class Shape {
  readonly id: number
  readonly names: readonly string[]
  /** As stored; see `encodeShape`. */
  readonly encoded: Uint8Array
  /** Some field has a name that every object inherits (`__proto__`, …): these must be defined, as assigning may do otherwise. */
  readonly mustDefine: boolean
  private positions: Map<string, number> | undefined
  /** The hash of the names alone, the same in every database; kept here by hash-content.ts. */
  hash: Uint8Array | undefined

  constructor(id: number, names: readonly string[], encoded: Uint8Array) {
    this.id = id
    this.names = names
    this.encoded = encoded
    this.mustDefine = names.some((name) => name in Object.prototype)
  }

  /** The position of a field, else -1. */
  indexOf(name: string): number {
    this.positions ??= new Map(this.names.map((known, i) => [known, i]))
    return this.positions.get(name) ?? -1
  }
}

export class ShapeDictionary {
  /** Shapes that `resolve` has added since this dictionary was made: to be stored. */
  readonly added: readonly Shape[] = []
  readonly byId: (Shape | undefined)[]
  private readonly parent: ShapeDictionary | undefined
  private readonly root = new ShapeNode()
  private bytes = 0

  /** Takes stored entries: ids and encoded shapes. */
  constructor(entries: Iterable<readonly [number, Uint8Array]> = [], parent?: ShapeDictionary) {
    this.byId = parent === undefined ? [] : parent.byId.slice()
    this.bytes = parent === undefined ? 0 : parent.bytes
    this.parent = parent
    for (const [id, encoded] of entries) this.add(id, encoded)
  }

  get(id: number): Shape {
    const shape = this.byId[id]
    if (shape === undefined) throw corruptBytes(`shape ${id} is unknown`)
    return shape
  }

  /** A stored shape, e.g. one that another handle has committed. A known one is ignored. */
  add(id: number, encoded: Uint8Array): void {
    if (id < 0 || id >= SHAPES_MAX) throw corruptBytes(`a shape has the id ${id}`)
    if (this.byId[id] === undefined) this.insert(new Shape(id, decodeShape(encoded), encoded))
  }

  /** The shape with the names from `from` to `to`, if it is in the dictionary. Fast. */
  find(names: readonly string[], from: number = 0, to: number = names.length): Shape | undefined {
    const shape = findShape(this.root, names, from, to) ?? this.parent?.find(names, from, to)
    // A parent may have grown in another way since.
    return shape !== undefined && this.byId[shape.id] === shape ? shape : undefined
  }

  /** As `find`; a shape that is new is added, or local if it is not worth that. Keeps `names`. */
  resolve(names: readonly string[]): Shape {
    const found = this.find(names)
    if (found !== undefined) return found
    const encoded = encodeShape(names)
    const id = this.byId.length
    const bytes = this.bytes + encoded.length
    if (id >= SHAPES_MAX || encoded.length > SHAPE_NAMES_BYTES_MAX || bytes > SHAPES_BYTES_MAX) {
      return new Shape(LOCAL_SHAPE, names, encoded)
    }
    const shape = new Shape(id, names, encoded)
    this.insert(shape)
    ;(this.added as Shape[]).push(shape)
    return shape
  }

  /** A dictionary that starts as this one and grows on its own: for a transaction, which may fail. Cheap. */
  fork(): ShapeDictionary {
    return new ShapeDictionary([], this)
  }

  private insert(shape: Shape): void {
    while (this.byId.length < shape.id) this.byId.push(undefined)
    this.byId[shape.id] = shape
    this.bytes += shape.encoded.length
    insertShape(this.root, shape)
  }
}

/** A place in the tree of all shapes' names. */
class ShapeNode {
  children: Map<string, ShapeNode> | undefined
  shape: Shape | undefined
  // The step taken last: most documents of a collection are alike.
  lastName: string | undefined
  lastChild: ShapeNode = this
}

function findShape(root: ShapeNode, names: readonly string[], from: number, to: number): Shape | undefined {
  let node = root
  for (let i = from; i < to; i++) {
    const name = names[i]!
    if (node.lastName !== name) {
      const child = node.children?.get(name)
      if (child === undefined) return undefined
      node.lastName = name
      node.lastChild = child
    }
    node = node.lastChild
  }
  return node.shape
}

function insertShape(root: ShapeNode, shape: Shape): void {
  let node = root
  for (const name of shape.names) {
    let child = node.children?.get(name)
    if (child === undefined) (node.children ??= new Map()).set(name, (child = new ShapeNode()))
    node = child
  }
  node.shape = shape
}

/** A count, then each name as its length in bytes and WTF-8. */
export function encodeShape(names: readonly string[]): Uint8Array {
  const writer = new ByteWriter()
  writer.varint(names.length)
  for (const name of names) {
    const bytes = new Uint8Array(name.length * BYTES_PER_UNIT_MAX)
    const length = writeText(bytes, 0, name)
    writer.varint(length)
    writer.raw(bytes.subarray(0, length))
  }
  return writer.finish()
}

export function decodeShape(encoded: Uint8Array): string[] {
  const reader = new ByteReader(encoded)
  const names = readShapeNames(reader)
  if (!reader.done) throw corruptBytes('a shape is too long')
  return names
}

/** Reads an encoded shape in the midst of other things. */
export function readShapeNames(reader: ByteReader): string[] {
  const names: string[] = []
  for (let count = reader.varint(); count > 0; count--) {
    const length = reader.varint()
    const { at } = reader
    reader.raw(length)
    names.push(readText(reader.bytes, at, at + length))
  }
  return names
}
