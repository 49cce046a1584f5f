/** Makes the bytes of a commit in the log; commit-record.ts has the format. Apart from it, as whoever only reads never needs it. */
import type { CommitSequence } from '../base/brand.ts'
import { ByteWriter, sharedPrefixLength } from '../codec/bytes.ts'
import { LOG_HEADER_BYTES, sealLogRecord } from '../pager/log-record.ts'
import { KINDS, REDUCERS, type CommitBody, type CreatedTree, type TreeOperations } from './commit-record.ts'

/** One byte: reducer << 4 | kind. */
export function treeKindNumber({ kind, reducer }: Pick<CreatedTree, 'kind' | 'reducer'>): number {
  return KINDS.indexOf(kind) | (REDUCERS.indexOf(reducer) << 4)
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
