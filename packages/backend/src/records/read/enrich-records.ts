/** Lets hooks change what clients see of records, expanded ones too. */
import type { Actor } from '../../access/actor.ts'
import type { KnownDefinitions } from '../../access/rule-records.ts'
import type { HookApp } from '../../hooks/hook-app.ts'
import { HookRecord } from '../../hooks/hook-record.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import { requestEvent } from '../../hooks/request-event.ts'
import type { ShownRecord } from './shown-record.ts'

export interface Enricher {
  /** Whether hooks are bound to the collection of these tags. */
  areThere(tags: readonly string[]): boolean
  /** @throws what a hook throws */
  run(actor: Actor, records: readonly ShownRecord[]): Promise<void>
}

interface EnricherParts {
  readonly hooks: Hooks
  readonly app: HookApp
  readonly definitions: KnownDefinitions
}

export function recordEnricher({ hooks, app, definitions }: EnricherParts): Enricher {
  const enrich = async (actor: Actor, records: readonly ShownRecord[]): Promise<void> => {
    for (const shown of records) {
      const { definition, document, expand } = shown
      const tags = [definition.id, definition.name]
      if (hooks.has(['onRecordEnrich'], tags)) {
        const record = HookRecord.of(definition, document)
        await hooks.trigger('onRecordEnrich', { ...requestEvent(app, definitions, actor), record }, tags)
        shown.enrich = (json) => record.enrich(json)
      }
      for (const related of expand?.values() ?? []) await enrich(actor, [related].flat())
    }
  }
  return {
    areThere: (tags) => hooks.has(['onRecordEnrich'], tags),
    run: async (actor, records) => {
      if (hooks.has(['onRecordEnrich'])) await enrich(actor, records)
    },
  }
}
