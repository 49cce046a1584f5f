/**
 * Which transactions skip the log and go straight to pages.
 *
 * The log costs their bytes twice (once in the log, once in pages) but spares random pages from being rewritten for
 * each of them. So it is skipped by what would fill it, and by what is large compared with the pages that it touches
 * (a bulk insert into an empty or small collection).
 */
import { LEAF_BYTES_TARGET } from '../btree/leaf.ts'
import { overlaySize } from './overlay.ts'
import type { State } from './state.ts'
import { LOG_BYTES_MAX, type SealedTransaction } from './transaction.ts'

/** Smaller ones always go to the log: one small write is what a single put may cost. */
const DIRECT_BYTES_MIN: number = 16 * 1024
/** What fills the log goes to pages only if it is no small write itself. */
const FILLING_BYTES_MIN: number = 256 * 1024

export function skipsLog({ result, body, bytes }: SealedTransaction, logBytes: number): boolean {
  if (body === undefined) return true
  if (bytes < DIRECT_BYTES_MIN) return false
  if (bytes >= FILLING_BYTES_MIN && logBytes + bytes >= LOG_BYTES_MAX) return true
  return rewrittenBytes(result) <= bytes
}

/** An estimate from above of the existing pages that a storage checkpoint would have to write again. */
function rewrittenBytes({ slots }: State): number {
  let rewritten = 0
  for (const tree of slots) {
    if (tree === undefined || tree.kind === 'inline' || tree.tree === undefined) continue
    const changes = overlaySize(tree.overlay)
    if (changes === 0) continue
    const leaf = LEAF_BYTES_TARGET[tree.kind]
    rewritten += Math.min(tree.tree.bytes, (tree.kind === 'sequence' ? 1 : changes) * leaf)
  }
  return rewritten
}
