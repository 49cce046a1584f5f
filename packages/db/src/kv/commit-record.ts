/**
 * What one commit changes, and its bytes in the log.
 *
 *     varint trees created: varint id, u8 (reducer << 4 | kind), varint length of the name, name (byte string)
 *     varint trees dropped: varint id
 *     varint trees changed: varint id, varint operations, each
 *         varint (bytes that its key shares with the one before << 2 | operation: 0 insert, 1 replace, 2 remove)
 *         varint length of the rest of the key, that rest
 *         varint length of the value, and unless it is a removal the value
 */
import type { ReducerId } from '../btree/reducer.ts'
import type { Key, CommitSequence } from '../base/brand.ts'
import { byteStringOf, ByteReader, corruptBytes, ByteWriter, sharedPrefixLength } from '../codec/bytes.ts'
import { LOG_HEADER_BYTES, sealLogRecord } from '../pager/log-record.ts'
import type { Change } from './overlay.ts'
import type { TreeKind } from './key-value-store.ts'

export const OPERATION_INSERT = 0
export const OPERATION_REPLACE = 1
export const OPERATION_REMOVE = 2

export type Operation = 0 | 1 | 2

/** The operations on one tree, in order. */
export interface TreeOperations {
  readonly tree: number
  readonly operations: Operation[]
  readonly keys: Key[]
  readonly changes: Change[]
}

export interface CreatedTree {
  readonly id: number
  readonly name: string
  readonly kind: TreeKind
  readonly reducer: ReducerId | undefined
}

export interface CommitBody {
  readonly created: readonly CreatedTree[]
  readonly dropped: readonly number[]
  readonly trees: readonly TreeOperations[]
}

const KINDS: readonly TreeKind[] = ['ordered', 'sequence', 'inline']

/** One byte: reducer << 4 | kind. */
export function treeKindOf(number: number): Pick<CreatedTree, 'kind' | 'reducer'> {
  const kind = KINDS[number & 15]
  if (kind === undefined) throw corruptBytes('a tree is of an unknown kind')
  return { kind, reducer: number >> 4 || undefined }
}

/** The body of a record that was verified (pager/log-record.ts). */
export function decodeCommit(bytes: Uint8Array): CommitBody {
  const reader = new ByteReader(bytes, LOG_HEADER_BYTES)
  const created: CreatedTree[] = []
  for (let count = reader.varint(); count > 0; count--) {
    const id = reader.varint()
    const kind = treeKindOf(reader.u8())
    created.push({ id, ...kind, name: readName(reader) })
  }
  const dropped: number[] = []
  for (let count = reader.varint(); count > 0; count--) dropped.push(reader.varint())
  const trees: TreeOperations[] = []
  for (let count = reader.varint(); count > 0; count--) trees.push(decodeTree(reader))
  return { created, dropped, trees }
}

function decodeTree(reader: ByteReader): TreeOperations {
  const out: TreeOperations = { tree: reader.varint(), operations: [], keys: [], changes: [] }
  let previous = ''
  for (let count = reader.varint(); count > 0; count--) {
    const header = reader.varint()
    const operation = (header & 3) as Operation
    const key = (previous.slice(0, Math.floor(header / 4)) + byteStringOf(reader, reader.varint())) as Key
    const length = reader.varint()
    out.operations.push(operation)
    out.keys.push(key)
    out.changes.push(operation === OPERATION_REMOVE ? length : reader.raw(length))
    previous = key
  }
  return out
}

const decoder = new TextDecoder()

/** Names of trees are any text. */
export function readName(reader: ByteReader): string {
  return decoder.decode(reader.raw(reader.varint()))
}

/** One byte: reducer << 4 | kind. */
export function treeKindNumber({ kind, reducer }: Pick<CreatedTree, 'kind' | 'reducer'>): number {
  return KINDS.indexOf(kind) | ((reducer ?? 0) << 4)
}

const SHARED_BYTES_MAX = 64 * 1024
let shared = new ByteWriter()

/** The bytes of the whole log record. */
export function encodeCommit(sequence: CommitSequence, writerId: Uint8Array, body: CommitBody): Uint8Array {
  const writer = shared
  writer.length = LOG_HEADER_BYTES
  writer.varint(body.created.length)
  for (const created of body.created) {
    writer.varint(created.id)
    writer.u8(treeKindNumber(created))
    writeName(writer, created.name)
  }
  writer.varint(body.dropped.length)
  for (const id of body.dropped) writer.varint(id)
  writer.varint(body.trees.length)
  for (const tree of body.trees) encodeTree(writer, tree)
  const bytes = writer.finish()
  // A large commit must not keep its room.
  if (writer.bytes.length > SHARED_BYTES_MAX) shared = new ByteWriter()
  sealLogRecord(sequence, writerId, bytes)
  return bytes
}

function encodeTree(writer: ByteWriter, { tree, operations, keys, changes }: TreeOperations): void {
  writer.varint(tree)
  writer.varint(operations.length)
  let previous = ''
  for (let i = 0; i < operations.length; i++) {
    const key = keys[i]!
    const change = changes[i]!
    const shared = sharedPrefixLength(previous, key)
    writer.varint(shared * 4 + operations[i]!)
    writer.varint(key.length - shared)
    writer.byteString(shared === 0 ? key : key.slice(shared))
    if (typeof change === 'number') {
      writer.varint(change)
    } else {
      writer.varint(change.length)
      writer.put(change)
    }
    previous = key
  }
}

const encoder = new TextEncoder()

/** Names of trees are any text. */
export function writeName(writer: ByteWriter, name: string): void {
  const bytes = encoder.encode(name)
  writer.varint(bytes.length)
  writer.raw(bytes)
}
