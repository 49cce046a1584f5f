/** Says what the rules of a collection cost, and what keeps it from being synced, for those who write them: docs/internals/rule-cuts.md. */
import { parse, RuleError } from '@pannier/rules'
import { costOf, cut, type CutCost, type RuleCost } from '@pannier/rules/cut'
import type { KnownDefinitions } from '../../access/rule-records.ts'
import type { Definition, Rule } from '../../definitions/definition.ts'
import { ruleIndexesOf } from '../../definitions/rule-indexes.ts'
import { SUPERUSERS } from '../../definitions/system-collections.ts'
import { holdsRecords } from '../../fields/field-types.ts'
import { invalid } from '../../gateway/service-error.ts'
import { EVERYBODY, LIST_RULE, ruleError, syncProblem, syncRules } from './sync-rules.ts'

/** The problem of a rule: why something is not possible. */
export interface RuleProblem {
  /** The message: a sentence. */
  readonly message: string
  /** Where in the rule, from 0. Among `syncProblems`: where in the list rule. `null`: it is not about that rule. */
  readonly position: number | null
}

/** The cost of a rule for accounts that it means the same to. */
export interface CostForAccounts extends RuleCost {
  /** Names of collections; `null`: guests. */
  readonly accounts: readonly (string | null)[]
  /** Why it is of class E, or why the rule can't be asked for them. Such accounts are shown no record. */
  readonly problems: readonly RuleProblem[]
}

/** A rule of a collection, explained. */
export interface ExplainedRule {
  /** `listRule` and the like; `salary.viewRule` is that of a field. */
  readonly name: string
  /** `null`: superusers only. */
  readonly rule: Rule
  /** The cost for the accounts for which it is highest; `null` if no rule is asked. */
  readonly cost: CutCost | null
  /** The costs for accounts. Empty if superusers only may. */
  readonly costs: readonly CostForAccounts[]
}

/** The rules of a collection, explained. */
export interface ExplainedRules {
  /** The name of the collection. */
  readonly collection: string
  /** The list rule is the first. */
  readonly rules: readonly ExplainedRule[]
  /** The reasons why the collection can't be synced; none if it can be. */
  readonly syncProblems: readonly RuleProblem[]
  /** The fields that have an index by themselves: relations, and what the list rule compares. */
  readonly indexes: readonly string[]
}

/** `rule`: in place of the list rule, alone. @throws ServiceError INVALID if it is no rule */
export function explainRules(definitions: KnownDefinitions, definition: Definition, rule?: string): ExplainedRules {
  const listRule = rule ?? definition.listRule
  const meant = { ...definition, listRule }
  if (rule !== undefined) assertRule(definitions, definition, rule)
  const rules = (rule === undefined ? rulesOf(definition) : ([['listRule', rule]] as const)).map(([name, text]) =>
    explained(definitions, definition, name, text),
  )
  const relations = definition.type === 'view' ? [] : definition.fields.filter(holdsRecords)
  const compared = definition.type === 'view' ? [] : ruleIndexesOf(meant)
  return {
    collection: definition.name,
    rules,
    syncProblems: problemsOf(definitions, meant),
    indexes: [...relations.map(({ name }) => name), ...compared.map(({ on }) => on)],
  }
}

/** The list rule is the first. */
function rulesOf(definition: Definition): readonly (readonly [name: string, rule: Rule])[] {
  const { listRule, viewRule, createRule, updateRule, deleteRule } = definition
  const ofRecords =
    definition.type === 'view' ? { listRule, viewRule } : { listRule, viewRule, createRule, updateRule, deleteRule }
  const ofAccounts =
    definition.type === 'auth' ? { authRule: definition.authRule, manageRule: definition.manageRule } : {}
  const ofFields = definition.fields.flatMap(({ name, viewRule }) =>
    viewRule === undefined || viewRule === '' ? [] : [[`${name}.viewRule`, viewRule] as const],
  )
  return [...Object.entries({ ...ofRecords, ...ofAccounts }), ...ofFields]
}

function explained(definitions: KnownDefinitions, definition: Definition, name: string, rule: Rule): ExplainedRule {
  if (rule === null) return { name, rule, cost: null, costs: [] }
  const found = new Map<string, CostForAccounts>()
  for (const accounts of kindsOf(definitions)) {
    const cost = costFor(definitions, definition, rule, accounts)
    const key = JSON.stringify(cost)
    const same = found.get(key)?.accounts ?? []
    found.set(key, { accounts: [...same, accounts?.name ?? null], ...cost })
  }
  const costs = [...found.values()]
  const worst = costs.map(({ cost }) => cost).reduce((one, other) => (one > other ? one : other))
  return { name, rule, cost: worst, costs }
}

/** The kinds of accounts by their definitions. Guests come last. No rule is asked for superusers. */
function kindsOf(definitions: KnownDefinitions): (Definition | null)[] {
  return [...definitions.all().filter(({ type, name }) => type === 'auth' && name !== SUPERUSERS), null]
}

function costFor(
  { schema }: KnownDefinitions,
  { id }: Definition,
  rule: string,
  accounts: Definition | null,
): RuleCost & Pick<CostForAccounts, 'problems'> {
  try {
    const text = rule === '' ? EVERYBODY : rule
    const made = cut({ schema, collection: id, rule: parse(text), accounts: accounts?.id ?? null })
    const problems = made.problems.map(({ message, position }) => ({ message, position }))
    return { ...costOf(made), problems }
  } catch (error) {
    // The account has no such field, say: the rule admits it to no record.
    if (error instanceof RuleError)
      return { cost: 'A', alternatives: [], problems: [{ message: error.message, position: error.position }] }
    throw error
  }
}

/** @throws ServiceError INVALID if it can be asked for accounts of no kind */
function assertRule(definitions: KnownDefinitions, definition: Definition, rule: string): void {
  const errors = kindsOf(definitions).map((accounts) => ruleError(definitions, definition, rule, accounts?.id ?? null))
  const [error] = errors
  if (error !== undefined && !errors.includes(undefined))
    throw invalid(`${error.message} (at ${error.position + 1} in ${rule})`)
}

function problemsOf(definitions: KnownDefinitions, definition: Definition): readonly RuleProblem[] {
  const problem = syncProblem(definition)
  const rules = syncRules(definitions, definition)
  if (rules === undefined) return [{ message: 'Only superusers may list its records.', position: null }]
  const found = rules.problems.map(({ of, error: { message, position } }): RuleProblem =>
    of === LIST_RULE ? { message, position } : { message: `The ${of}: ${message}`, position: null },
  )
  const others = found.filter(
    (one, place) => found.findIndex((each) => each.message === one.message && each.position === one.position) === place,
  )
  return [...(problem === undefined ? [] : [{ message: problem, position: null }]), ...others]
}
