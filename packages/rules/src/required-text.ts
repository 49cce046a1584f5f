/** A text that a rule certainly requires of a record, for programs that keep many rules and ask only the few that may admit it. */
import type { BoundRule, Condition, Join, Value } from './plan.ts'
import { affinityOf } from './schema.ts'

/** A field of the record, and the text that it must have. */
export interface RequiredText {
  /** The name of a field of the record. */
  readonly field: string
  /** The text that the field has. */
  readonly text: string
}

/** A text without which the rule does not admit a record; undefined if there may be other ones. */
export function requiredText(rule: BoundRule): RequiredText | undefined {
  return requiredIn(rule.condition, rule.record)
}

function requiredIn(condition: Condition, record: Join): RequiredText | undefined {
  if (condition.kind !== 'leaf') {
    const parts = condition.kind === 'and' ? condition.of : []
    return parts.map((part) => requiredIn(part, record)).find((found) => found !== undefined)
  }
  const { test } = condition
  if (test.kind !== 'compare' || (test.operator !== '=' && test.operator !== 'is')) return undefined
  return equalTexts(test.left, test.right, record) ?? equalTexts(test.right, test.left, record)
}

function equalTexts(value: Value, to: Value, record: Join): RequiredText | undefined {
  if (value.kind !== 'field' || value.join !== record || affinityOf(value.field) !== 'text') return undefined
  if (to.kind !== 'parameter' || typeof to.value !== 'string') return undefined
  return { field: value.field.name, text: to.value }
}
