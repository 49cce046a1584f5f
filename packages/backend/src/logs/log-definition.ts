/** Logs in the form of a collection, so that filters and sorts read them as they read records. */
import { createSchema } from '@pannier/rules'
import type { KnownDefinitions } from '../access/rule-records.ts'
import { recordsName, type BaseDefinition } from '../definitions/definition.ts'
import { BASE_SCAFFOLD } from '../definitions/scaffolds.ts'
import { withSystemFields } from '../definitions/system-fields.ts'
import { completeFields } from '../fields/complete-fields.ts'

export const LOG_DEFINITION: BaseDefinition = definition()

export const LOG_COLLECTION: string = recordsName(LOG_DEFINITION)

/** All definitions of the database of logs. */
export const LOG_DEFINITIONS: KnownDefinitions = {
  find: (name) => (name === LOG_DEFINITION.name ? LOG_DEFINITION : undefined),
  all: () => [LOG_DEFINITION],
  schema: createSchema([LOG_DEFINITION]),
}

function definition(): BaseDefinition {
  const fields = completeFields([
    { name: 'created', type: 'date' },
    { name: 'level', type: 'number' },
    { name: 'message', type: 'text' },
    { name: 'data', type: 'json' },
  ])
  const named = { ...BASE_SCAFFOLD, id: '_logs', name: '_logs', fields }
  return { ...named, fields: withSystemFields(named) }
}
