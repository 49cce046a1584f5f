/**
 * Unique indexes: no two live documents have one unique key. A document has a key if it has all fields of the index
 * (null is a value) and the index's selector matches it. In a multi index it has one key for each element of its array.
 *
 * Values are compared as they are. Where index keys hold only the start of a value, the documents are read.
 */
import { indexTreeName, type CollectionState } from '../document/catalog.ts'
import type { Key } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import { Miss } from '../base/miss.ts'
import { compareValues } from '../codec/collation.ts'
import { prefixUpperBound, decodeKey, KEY_NUMBER_BYTES } from '../codec/key-encoding.ts'
import type { ShapeDictionary } from '../codec/shape.ts'
import type { BodyView } from '../document/body.ts'
import { DocumentReader, existingTree } from '../document/document-reader.ts'
import { DocumentWrite, type PreparedWork, type Refusals } from '../document/document-write.ts'
import type { Snapshot, TreeReader, WriteTransaction } from '../kv/key-value-store.ts'
import {
  collationOf,
  elementsOf,
  encodeIndexValue,
  FieldReader,
  sortedValue,
  type IndexTests,
  type ReadPath,
} from './index-key.ts'
import type { IndexDefinition } from './index-definition.ts'

interface UniqueWork extends PreparedWork {
  readonly transaction: WriteTransaction
  readonly collection: CollectionState | undefined
  /** The unique indexes that are ready. */
  readonly unique: readonly IndexDefinition[]
  readonly tests: IndexTests
}

/** A unique key of a document. */
interface Claim {
  /** The key of an entry, without the document's number. */
  readonly key: string
  /** As they are in the document. */
  readonly values: readonly unknown[]
  /** As they are compared: in the order of strings of the index. */
  readonly compared: readonly unknown[]
  /** False: other values may have this key. */
  readonly exact: boolean
}

/** The claims of a document, given by its fields. */
function claimsOf(definition: IndexDefinition, tests: IndexTests, read: ReadPath): readonly Claim[] {
  const { fields, multi } = definition
  if (!tests.includes(definition, read)) return NO_CLAIMS
  const values = fields.map(({ path }) => read(path))
  if (!multi) return values.includes(undefined) ? NO_CLAIMS : [claim(definition, values)]
  const claims: Claim[] = []
  for (const element of elementsOf(values[0])) {
    if (element === undefined) continue
    const one = claim(definition, [element])
    if (!claims.some((other) => isSame(one, other))) claims.push(one)
  }
  return claims
}

export function isSame(left: Claim, right: Claim): boolean {
  if (left.key !== right.key) return false
  return left.exact || left.compared.every((value, at) => compareValues(value, right.compared[at]) === 0)
}

/** Finds the writes that would give two documents the same key. In a batch the earlier writes win. May miss. */
export function refuseDuplicates(work: UniqueWork): Refusals {
  const checks = work.unique.map((definition) => new UniqueCheck(definition, work))
  const refused = new Map<DocumentWrite, PannierError>()
  // A refused document keeps its present keys, which may block others.
  for (let before = -1; before < refused.size;) {
    before = refused.size
    let miss: Miss | undefined
    for (const write of work.writes) {
      if (refused.has(write)) continue
      try {
        const error = checks.map((check) => check.test(write)).find((found) => found !== undefined)
        if (error !== undefined) {
          refused.set(write, error)
          for (const check of checks) check.refuse(write)
        }
      } catch (thrown) {
        // The others continue, so that what they miss is fetched with it.
        if (!(thrown instanceof Miss)) throw thrown
        miss = thrown
      }
    }
    if (miss !== undefined) throw miss
  }
  return refused
}

/** How a write of the batch changes the keys of its document. */
interface KeyChange {
  readonly before: readonly Claim[]
  readonly after: readonly Claim[]
  /** The claims that the document did not have. */
  readonly news: readonly Claim[]
  readonly place: number
}

class UniqueCheck {
  readonly #definition: IndexDefinition
  readonly #tree: TreeReader | undefined
  readonly #reader: DocumentReader | undefined
  readonly #tests: IndexTests
  readonly #changes = new Map<DocumentWrite, KeyChange>()
  /** The documents in the batch. */
  readonly #numbers = new Set<number>()
  /** The document that claims a key in the batch: what it has, or will have. */
  readonly #claimants = new Map<string, { readonly claim: Claim; readonly write: DocumentWrite }[]>()
  readonly #refused = new Set<DocumentWrite>()
  readonly #failures = new Map<DocumentWrite, PannierError>()

  constructor(definition: IndexDefinition, { transaction, collection, tests, writes, shapes }: UniqueWork) {
    this.#definition = definition
    this.#tests = tests
    if (collection !== undefined) {
      this.#tree = existingTree(transaction, indexTreeName(collection.number, definition.number))
      this.#reader = new DocumentReader(transaction, collection)
    }
    const stored = new FieldReader(collection?.shapes ?? shapes)
    const written = new FieldReader(shapes)
    for (const [place, write] of writes.entries()) {
      const claims = (fields: FieldReader, content: Parameters<FieldReader['load']>[0]): readonly Claim[] => {
        fields.load(content)
        try {
          return claimsOf(definition, tests, fields.read)
        } catch (error) {
          // A value that can't be derived of one document refuses no other one.
          if (!(error instanceof PannierError)) throw error
          this.#failures.set(write, error)
          return NO_CLAIMS
        }
      }
      const { old, live } = write
      if (old !== undefined) this.#numbers.add(old.number)
      const before = old === undefined || old.deleted ? NO_CLAIMS : claims(stored, old)
      const after = live === undefined ? NO_CLAIMS : claims(live instanceof DocumentWrite ? written : stored, live)
      const news = after.filter((one) => !before.some((other) => isSame(one, other)))
      this.#changes.set(write, { before, after, news, place })
      this.#enter(write, after)
    }
  }

