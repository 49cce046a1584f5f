/** Lets hooks change what clients see of records, expanded ones too. */
import type { Environment } from 'pannier/types'
import type { Actor } from '../../access/actor.ts'
import type { KnownDefinitions } from '../../access/rule-records.ts'
import type { HookApp } from '../../hooks/hook-app.ts'
import { HookRecord } from '../../hooks/hook-record.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import { requestEvent } from '../../hooks/request-event.ts'
import type { ShownRecord } from './shown-record.ts'

export interface Enricher {
  /** Whether hooks are bound to the collection of one of the records, expanded ones too. */
  isFor(records: readonly ShownRecord[]): boolean
  /** @throws what a hook throws */
  run(actor: Actor, records: readonly ShownRecord[]): Promise<void>
}

interface EnricherParts {
  readonly environment: Environment
  readonly hooks: Hooks
  readonly app: HookApp
  readonly definitions: KnownDefinitions
}

export function recordEnricher(parts: EnricherParts): Enricher {
  const { environment, hooks } = parts
  const enrich = async (actor: Actor, records: readonly ShownRecord[]): Promise<void> => {
    for (const shown of records) {
      const { definition, document, expand } = shown
      const tags = [definition.id, definition.name]
      if (hooks.has(['onRecordEnrich'], tags)) {
        const record = HookRecord.of(definition, document, environment)
        await hooks.trigger('onRecordEnrich', { ...requestEvent(parts, actor), record }, tags)
        shown.enrich = (json) => record.enrich(json)
      }
      for (const related of expand?.values() ?? []) await enrich(actor, [related].flat())
    }
  }
  const isFor = (records: readonly ShownRecord[]): boolean =>
    records.some(
      ({ definition: { id, name }, expand }) =>
        hooks.has(['onRecordEnrich'], [id, name]) || [...(expand?.values() ?? [])].some((one) => isFor([one].flat())),
    )
  return {
    isFor: (records) => hooks.has(['onRecordEnrich']) && isFor(records),
    run: async (actor, records) => {
      if (hooks.has(['onRecordEnrich'])) await enrich(actor, records)
    },
  }
}
