/** How large the pages of trees are made. */

export type SizeClass = 'ordered' | 'sequence'

/** What a page is filled to. Bodies are read one at a time or all in a row: larger pages; the rest: docs/notes/2026-11-21-speed-lessons.md. */
export const LEAF_BYTES_TARGET: Readonly<Record<SizeClass, number>> = { ordered: 16 * 1024, sequence: 30 * 1024 }
export const BRANCH_BYTES_TARGET: number = 16 * 1024

/** Larger values stand in overflow pages. */
export const INLINE_VALUE_BYTES_MAX: Readonly<Record<SizeClass, number>> = { ordered: 2 * 1024, sequence: 8 * 1024 }
