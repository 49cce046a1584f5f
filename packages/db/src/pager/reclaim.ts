/**
 * Pages that no newer state refers to. Snapshots may still read them, so they wait until every handle has moved on.
 *
 * `unlinked`: pages that a storage checkpoint replaced, under the generation that it wrote; snapshots of earlier
 * generations may read them. `dropped`: roots of dropped subtrees; their pages are found and freed a few at a time. A
 * page is either reachable from a tree, or listed here (itself or by its root), or free.
 *
 * In the meta page:
 *
 *     varint lists of unlinked pages: varint generation, varint count, varint ids, ascending, each less its predecessor
 *     varint dropped subtrees: varint generation, varint root page, varint (level << 1 | overflow)
 */
import type { Generation, PageId } from '../base/brand.ts'
import type { ByteReader, ByteWriter } from '../codec/bytes.ts'

export interface Unlinked {
  readonly generation: Generation
  readonly ids: readonly PageId[]
}

export interface DroppedSubtree {
  readonly generation: Generation
  readonly id: PageId
  /** 0: a leaf. */
  readonly level: number
  readonly overflow: boolean
}

export interface ReclaimList {
  readonly unlinked: readonly Unlinked[]
  readonly dropped: readonly DroppedSubtree[]
}

export const NOTHING_TO_RECLAIM: ReclaimList = { unlinked: [], dropped: [] }

/** Whether no snapshot can read the pages of that generation's list any more. */
export function isReclaimable(generation: Generation, oldestPinned: Generation): boolean {
  return generation <= oldestPinned
}

export function readReclaimList(reader: ByteReader): ReclaimList {
  const unlinked: Unlinked[] = []
  for (let lists = reader.varint(); lists > 0; lists--) {
    const generation = reader.varint() as Generation
    const ids: PageId[] = []
    let id = 0
    for (let count = reader.varint(); count > 0; count--) ids.push((id += reader.varint()) as PageId)
    unlinked.push({ generation, ids })
  }
  const dropped: DroppedSubtree[] = []
  for (let count = reader.varint(); count > 0; count--) {
    const generation = reader.varint() as Generation
    const id = reader.varint() as PageId
    const flagged = reader.varint()
    dropped.push({ generation, id, level: flagged >>> 1, overflow: (flagged & 1) === 1 })
  }
  return { unlinked, dropped }
}

export function writeReclaimList(writer: ByteWriter, list: ReclaimList): void {
  writer.varint(list.unlinked.length)
  for (const { generation, ids } of list.unlinked) {
    writer.varint(generation)
    writer.varint(ids.length)
    let previous = 0
    for (const id of [...ids].sort((a, b) => a - b)) {
      writer.varint(id - previous)
      previous = id
    }
  }
  writer.varint(list.dropped.length)
  for (const { generation, id, level, overflow } of list.dropped) {
    writer.varint(generation)
    writer.varint(id)
    writer.varint(level * 2 + (overflow ? 1 : 0))
  }
}
