/** What one write does to one document. */
import type { Key } from '../base/brand.ts'
import type { ShapeDictionary } from '../codec/shape.ts'
import type { WriteTransaction } from '../kv/key-value-store.ts'
import type { BodyView } from './body.ts'
import type { CollectionState } from './collection-state.ts'

/** One object for each document on its whole way, because bulk writes have very many. */
export class DocumentWrite {
  readonly id: string
  readonly key: Key
  /** `_rev` as handed in, if there was one. */
  readonly revision: string | undefined
  /** The document is deleted: there is no content. */
  readonly deleted: boolean
  /** Holds the encoded document; shared with others. There is room for the header of the body before `idStart`. */
  bytes: Uint8Array = NO_BYTES
  /** Where the length of the id stands, followed by the id. */
  idStart = 0
  contentStart = 0
  contentEnd = 0
  /** The body that is replaced: of the live document, or its tombstone. Found out in the transaction, as is what follows. */
  old: BodyView | undefined = undefined
  number = 0
  sequence = 0

  constructor(id: string, key: Key, revision: string | undefined, deleted: boolean) {
    this.id = id
    this.key = key
    this.revision = revision
    this.deleted = deleted
  }
}

/** Keeps indexes in step with documents; `index/` has it. Called after the bodies were written. Must not miss. */
export type MaintainIndexes = (
  transaction: WriteTransaction,
  collection: CollectionState,
  writes: readonly DocumentWrite[],
  /** What the content written refers to. Old bodies refer to the collection's. */
  shapes: ShapeDictionary,
) => void

const NO_BYTES: Uint8Array = new Uint8Array(0)
