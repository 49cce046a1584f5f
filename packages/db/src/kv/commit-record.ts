/**
 * The changes of one commit, and its record in the log.
 *
 *     0  u32  checksum (xxHash32, seed = low 32 bits of the sequence) of the bytes from 4 on
 *     4  u8   format
 *     5  8 bytes, random for each handle: the handle that wrote it
 *    13  the body:
 *        varint trees created: varint id, u8 (reducer << 4 | kind), varint length of the name, name (byte string)
 *        varint trees dropped: varint id
 *        varint trees changed: varint id, varint operations, each
 *            varint (bytes that its key shares with the one before << 2 | operation: 0 insert, 1 replace, 2 remove)
 *            varint length of the rest of the key, that rest
 *            varint length of the value, and unless it is a removal the value
 *
 * By the writer's id a handle finds out whether a commit happened whose outcome it never learnt.
 */
import type { ReducerId } from '../btree/reducer.ts'
import type { Key, CommitSequence } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import {
  byteStringOf,
  ByteReader,
  corruptBytes,
  ByteWriter,
  readU32,
  sharedPrefixLength,
  writeU32,
} from '../codec/bytes.ts'
import { checksum } from '../codec/checksum.ts'
import type { LogRecord } from '../storage/page-store.ts'
import { OPERATION_REMOVE, type Change, type Operation } from './overlay.ts'
import type { TreeKind } from './key-value-store.ts'

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

const LOG_FORMAT = 1
export const WRITER_ID_BYTES = 8
const LOG_HEADER_BYTES: number = 5 + WRITER_ID_BYTES

/** Throws PANNIER_CORRUPT or PANNIER_FORMAT_NEWER unless the record is sound; its body starts at LOG_HEADER_BYTES. */
export function verifyLogRecord(record: LogRecord): void {
  const { bytes, sequence } = record
  if (bytes.length < LOG_HEADER_BYTES || readU32(bytes, 0) !== checksum(bytes, 4, bytes.length, sequence >>> 0)) {
    throw new PannierError('PANNIER_CORRUPT', `Log record ${sequence} is damaged: its checksum does not match.`, {
      details: { sequence },
    })
  }
  if (bytes[4] !== LOG_FORMAT) {
    throw new PannierError('PANNIER_FORMAT_NEWER', 'The log was written by a newer version of Pannier.', {
      details: { format: bytes[4] },
    })
  }
}

/** The id of the handle that wrote the record. */
export function writerOf({ bytes }: LogRecord): Uint8Array {
  return bytes.subarray(5, 5 + WRITER_ID_BYTES)
}

/** Whether that handle wrote the record. */
export function isWrittenBy(record: LogRecord, writer: Uint8Array): boolean {
  for (let i = 0; i < WRITER_ID_BYTES; i++) if (record.bytes[5 + i] !== writer[i]) return false
  return true
}

const KINDS: readonly TreeKind[] = ['ordered', 'sequence', 'inline']

/** One byte: reducer << 4 | kind. */
export function treeKindOf(number: number): Pick<CreatedTree, 'kind' | 'reducer'> {
  const kind = KINDS[number & 15]
  if (kind === undefined) throw corruptBytes('a tree is of an unknown kind')
  return { kind, reducer: number >> 4 || undefined }
}

/** Takes a commit step by step. */
export interface CommitReader {
  create(tree: CreatedTree): void
  drop(tree: number): void
  /** Takes the operations on a tree. */
  change(tree: number): OperationReader
}

export interface OperationReader {
  add(operation: Operation, key: Key, change: Change): void
}

/** Values up to here become byte strings, which take less memory and time than views of a record. */
const SHORT_VALUE_BYTES_MAX = 16

/** Reads a commit: a record that was verified, or what is in memory. */
export function readCommit(body: CommitBody | Uint8Array, to: CommitReader): void {
  if (body instanceof Uint8Array) readRecord(body, to)
  else readBody(body, to)
}

/** One function, which makes nothing in vain: an engine has not compiled it when a full log is opened. */
function readRecord(bytes: Uint8Array, to: CommitReader): void {
  const reader = new ByteReader(bytes, LOG_HEADER_BYTES)
  for (let count = reader.varint(); count > 0; count--) {
    const id = reader.varint()
    const kind = treeKindOf(reader.u8())
    to.create({ id, ...kind, name: readName(reader) })
  }
  for (let count = reader.varint(); count > 0; count--) to.drop(reader.varint())
  for (let count = reader.varint(); count > 0; count--) {
    const tree = to.change(reader.varint())
    let key = ''
    for (let operations = reader.varint(); operations > 0; operations--) {
      const header = reader.varint()
      const operation = (header & 3) as Operation
      const shared = Math.floor(header / 4)
      const rest = byteStringOf(reader, reader.varint())
      key = shared === 0 ? rest : key.slice(0, shared) + rest
      const length = reader.varint()
      let change: Change = length
      if (operation !== OPERATION_REMOVE)
        change = length <= SHORT_VALUE_BYTES_MAX ? byteStringOf(reader, length) : reader.raw(length)
      tree.add(operation, key as Key, change)
    }
  }
}

function readBody({ created, dropped, trees }: CommitBody, to: CommitReader): void {
  for (const tree of created) to.create(tree)
  for (const tree of dropped) to.drop(tree)
  for (const { tree, operations, keys, changes } of trees) {
    const reader = to.change(tree)
    for (let i = 0; i < operations.length; i++) reader.add(operations[i]!, keys[i]!, changes[i]!)
  }
}

/** The body of a record that was verified. */
export function decodeCommit(bytes: Uint8Array): CommitBody {
  const created: CreatedTree[] = []
  const dropped: number[] = []
  const trees: TreeOperations[] = []
  readCommit(bytes, {
    create: (tree) => created.push(tree),
    drop: (tree) => dropped.push(tree),
    change(tree) {
      const changed: TreeOperations = { tree, operations: [], keys: [], changes: [] }
      trees.push(changed)
      return {
        add(operation, key, change) {
          changed.operations.push(operation)
          changed.keys.push(key)
          changed.changes.push(change)
        },
      }
    },
  })
  return { created, dropped, trees }
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
  bytes[4] = LOG_FORMAT
  bytes.set(writerId, 5)
  writeU32(bytes, 0, checksum(bytes, 4, bytes.length, sequence >>> 0))
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
