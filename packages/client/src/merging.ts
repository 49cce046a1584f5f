/** Merges refused updates by a function of the app. Loaded with the first one. docs/internals/client.md is the contract. */
import type { Transaction } from 'pannier'
import type { Merge } from './declaration.ts'
import { LocalTransaction, type WriteMeans } from './local-transaction.ts'
import { REV, type Refused } from './store.ts'
import { shownValues, valuesOf, withValues, written, type SentWrite, type Values } from './writes.ts'

/** Returns what is left for the user; undefined: the function has merged it, and it is written again. */
export async function writeMerged(
  tx: Transaction,
  merge: Merge,
  refused: Refused,
  means: WriteMeans,
): Promise<Refused | undefined> {
  const { writes, problem } = tryMerge(merge, refused)
  if (writes === undefined) return { ...refused, message: refused.message + problem }
  await writeAgain(tx, { ...refused, writes }, means)
  return undefined
}

/** The most tries of a merge before the user decides: other writers are faster, or two functions never agree. */
const TRIES_MAX = 20

interface MergeResult {
  /** All writes of the transaction, merged. */
  readonly writes: readonly SentWrite[] | undefined
  readonly problem: string
}

const NOT_MERGED: MergeResult = { writes: undefined, problem: '' }

/** Merges the refused update, and those after it of the same record, each into what the one before has made. */
function tryMerge(merge: Merge, { at, writes, was, current, tries }: Refused): MergeResult {
  if (tries === TRIES_MAX) return { writes: undefined, problem: ` "merge" was called ${tries} times.` }
  const { collection, id } = writes[at]!
  const { [REV]: _, ...record }: Values = current!
  let theirs: Values = record
  const merged: SentWrite[] = []
  for (const [index, write] of writes.entries()) {
    if (index < at || write.action !== 'update' || write.collection !== collection || write.id !== id) {
      merged.push(write)
      continue
    }
    try {
      const values = valuesOf('merge', () => merge({ id, base: was[index] ?? {}, mine: shownValues(write), theirs }))
      if (values === undefined) return NOT_MERGED
      const again = withValues(write, values)
      merged.push(again)
      theirs = written(theirs, again)!
    } catch (error) {
      // A mistake of the app stops no other write.
      return { writes: undefined, problem: ` "merge" has failed: ${String(error)}` }
    }
  }
  return { writes: merged, problem: '' }
}

/** Takes the place of a refused transaction. The refused write is based on what the server has. */
async function writeAgain(
  tx: Transaction,
  { at, writes, current, members, tries }: Refused,
  means: WriteMeans,
): Promise<void> {
  const local = await LocalTransaction.begin(tx, means)
  for (const [index, write] of writes.entries()) await local.again(write, index === at ? current! : undefined)
  await local.end({ merges: members, tries: tries + 1 })
}
