/** Writes the named trees of a state into a meta page; meta-body.ts has the format. */
import { asArray, type Bytes, type ByteWriter } from '../codec/bytes.ts'
import { encodeMetaPage } from '../pager/encode-meta-page.ts'
import { treeKindNumber, writeName } from './encode-commit.ts'
import { OverlayCursor, overlaySize, type Overlay } from './overlay.ts'
import type { State, TreeState } from './state.ts'

/** The bytes of the meta page of a state whose trees are all in pages (overlays are left out, but for inline trees). */
export function encodeMeta(state: State): Uint8Array {
  return encodeMetaPage(state, state.generation, (writer) => {
    const trees = state.slots.filter((tree) => tree !== undefined)
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
