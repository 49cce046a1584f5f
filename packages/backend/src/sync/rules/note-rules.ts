/** Notes in the log what a list rule costs when it is saved. Rules that can't be synced are allowed: REST answers them. */
import type { Definitions } from '../../definitions/definitions.ts'
import type { Definition, Rule } from '../../definitions/definition.ts'
import { LOG_LEVELS, type LogWriter } from '../../gateway/log-entry.ts'
import { explainRules } from './explain-rules.ts'

interface NoteRulesParts {
  readonly definitions: Definitions
  readonly logs: LogWriter
}

/** Until the definitions are closed. */
export function noteRules({ definitions, logs }: NoteRulesParts): void {
  let known = rulesOf(definitions)
  definitions.subscribe(() => {
    const before = known
    known = rulesOf(definitions)
    for (const [id, rule] of known)
      if (rule !== null && rule !== before.get(id)) note(definitions, definitions.get(id), logs)
  })
}

function rulesOf(definitions: Definitions): ReadonlyMap<string, Rule> {
  return new Map(definitions.all().map(({ id, listRule }) => [id, listRule]))
}

function note(definitions: Definitions, definition: Definition, logs: LogWriter): void {
  const { collection, rules, syncProblems } = explainRules(definitions, definition)
  const { rule, cost } = rules[0]!
  const [problem] = syncProblems
  const message =
    problem === undefined
      ? `The list rule of "${collection}" is of class ${cost}. It can be synced.`
      : `The list rule of "${collection}" is of class ${cost}. It can't be synced: ${problem.message}`
  logs.write({ level: LOG_LEVELS.info, message, data: { collection, rule, cost, syncProblems } })
}
