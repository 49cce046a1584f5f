/** View rules of fields: what of a record is not shown. docs/internals/backend-reads.md is normative. */
import { RuleError } from '@pannier/rules'
import type { Access } from '../../access/access.ts'
import type { Actor } from '../../access/actor.ts'
import type { Definition } from '../../definitions/definition.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import { meeting } from './admitted.ts'
import type { RecordSnapshot } from './record-snapshot.ts'

interface ShownDocuments {
  readonly actor: Actor
  readonly definition: Definition
  readonly documents: readonly JsonObject[]
  /** The context of the request. */
  readonly context: string
}

const NOTHING: ReadonlySet<string> = new Set()

/** The fields that are left out of each of the documents. A rule that names what is no longer there shows nothing. */
export async function fieldsWithheld(
  snapshot: RecordSnapshot,
  access: Access,
  { actor, definition, documents, context }: ShownDocuments,
): Promise<(document: JsonObject) => ReadonlySet<string>> {
  const ruled = actor.principal.isAdmin ? [] : definition.fields.filter(({ viewRule }) => viewRule !== undefined)
  if (ruled.length === 0) return () => NOTHING
  const shownBy = new Map<string | null, ReadonlySet<JsonObject>>()
  for (const { viewRule: rule = '' } of ruled)
    if (!shownBy.has(rule)) shownBy.set(rule, new Set(rule === null ? [] : await meetingRule(rule)))
  return (document) =>
    new Set(ruled.filter(({ viewRule = '' }) => !shownBy.get(viewRule)!.has(document)).map(({ name }) => name))

  async function meetingRule(rule: string): Promise<readonly JsonObject[]> {
    try {
      const bound = access.bindRule(actor, definition, rule, context)
      await snapshot.prepare(bound)
      return await meeting(snapshot, bound, documents)
    } catch (error) {
      if (error instanceof RuleError) return []
      throw error
    }
  }
}
