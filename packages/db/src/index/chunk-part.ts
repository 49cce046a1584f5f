/** The entries that a chunk (key-chunk.ts) has for one index. */
import type { Key } from '../base/brand.ts'
import type { FieldReader } from './field-reader.ts'
import type { IndexDefinition } from './index-definition.ts'

export interface ChunkPart {
  readonly index: IndexDefinition
  /** Entries. */
  readonly count: number
  /** Memory used, about. */
  readonly bytes: number
  /** There is no room for more, whatever memory there is. */
  readonly full: boolean
  add(fields: FieldReader, documentNumber: number): void
  /** Before `keyAt` and the like, which take the place in key order. */
  sort(): void
  keyAt(place: number): Key
  documentAt(place: number): number
  /** Undefined: nothing. */
  valueAt(place: number): Uint8Array | undefined
}
