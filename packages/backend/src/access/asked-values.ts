/** Names that a rule asks beside records: docs/internals/security.md, "Whole collections". */
import type { Comparison, Expression, Operand } from '@pannier/rules'

const ACCOUNT = '@request.auth.'

/** Whether only records and the account decide, not the clock and not the rest of a request. Then an answer holds until one of them changes. */
export function asksOnlyAccount(rule: Expression): boolean {
  return comparisonsIn(rule).every(({ left, right }) =>
    [left, right].every((operand) => argumentsOf(operand).every((name) => !name.startsWith('@') || isOfAccount(name))),
  )
}

function isOfAccount(name: string): boolean {
  return name.startsWith(ACCOUNT)
}

function comparisonsIn(rule: Expression): readonly Comparison[] {
  return rule.kind === 'comparison' ? [rule] : rule.of.flatMap(comparisonsIn)
}

/** Names in it. `strftime` reads the clock, also where no name says so. */
function argumentsOf(operand: Operand): readonly string[] {
  if (operand.kind === 'name') return [operand.name]
  if (operand.kind !== 'call') return []
  return operand.name === 'strftime' ? ['@now'] : operand.of.flatMap(argumentsOf)
}
