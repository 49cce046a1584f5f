/** Pages so small that a few documents fill trees of several levels. Databases on disk are read the same whatever the size. */
import { LEAF_BYTES_TARGET, type SizeClass } from '../src/btree/leaf.ts'

const SMALL: Readonly<Record<SizeClass, number>> = { ordered: 600, sequence: 1200 }

/** Gives a function that makes new pages as large as before. */
export function useSmallPages(): () => void {
  const before = { ...LEAF_BYTES_TARGET }
  Object.assign(LEAF_BYTES_TARGET, SMALL)
  return () => Object.assign(LEAF_BYTES_TARGET, before)
}
