/** Asks a rule about documents, one by one. */
import { evaluate, RuleError, type BoundRule } from '@pannier/rules'
import { ruleFor, type Access, type ReadAction } from '../../access/access.ts'
import type { Actor } from '../../access/actor.ts'
import { ruleRecord } from '../../access/rule-records.ts'
import type { Definition } from '../../definitions/definition.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import type { RecordSnapshot } from './record-snapshot.ts'

interface AskedDocuments {
  readonly actor: Actor
  readonly definition: Definition
  /** The action. Its rule is not null, or the actor is a superuser. */
  readonly action: ReadAction
  readonly documents: readonly JsonObject[]
  /** The context of the request, if it is another than the actor's. */
  readonly context?: string
}

/** The documents that the rule admits; undefined if the rule names something that is gone. */
export async function admittedOf(
  snapshot: RecordSnapshot,
  access: Access,
  { actor, definition, action, documents, context }: AskedDocuments,
): Promise<readonly JsonObject[] | undefined> {
  if (actor.principal.isAdmin || ruleFor(actor.principal, definition, action) === '') return documents
  let bound: BoundRule
  try {
    bound = access.bindList(actor, definition, { action, ...(context === undefined ? {} : { context }) })
  } catch (error) {
    if (error instanceof RuleError) return undefined
    throw error
  }
  await snapshot.prepare(bound)
  return meeting(snapshot, bound, documents)
}

/** The documents that meet a prepared rule. */
export async function meeting(
  snapshot: RecordSnapshot,
  bound: BoundRule,
  documents: readonly JsonObject[],
): Promise<readonly JsonObject[]> {
  const answers = await snapshot.readEach(documents, (document, records) =>
    evaluate(bound, ruleRecord(document), records, snapshot.budget),
  )
  return documents.filter((_, position) => answers[position] === true)
}
