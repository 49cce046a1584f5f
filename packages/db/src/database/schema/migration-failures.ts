/**
 * Documents that could not be migrated, in the tree `<collection>/failures`: JSON by the key of their id. An entry
 * holds as long as the document has the revision that it names; any later write was valid.
 */
import type { Key } from '../../base/brand.ts'
import { decodeIdKey } from '../../codec/key-encoding.ts'
import { migrationFailuresTree, type CollectionState } from '../../document/catalog.ts'
import { DocumentReader } from '../../document/document-reader.ts'
import type { Snapshot, TreeReader, WriteTransaction } from '../../kv/key-value-store.ts'
import type { DocumentIssue } from './validator.ts'

/** A document that is kept as it was, because it could not be migrated. */
export interface MigrationFailure {
  /** The id of the document. */
  readonly id: string
  /** The revision of the document. */
  readonly rev: string
  /** The version that the document still has. */
  readonly version: number
  /** The message: why it could not be migrated. */
  readonly message: string
  /** The issues of the schema; empty if the migration itself failed. */
  readonly issues: readonly DocumentIssue[]
}

/** The result of a retry. */
export interface RetryResult {
  /** Documents that are migrated now. */
  readonly migrated: number
  /** Documents that failed again. */
  readonly failed: number
}

export type FailureRecord = Omit<MigrationFailure, 'id'>

/** An entry of the tree has to stay small. */
const MESSAGE_CHARS_MAX = 300
const ISSUES_MAX = 5
const PATH_LENGTH_MAX = 10

/** All failures that still hold. */
export function listFailures(snapshot: Snapshot, state: CollectionState | undefined): MigrationFailure[] {
  const tree = state && failuresTree(snapshot, state)
  if (state === undefined || tree === undefined) return []
  const failures: MigrationFailure[] = []
  const cursor = tree.cursor()
  while (cursor.next()) failures.push({ id: decodeIdKey(cursor.key), ...parseFailure(cursor.value) })
  const bodies = new DocumentReader(snapshot, state).getMany(failures.map(({ id }) => id))
  return failures.filter(({ rev }, at) => bodies[at]?.revision === rev)
}

export function failuresTree(snapshot: Snapshot, { number }: CollectionState): TreeReader | undefined {
  return snapshot.tree(migrationFailuresTree(number))
}

/** `undefined`: the document has not failed, or does no longer. */
export function writeFailures(
  transaction: WriteTransaction,
  { number }: CollectionState,
  failures: ReadonlyMap<Key, FailureRecord | undefined>,
): void {
  const name = migrationFailuresTree(number)
  let tree = transaction.tree(name)
  for (const [key, failure] of failures) {
    if (failure === undefined) tree?.delete(key)
    else {
      tree ??= transaction.createTree(name, 'ordered')
      tree.put(key, encodeFailure(failure))
    }
  }
}

export function parseFailure(value: Uint8Array): FailureRecord {
  return JSON.parse(new TextDecoder().decode(value)) as FailureRecord
}

function encodeFailure({ rev, version, message, issues }: FailureRecord): Uint8Array {
  const short = issues.slice(0, ISSUES_MAX).map((issue) => ({
    message: issue.message.slice(0, MESSAGE_CHARS_MAX),
    path: issue.path
      .slice(0, PATH_LENGTH_MAX)
      .map((key) => (typeof key === 'string' ? key.slice(0, MESSAGE_CHARS_MAX) : key)),
  }))
  const record: FailureRecord = { rev, version, message: message.slice(0, MESSAGE_CHARS_MAX), issues: short }
  return new TextEncoder().encode(JSON.stringify(record))
}
