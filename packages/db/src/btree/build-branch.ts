/** Builds branch pages; branch.ts has their format. */
import type { PageId } from '../base/brand.ts'
import { ByteWriter } from '../codec/bytes.ts'
import { PAGE_BRANCH, PAGE_HEADER_BYTES, PAGE_REDUCED_BRANCH, sealPage } from '../pager/page.ts'
import type { Child } from './branch.ts'

/** Appends a child to a branch under construction. */
export function writeChild(writer: ByteWriter, child: Child, separator: string): void {
  const { garbage } = child
  writer.varint(separator.length)
  writer.byteString(separator)
  writer.varint(child.id)
  writer.varint(child.count)
  writer.varint(child.bytes * 4 + (child.overflow ? 2 : 0) + (garbage !== undefined ? 1 : 0))
  if (garbage === undefined) return
  writer.varint(garbage.bytes)
  writer.varint(garbage.numbers.length)
  let previous = 0
  for (const number of garbage.numbers) {
    writer.varint(number - previous)
    previous = number
  }
}

/** Builds a branch page; the first separator is dropped, for nothing can be below it. `reduced`: the tree has a reducer. */
export function buildBranch(id: PageId, level: number, children: readonly Child[], reduced: boolean): Uint8Array {
  const writer = new ByteWriter(PAGE_HEADER_BYTES + children.length * 40)
  writer.length = PAGE_HEADER_BYTES
  for (let i = 0; i < children.length; i++) {
    const child = children[i]!
    writeChild(writer, child, i === 0 ? '' : child.separator)
    if (!reduced) continue
    writer.varint(child.reduction === undefined ? 0 : child.reduction.length + 1)
    if (child.reduction !== undefined) writer.raw(child.reduction)
  }
  const bytes = writer.finish()
  sealPage(id, bytes, reduced ? PAGE_REDUCED_BRANCH : PAGE_BRANCH, level, children.length)
  return bytes
}