  /** Undefined: nothing stands in its way. */
  test(write: DocumentWrite): PannierError | undefined {
    for (const claim of this.#changes.get(write)!.news) {
      const other = this.#claimedBefore(claim, write) ?? this.#stored(claim)
      if (other !== undefined) return duplicate(this.#definition, claim, write.id, other)
    }
    return this.#failures.get(write)
  }

  /** Refuses a write: its document stays as it is. */
  refuse(write: DocumentWrite): void {
    this.#refused.add(write)
    this.#enter(write, this.#changes.get(write)!.before)
  }

  #enter(write: DocumentWrite, claims: readonly Claim[]): void {
    for (const claim of claims) {
      const known = this.#claimants.get(claim.key)
      if (known === undefined) this.#claimants.set(claim.key, [{ claim, write }])
      else known.push({ claim, write })
    }
  }

  /** The id of a document in the batch that has it already, or comes first. */
  #claimedBefore(claim: Claim, write: DocumentWrite): string | undefined {
    const place = this.#changes.get(write)!.place
    return this.#claimants.get(claim.key)?.find((other) => {
      if (other.write === write || !isSame(claim, other.claim)) return false
      const change = this.#changes.get(other.write)!
      if (this.#refused.has(other.write)) return change.before.includes(other.claim)
      return !change.news.includes(other.claim) || change.place < place
    })?.write.id
  }

  /** The id of another document that has it. */
  #stored(claim: Claim): string | undefined {
    if (this.#tree === undefined || this.#tree.count() === 0) return undefined
    const numbers = numbersWith(this.#tree, claim.key).filter((number) => !this.#numbers.has(number))
    if (numbers.length === 0) return undefined
    const bodies = this.#reader!.bodiesOf(claim.exact ? numbers.slice(0, 1) : numbers)
    if (claim.exact) return bodies[0]!.id
    const fields = new FieldReader(this.#reader!.collection.shapes)
    return bodies.find((body) => {
      fields.load(body)
      return claimsOf(this.#definition, this.#tests, fields.read).some((other) => isSame(claim, other))
    })?.id
  }
}

/** Documents with one key. */
export interface DuplicateKey {
  /** The values of the index's fields. */
  readonly key: readonly unknown[]
  /** The documents that have this key. */
  readonly ids: readonly string[]
}

/** The documents that claim what others claim too, among those whose entries have this key. May miss. */
export function duplicatesAt(
  snapshot: Snapshot,
  collection: CollectionState,
  definition: IndexDefinition,
  tests: IndexTests,
  key: string,
): DuplicateKey[] {
  if (lacksField(definition, key)) return []
  const tree = existingTree(snapshot, indexTreeName(collection.number, definition.number))
  const bodies = new DocumentReader(snapshot, collection).bodiesOf(numbersWith(tree, key))
  return groupClaims(definition, tests, collection.shapes, bodies, key)
}

/** Whether the key, without a number, belongs to documents that lack a field: they have no unique key. */
function lacksField({ fields }: IndexDefinition, key: string): boolean {
  let at = 0
  for (const { descending } of fields) {
    const { value, next } = decodeKey(key, at, descending)
    if (value === undefined) return true
    at = next
  }
  return false
}

export function withoutNumber(key: string): string {
  return key.slice(0, -KEY_NUMBER_BYTES)
}

function groupClaims(
  definition: IndexDefinition,
  tests: IndexTests,
  shapes: ShapeDictionary,
  bodies: readonly BodyView[],
  key: string,
): DuplicateKey[] {
  const fields = new FieldReader(shapes)
  const groups: { readonly claim: Claim; readonly ids: string[] }[] = []
  for (const body of bodies) {
    fields.load(body)
    for (const claim of claimsOf(definition, tests, fields.read)) {
      if (claim.key !== key) continue
      const group = groups.find((other) => isSame(claim, other.claim))
      if (group === undefined) groups.push({ claim, ids: [body.id] })
      else group.ids.push(body.id)
    }
  }
  return groups.filter(({ ids }) => ids.length > 1).map(({ claim, ids }) => ({ key: claim.values, ids }))
}

function numbersWith(tree: TreeReader, key: string): number[] {
  const numbers: number[] = []
  const cursor = tree.cursor({ gte: key as Key, lt: prefixUpperBound(key) })
  while (cursor.next()) numbers.push(cursor.keyNumber)
  return numbers
}

function claim(definition: IndexDefinition, values: readonly unknown[]): Claim {
  const { fields } = definition
  const collation = collationOf(definition)
  const compared = values.map((value, at) => sortedValue(value, fields[at]!.path, collation))
  let key = ''
  let exact = true
  compared.forEach((value, at) => {
    const { descending } = fields[at]!
    const encoded = encodeIndexValue(value, descending)
    if (typeof value === 'object' || (typeof value === 'string' && encoded.length > SHORT_BYTES)) {
      exact &&= decodeKey(encoded, 0, descending).exact
    }
    key += encoded
  })
  return { key, values, compared, exact }
}

/** So short an encoding of a string is whole. */
const SHORT_BYTES = 500

function duplicate(definition: IndexDefinition, { values }: Claim, id: string, other: string): PannierError {
  const index = definition.name
  const message = `The document '${id}' has the same key in the unique index '${index}' as '${other}'.`
  return new PannierError('PANNIER_NOT_UNIQUE', message, { details: { id, index, key: values, other } })
}

const NO_CLAIMS: readonly Claim[] = []
