/** Rules of a collection, explained, as text for a terminal. */
import type { CostForAccounts, ExplainedRule, ExplainedRules, RuleProblem } from '@pannier/backend'

const INDENT = '  '

/** The meaning of each class for replicas. */
const CLASSES = {
  A: 'records are found by a set of values, exactly',
  B: 'records are found by a set of values, and each is tested',
  C: 'records are found by a bound',
  D: 'each record of the collection is tested, for each account',
  E: "it can't be cut into the record's half and the account's half",
} as const

/** The reason for class D. */
const WALK = 'It is tested for each record.'

export function rulesText({ collection, rules, syncProblems, indexes }: ExplainedRules): string {
  const seen = new Map<string, string>()
  const texts = rules.map((one) => {
    const same = one.rule === null || one.rule === '' ? undefined : seen.get(one.rule)
    if (one.rule !== null) seen.set(one.rule, seen.get(one.rule) ?? one.name)
    return same === undefined ? ruleText(one) : [`${one.name}: as ${same}`]
  })
  const problems = [...new Set(syncProblems.map(({ message }) => message))]
  const synced = problems.length === 0 ? 'it can be synced' : `it can't be synced: ${problems.join(' ')}`
  const indexed = indexes.length === 0 ? 'none' : indexes.join(', ')
  return [collection, ...indented([...texts.flat(), `sync: ${synced}`, `indexes by themselves: ${indexed}`])].join('\n')
}

function ruleText({ name, rule, cost, costs }: ExplainedRule): string[] {
  if (rule === null || cost === null) return [`${name}: superusers only`]
  if (rule === '') return [`${name}: everybody`]
  return [`${name}: ${oneLine(rule)}`, ...indented(costs.flatMap((one) => costText(one, oneLine(rule))))]
}

function costText({ accounts, cost, alternatives, problems }: CostForAccounts, rule: string): string[] {
  const head = `${audience(accounts)}: class ${cost}, ${CLASSES[cost]}`
  const parts = alternatives.flatMap(({ cost: own, foundBy, record, account, tested, position }) => {
    const found = [
      (foundBy === '' ? 'all records' : foundBy) + (record.length === 0 ? '' : `, with ${record.join(' and ')}`),
      account.length > 0 && `the account has ${account.join(' and ')}`,
      tested.length > 0 && `tested for each: ${tested.join(' and ')}`,
    ]
    const line = `${own}  ${found.filter((part) => part !== false).join('; ')}`
    return position === null ? [line] : [line, ...problemText({ message: WALK, position }, rule)]
  })
  return [head, ...indented([...parts, ...problems.flatMap((each) => problemText(each, rule))])]
}

function audience(accounts: readonly (string | null)[]): string {
  const names = accounts.filter((name) => name !== null)
  const known = names.length === 0 ? [] : [`accounts of ${names.join(', ')}`]
  return [...known, ...(accounts.includes(null) ? ['guests'] : [])].join(' and ')
}

/** With a caret under the place. */
function problemText({ message, position }: RuleProblem, rule: string): string[] {
  return position === null ? [message] : [oneLine(rule), `${' '.repeat(position)}^ ${message}`]
}

/** The rule in one line. Positions stay. */
function oneLine(rule: string): string {
  return rule.replace(/[\r\n\t]/g, ' ')
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => INDENT + line)
}
