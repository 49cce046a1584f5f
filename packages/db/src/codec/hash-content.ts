/** Hashes of encoded documents, from which revisions are made. */
import { ByteReader } from './bytes.ts'
import { type Hash128, hash128 } from './hash128.ts'
import { LOCAL_SHAPE, readShapeNames, type Shape, type ShapeDictionary } from './shape.ts'

/**
 * Hashes a document's content. Equal content (fields in equal order) has an equal hash, whatever the dictionary: it is
 * taken of the names in each shape and the stream.
 */
export function hashContent(
  hash: Hash128,
  bytes: Uint8Array,
  start: number,
  end: number,
  shapes: ShapeDictionary,
): void {
  // Most documents are of one shape, whose number is small.
  const only = bytes[start] === 1 && start + 1 < end ? bytes[start + 1]! - 1 : LOCAL_SHAPE
  if (only !== LOCAL_SHAPE && only < 127) {
    hash.update(hashOf(shapes.get(only)))
    hash.update(bytes, start + 2, end)
    return
  }
  const header = new ByteReader(bytes, start, end)
  for (let count = header.varint(); count > 0; count--) {
    const id = header.varint() - 1
    if (id === LOCAL_SHAPE) {
      const { at } = header
      readShapeNames(header)
      hash.update(hash128(bytes, at, header.at))
    } else hash.update(hashOf(shapes.get(id)))
  }
  hash.update(bytes, header.at, end)
}

function hashOf(shape: Shape): Uint8Array {
  return (shape.hash ??= hash128(shape.encoded))
}
