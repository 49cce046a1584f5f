/** Tests single documents with a condition that follows relations: what they lead to is read, and nothing else. */
import type { StoredDocument } from '../document/document-reader.ts'
import type { Condition, RelatedCondition } from '../query/ast/normalise.ts'
import { compileCondition, documentFields } from '../query/match.ts'
import { planQuery } from '../query/planner/plan.ts'
import type { QuerySource } from '../query/query-source.ts'
import { referredTo, referring } from './populate.ts'
import { referencesOf } from './references.ts'
import { allOf, isOneOf, type Run } from './related-keys.ts'

type Documents = readonly StoredDocument[]

/** The documents that meet it; undefined: some step leads to more documents than `relatedMax`. */
export async function documentsMeeting(
  run: Run,
  source: QuerySource,
  documents: Documents,
  condition: Condition,
  relatedMax: number,
): Promise<Documents | undefined> {
  if (documents.length === 0) return documents
  const meeting = (of: Documents, part: Condition): Promise<Documents | undefined> =>
    documentsMeeting(run, source, of, part, relatedMax)
  switch (condition.kind) {
    case 'and': {
      let left: Documents | undefined = documents
      for (const part of condition.of) left = left && (await meeting(left, part))
      return left
    }
    case 'or': {
      const met = new Set<StoredDocument>()
      for (const part of condition.of) {
        const more = await meeting(
          documents.filter((document) => !met.has(document)),
          part,
        )
        if (more === undefined) return undefined
        for (const document of more) met.add(document)
      }
      return documents.filter((document) => met.has(document))
    }
    case 'complement': {
      const met = await meeting(documents, condition.of)
      return met && without(documents, met)
    }
    case 'related':
      return documentsLeading(run, source, documents, condition, relatedMax)
    default:
      return documents.filter(compileCondition(condition, documentFields))
  }
}

async function documentsLeading(
  run: Run,
  source: QuerySource,
  documents: Documents,
  condition: RelatedCondition,
  relatedMax: number,
): Promise<Documents | undefined> {
  const { to, back, field, many, of } = condition
  const target = source.other!(to)
  const idsOf = (document: StoredDocument): readonly string[] =>
    back ? [document._id] : referencesOf(condition, document[field])
  const ids = [...new Set(documents.flatMap(idsOf))]
  const wanted = allOf(isOneOf(back ? field : '_id', ids, !back || !many), [])
  const { rows } = await run.source.attempt(() => planQuery(target, wanted))
  if (rows > relatedMax) return undefined
  const found = await (back ? referring : referredTo)(run, target, condition, documents)
  const related = [...new Set([...found.values()].flat())]
  const meeting = await documentsMeeting(run, target, related, of, relatedMax)
  if (meeting === undefined) return undefined
  const met = new Set(meeting)
  return documents.filter((document) => idsOf(document).some((id) => found.get(id)?.some((one) => met.has(one))))
}

function without(documents: Documents, others: Documents): Documents {
  const left = new Set(others)
  return documents.filter((document) => !left.has(document))
}
