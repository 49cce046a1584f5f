/**
 * The named trees in the meta page (pager/meta-page.ts):
 *
 *     varint next tree id
 *     varint trees: varint id, u8 (reducer << 4 | kind), varint length of the name, name,
 *         ordered and sequence: varint height (0: empty), and unless empty varint root page, varint entries,
 *             varint (bytes << 1 | overflow); sequence: varint next number
 *         inline: varint entries: varint length of the key, key, varint length of the value, value
 */
import type { CommitSequence, Generation, Key, PageId } from '../base/brand.ts'
import { byteStringOf, type ByteReader, asArray, type Bytes, type ByteWriter } from '../codec/bytes.ts'
import type { Tree } from '../btree/node.ts'
import { decodeMetaPage, encodeMetaPage } from '../pager/meta-page.ts'
import { NOTHING_TO_RECLAIM } from '../pager/reclaim.ts'
import type { MetaRecord } from '../storage/page-store.ts'
import { readName, treeKindOf, treeKindNumber, writeName } from './commit-record.ts'
import { EMPTY_OVERLAY, type Overlay, overlayApply, OverlayCursor, overlaySize, OPERATION_INSERT } from './overlay.ts'
import type { State, TreeState } from './state.ts'

/** A database in which nothing was ever written. It has no id yet. */
export function emptyState(): State {
  return {
    databaseId: '',
    generation: 0 as Generation,
    baseSequence: 0 as CommitSequence,
    sequence: 0 as CommitSequence,
    nextPageId: 1 as PageId,
    reclaim: NOTHING_TO_RECLAIM,
    droppedRoots: [],
    nextTreeId: 1,
    trees: [],
    slotOfName: new Map(),
  }
}

/** The state that a meta record stands for. */
export function decodeMeta(record: MetaRecord): State {
  const { meta, body } = decodeMetaPage(record.bytes, record.generation)
  const nextTreeId = body.varint()
  const trees: TreeState[] = []
  for (let count = body.varint(); count > 0; count--) trees.push(decodeTree(body))
  return {
    ...meta,
    generation: record.generation,
    baseSequence: record.sequence,
    sequence: record.sequence,
    droppedRoots: [],
    nextTreeId,
    trees,
    slotOfName: new Map(trees.map((tree, slot) => [tree.name, slot])),
  }
}

function decodeTree(reader: ByteReader): TreeState {
  const id = reader.varint()
  const { kind, reducer } = treeKindOf(reader.u8())
  const name = readName(reader)
  if (kind === 'inline')
    return { id, name, kind, reducer, tree: undefined, overlay: decodeInline(reader), nextNumber: 1 }
  const height = reader.varint()
  let tree: Tree
  if (height > 0) {
    const root = reader.varint() as PageId
    const count = reader.varint()
    const flagged = reader.varint()
    tree = { id: root, height, count, bytes: Math.floor(flagged / 2), overflow: flagged % 2 === 1 }
  }
  const nextNumber = kind === 'sequence' ? reader.varint() : 1
  return { id, name, kind, reducer, tree, overlay: EMPTY_OVERLAY, nextNumber }
}

function decodeInline(reader: ByteReader): Overlay {
  let overlay = EMPTY_OVERLAY
  const edit = {}
  for (let count = reader.varint(); count > 0; count--) {
    const key = byteStringOf(reader, reader.varint()) as Key
    overlay = overlayApply(overlay, edit, OPERATION_INSERT, key, reader.raw(reader.varint()))
  }
  return overlay
}

/** The bytes of the meta page of a state whose trees are all in pages (overlays are left out, except for inline trees). */
export function encodeMeta(state: State): Uint8Array {
  return encodeMetaPage(state, state.generation, (writer) => {
    const trees = state.trees.filter((tree) => tree !== undefined)
    writer.varint(state.nextTreeId)
    writer.varint(trees.length)
    for (const tree of trees) encodeTree(writer, tree)
  })
}

function encodeTree(writer: ByteWriter, state: TreeState): void {
  writer.varint(state.id)
  writer.u8(treeKindNumber(state))
  writeName(writer, state.name)
  if (state.kind === 'inline') {
    encodeInline(writer, state.overlay)
    return
  }
  const { tree } = state
  writer.varint(tree?.height ?? 0)
  if (tree !== undefined) {
    writer.varint(tree.id)
    writer.varint(tree.count)
    writer.varint(tree.bytes * 2 + (tree.overflow ? 1 : 0))
  }
  if (state.kind === 'sequence') writer.varint(state.nextNumber)
}

function encodeInline(writer: ByteWriter, overlay: Overlay): void {
  writer.varint(overlaySize(overlay))
  const cursor = new OverlayCursor(overlay, undefined, undefined, false)
  while (cursor.next()) {
    const value = asArray(cursor.change as Bytes)
    writer.varint(cursor.key.length)
    writer.byteString(cursor.key)
    writer.varint(value.length)
    writer.raw(value)
  }
}
