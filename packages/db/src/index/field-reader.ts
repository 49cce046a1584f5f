/** Reads single fields of encoded documents, for their index entries. */
import { readField } from '../codec/decode-document.ts'
import { compileFieldPath } from '../codec/field-path.ts'
import type { FieldPath } from '../codec/field-path.ts'
import type { ShapeDictionary } from '../codec/shape.ts'

/** A BodyView or a DocumentWrite. */
export interface EncodedContent {
  readonly id: string
  readonly bytes: Uint8Array
  readonly contentStart: number
  readonly contentEnd: number
}

export class FieldReader {
  /** What the content refers to. */
  readonly shapes: ShapeDictionary
  private content: EncodedContent | undefined
  private readonly fields = new Map<string, Field>()
  /** Counts the documents loaded. */
  private turn = 0

  constructor(shapes: ShapeDictionary) {
    this.shapes = shapes
  }

  /** Turns to another document. */
  load(content: EncodedContent): void {
    this.content = content
    this.turn++
  }

  /** The value at a path in the document loaded; undefined if it is missing. Several indexes may ask for the same. */
  readonly read = (path: string): unknown => {
    let field = this.fields.get(path)
    if (field === undefined)
      this.fields.set(path, (field = { path: compileFieldPath(path), turn: 0, value: undefined }))
    if (field.turn !== this.turn) {
      const content = this.content!
      field.turn = this.turn
      // An id is made of its bytes when it is asked for.
      field.value =
        path === '_id'
          ? content.id
          : readField(content.bytes, content.contentStart, content.contentEnd, this.shapes, field.path)
    }
    return field.value
  }
}

interface Field {
  readonly path: FieldPath
  /** When `value` was read. */
  turn: number
  value: unknown
}
