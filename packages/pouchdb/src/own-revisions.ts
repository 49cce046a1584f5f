/**
 * Edits under random names, for `deterministic_revs: false`. The library names an edit by its content, so these are written as revisions
 * from elsewhere, after the check that an edit has to pass.
 */
import { PannierError, type WriteOutcome } from 'pannier'
import { clone, rev } from 'pouchdb-utils'
import type { Input } from './documents.ts'
import type { Place } from './pouch.ts'
import { generationOf, suffixOf, type DocumentWithHistory } from './revision-trees.ts'

export async function putUnderOwnNames({ db, docs }: Place, given: readonly Input[]): Promise<WriteOutcome[]> {
  const inputs = clone(given)
  return await db.transaction(async (transaction) => {
    const within = transaction.collection(docs.name)
    const outcomes: WriteOutcome[] = []
    for (const input of inputs) {
      const { _id: id } = input
      const leaves = await within.getRevisions(id, 'all')
      const parent = parentOf(
        input,
        leaves.flatMap((leaf) => ('ok' in leaf ? [leaf.ok] : [])),
      )
      if (parent instanceof PannierError) outcomes.push({ id, error: parent })
      else outcomes.push(await within.put(child(input, parent), { newEdits: false }))
    }
    return outcomes
  })
}

/** The revision that the edit replaces. Undefined: the document is new. The winner is the first leaf. */
function parentOf(
  { _id: id, _rev: given }: Input,
  leaves: readonly DocumentWithHistory[],
): string | undefined | PannierError {
  const [winner] = leaves
  const isNamed = leaves.some(({ _rev }) => _rev === given)
  if (given === undefined ? winner === undefined || winner._deleted === true : isNamed) return given ?? winner?._rev
  const details = { id, ...(winner !== undefined && winner._deleted !== true && { rev: winner._rev }) }
  return new PannierError('PANNIER_CONFLICT', `The document '${id}' has another revision.`, { details })
}

function child(input: Input, parent: string | undefined): Input & { readonly _rev: string } {
  const made = rev(input, false)
  const generation = parent === undefined ? 1 : generationOf(parent) + 1
  const ids = parent === undefined ? [made] : [made, suffixOf(parent)]
  return { ...input, _rev: `${generation}-${made}`, _revisions: { start: generation, ids } }
}
