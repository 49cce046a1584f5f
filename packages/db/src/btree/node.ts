/** The nodes of a tree, and the parser that makes them from pages. */
import type { PageId } from '../base/brand.ts'
import { corruptBytes } from '../codec/bytes.ts'
import { PAGE_BRANCH, PAGE_LEAF, PAGE_OVERFLOW, PAGE_REDUCED_BRANCH } from '../pager/page.ts'
import type { PageCache } from '../pager/page-cache.ts'
import { Branch } from './branch.ts'
import { Leaf, OverflowPage } from './leaf.ts'

export type Node = Leaf | Branch | OverflowPage

export type NodeCache = PageCache<Node>

/** The whole of a tree: everything else is reachable from here. */
export interface Root {
  readonly id: PageId
  /** Levels of pages; 1: the root is a leaf. */
  readonly height: number
  readonly count: number
  /** Bytes of the leaves, overflow and garbage included. */
  readonly bytes: number
  readonly overflow: boolean
}

/** A tree without entries has no pages. */
export type Tree = Root | undefined

export function parseNode(id: PageId, bytes: Uint8Array): Node {
  switch (bytes[4]) {
    case PAGE_LEAF:
      return new Leaf(id, bytes)
    case PAGE_BRANCH:
    case PAGE_REDUCED_BRANCH:
      return new Branch(id, bytes)
    case PAGE_OVERFLOW:
      return new OverflowPage(bytes)
    default:
      throw corruptBytes(`page ${id} is of an unknown kind`)
  }
}

/** The branch at a place where the tree says that there is one. */
export function branchAt(cache: NodeCache, id: PageId): Branch {
  const node = cache.get(id)
  if (!(node instanceof Branch)) throw corruptBytes(`page ${id} is not a branch`)
  return node
}

export function leafAt(cache: NodeCache, id: PageId): Leaf {
  const node = cache.get(id)
  if (!(node instanceof Leaf)) throw corruptBytes(`page ${id} is not a leaf`)
  return node
}
