/** Changes of a step in the records of the application. */
import type { RuleRecord } from '@pannier/rules'
import { ruleRecord } from '../access/rule-records.ts'
import { recordsName, type Definition } from '../definitions/definition.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { CommitStep } from './commit-states.ts'

/** A record that is not as it was. One of `old` and `document` is there at least. */
export interface RecordChange {
  readonly definition: Definition
  readonly id: string
  /** The old document, beside the one as it is now. */
  readonly old: JsonObject | undefined
  readonly document: JsonObject | undefined
  /** As rules read it: the newer one first. */
  readonly records: readonly RuleRecord[]
}

/** The changes of a collection in batches, in the order in which its documents were written last. */
export async function* changesIn(
  { before, after }: CommitStep,
  definition: Definition,
): AsyncGenerator<readonly RecordChange[]> {
  const name = recordsName(definition)
  const [was, is] = [before, after].map((state) => state.read((reader) => reader.lastWrite(name)))
  const from = await was
  const to = await is
  // A collection that was dropped, or made in place of another one, has no news of records.
  if (to === undefined || (from !== undefined && from.number !== to.number)) return
  for (let sequence = from?.sequence ?? 0; sequence < to.sequence;) {
    const since = sequence
    const written = await after.read((reader) => reader.writtenAfter(name, since))
    const last = written.at(-1)
    if (last === undefined) return
    sequence = last.sequence
    const ids = written.map(({ document }) => document._id)
    const old = await before.read((reader) => reader.getMany(name, ids))
    yield written.flatMap(({ document }, at) => {
      const change = changeOf(definition, old[at], document['_deleted'] === true ? undefined : document)
      return change === undefined ? [] : [change]
    })
  }
}

/** Undefined: nothing is different, as when a revision came that did not win. */
function changeOf(
  definition: Definition,
  old: JsonObject | undefined,
  document: JsonObject | undefined,
): RecordChange | undefined {
  const there = [document, old].filter((one) => one !== undefined)
  if (there.length === 0 || old?.['_rev'] === document?.['_rev']) return undefined
  return { definition, id: String(there[0]!['_id']), old, document, records: there.map(ruleRecord) }
}
