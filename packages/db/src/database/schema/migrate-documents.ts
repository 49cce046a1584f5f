/**
 * Migrates single documents, and writes them. As after any update, the new revision depends only on the old one and the
 * new content. So replicas that migrate the same document agree. A document whose content does not change keeps its
 * revision.
 */
import type { Key } from '../../base/brand.ts'
import { PannierError } from '../../base/errors.ts'
import { badArgument } from '../../base/options.ts'
import { isPlainObject } from '../../codec/collation.ts'
import { isReserved } from '../../codec/encode-document.ts'
import { hashContent, Hash128, HASH_BYTES } from '../../codec/hash.ts'
import { toHex } from '../../codec/bytes.ts'
import type { ShapeDictionary } from '../../codec/shape.ts'
import { BodyView } from '../../document/body.ts'
import type { CollectionState } from '../../document/catalog.ts'
import { DocumentReader } from '../../document/document-reader.ts'
import { checkTargets, encodeBatch, guessShapes } from '../../document/encoded-batch.ts'
import { deleteDocuments, updateDocuments, type WriteContext } from '../../document/write-documents.ts'
import type { WriteTransaction } from '../../kv/key-value-store.ts'
import type { JsonObject } from '../collection/document-types.ts'
import type { CollectionSchema } from './collection-schema.ts'
import { type FailureRecord, writeFailures } from './migration-failures.ts'

export interface OldDocument {
  readonly reader: DocumentReader
  /** The body, and its sequence number. */
  readonly bytes: Uint8Array
  readonly sequence: number
  /** The version that it has. */
  readonly from: number
  /** There is an entry of an earlier failure. */
  readonly hasFailed: boolean
}

export interface MigratedDocument {
  readonly id: string
  readonly key: Key
  /** The revision that was migrated: another one is left alone. */
  readonly rev: string
  /** The new document: undefined where nothing changes, null where it is to be deleted. */
  readonly document: JsonObject | null | undefined
  readonly failure: FailureRecord | undefined
  readonly hasFailed: boolean
}

/** Migrates a document. Never rejects: what goes wrong is the outcome. */
export async function migrateDocument(schema: CollectionSchema, old: OldDocument): Promise<MigratedDocument> {
  const { reader, from, hasFailed } = old
  const { shapes } = reader.collection
  const body = new BodyView().load(old.bytes, old.sequence)
  const known = { id: body.id, key: body.key, rev: body.revision, hasFailed }
  try {
    const migrated = await runMigrations(schema, contentOf(reader.decode(body)), from)
    if (migrated === null) return { ...known, document: null, failure: undefined }
    const validator = await schema.validator
    const document = validator === undefined ? migrated : await validator.check(migrated)
    if (document instanceof PannierError) throw document
    // What can't be stored must fail here, where it fails alone.
    const batch = encodeBatch([document], guessShapes(reader.collection, false), () => known.id)
    const [write] = batch.writes
    const before = contentHash(body, shapes)
    const unchanged = before === contentHash(write!, batch.shapes)
    return { ...known, document: unchanged ? undefined : (document as JsonObject), failure: undefined }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const issues = error instanceof PannierError ? (error.details['issues'] as FailureRecord['issues']) : undefined
    return { ...known, document: undefined, failure: { rev: known.rev, version: from, message, issues: issues ?? [] } }
  }
}

/** Writes those whose revision is still the one that was migrated, and notes the failures. May miss before it writes. */
export function applyMigrated(
  transaction: WriteTransaction,
  writing: WriteContext,
  state: CollectionState,
  migrated: readonly MigratedDocument[],
): CollectionState {
  const bodies = new DocumentReader(transaction, state).getMany(migrated.map(({ id }) => id))
  const current = migrated.filter(({ rev }, at) => bodies[at]?.revision === rev)
  const changed = new Map(current.flatMap(({ id, document }) => (document ? [[id, document] as const] : [])))
  updateDocuments(transaction, writing, [...changed.keys()], (stored) => ({
    ...Object.fromEntries(Object.entries(stored).filter(([name]) => isReserved(name))),
    ...changed.get(stored._id),
  }))
  const gone = current.filter(({ document }) => document === null)
  deleteDocuments(transaction, writing, checkTargets(gone.map(({ id }) => id)))
  const noted = current.filter(({ failure, hasFailed }) => failure !== undefined || hasFailed)
  if (noted.length > 0)
    writeFailures(transaction, state, new Map(noted.map(({ key, failure }) => [key, failure] as const)))
  // It may have got new shapes.
  return writing.catalog.collection(transaction, writing.name)!
}

async function runMigrations(
  { migrations, version }: CollectionSchema,
  document: JsonObject & { readonly _id: string },
  from: number,
): Promise<(JsonObject & { readonly _id: string }) | null> {
  const { _id } = document
  let current = document
  for (let to = from + 1; to <= version!; to++) {
    const result: unknown = await migrations[to]!(current)
    if (!isPlainObject(result)) throw badArgument(`migrations[${to}]()`, 'the result must be the new document', result)
    if (result['_deleted'] === true) return null
    if (result['_id'] !== undefined && result['_id'] !== _id)
      throw badArgument(`migrations[${to}]()`, `_id must stay '${_id}'`, result['_id'])
    current = { ...result, _id }
  }
  return current
}

/** A document as a migration sees it: of what is the database's only the `_id`. */
function contentOf(stored: JsonObject & { readonly _id: string }): JsonObject & { readonly _id: string } {
  const content = Object.fromEntries(Object.entries(stored).filter(([name]) => !isReserved(name)))
  return { _id: stored._id, ...content }
}

function contentHash(
  { bytes, contentStart, contentEnd }: Pick<BodyView, 'bytes' | 'contentStart' | 'contentEnd'>,
  shapes: ShapeDictionary,
): string {
  const hash = new Hash128()
  const digest = new Uint8Array(HASH_BYTES)
  hashContent(hash, bytes, contentStart, contentEnd, shapes)
  hash.digest(digest)
  return toHex(digest)
}
