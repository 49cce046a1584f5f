/**
 * Cuts a rule at the fields of its own record. Left of the cut are the record's own values, the same for everybody. Right of it are sets
 * and bounds that an account computes from itself and from other records. A record is admitted if the two meet.
 */
import type { Expression } from './ast.ts'
import { bind } from './bind.ts'
import { askedBy, atomsOf, comparisonsOf, type Atom, type AtomNumber } from './cut-atoms.ts'
import { cutGroup, groupsOf, type Cutting, type OwnRange, type OwnSet } from './cut-groups.ts'
import { RuleError } from './errors.ts'
import { some } from './evaluate.ts'
import { PLAIN_AUTH_FIELDS } from './path.ts'
import type { BoundRule, Join } from './plan.ts'
import type { FoundRecords, RuleRecord, RuleRecords } from './records.ts'
import type { RuleRequest } from './request.ts'
import type { Collection, Schema } from './schema.ts'

/** A rule of more alternatives is not cut. */
const ALTERNATIVES_MAX = 32

/** The options of `cut`. */
export interface CutOptions {
  /** The schema of all collections. */
  readonly schema: Schema
  /** Name or id of the collection that the rule is about. */
  readonly collection: string
  /** A rule of the collection, such as its list rule. */
  readonly rule: Expression
  /** The collection of the accounts that ask; `null` for guests. */
  readonly accounts: string | null
}

/** A rule that is cut, for the accounts of one collection or for guests. */
export interface Cut extends CutOptions {
  /** A record is admitted if one of them admits it. */
  readonly alternatives: readonly Alternative[]
  /** The parts that can't be cut, with positions in the rule. If there is one, the alternatives say nothing. */
  readonly problems: readonly RuleError[]
  /** The collections of other records that the rule reads. */
  readonly collections: readonly Collection[]
  /** @internal The fields of the account that need no look at its stored record. */
  readonly accountFields: readonly string[]
  /** @internal The rule for an account that is not known: enough for conditions on own values alone. */
  readonly stranger: BoundAtoms
}

/** An alternative: conditions that must hold together. */
export interface Alternative {
  /** Equal keys have equal `ground`, `range` and `own` of every record, also between accounts of several collections. */
  readonly key: string
  /** Conditions on own values alone. */
  readonly record: readonly AtomNumber[]
  /** Conditions on the account alone. */
  readonly account: readonly AtomNumber[]
  /** The set that finds the records; undefined if all records have to be asked. */
  readonly ground: OwnSet | undefined
  /** The range of a bound that finds them, too. */
  readonly range: OwnRange | undefined
  /** Other sets that an own value must be in. */
  readonly sets: readonly OwnSet[]
  /** Other conditions on own values and the account or the clock. */
  readonly tests: readonly { readonly atoms: readonly AtomNumber[]; readonly clock: boolean }[]
  /** The own fields that `sets` and `tests` read, by name. */
  readonly own: readonly string[]
  /** Whether what the account computes may change with time alone. */
  readonly isTimed: boolean
}

/**
 * Cuts a rule. The result depends on the schema and on the collection of the accounts, and on no account and no record.
 *
 * @throws RuleError unknown: a name leads nowhere
 *
 * @example
 * import { parse } from '@pannier/rules'
 * import { cut } from '@pannier/rules/cut'
 *
 * const rule = parse('project.members.id ?= @request.auth.id')
 * const { alternatives } = cut({ schema, collection: 'tasks', rule, accounts: 'users' })
 * alternatives[0]?.ground // { fields: ['project'], step: { kind: 'to', collection: 'projects' }, … }
 */
export function cut(options: CutOptions): Cut {
  const { rule } = options
  const stranger = boundAtoms(options, STRANGER, NO_TIME)
  const { bound, atoms } = stranger
  const asks = comparisonsOf(rule).map(askedBy)
  const problems: RuleError[] = []
  const refuse = (problem: string, [first = 0]: readonly AtomNumber[]): void => {
    const { left } = comparisonsOf(rule)[first >> 1]!
    if (!problems.some(({ position, message }) => position === left.at && message === problem))
      problems.push(new RuleError('limit', problem, left.at))
  }
  const all = alternativesOf(rule, { next: 0 })
  if (all === undefined) refuse(`It has more than ${ALTERNATIVES_MAX} alternatives.`, [])
  const askedOf = ({ number }: Atom) => asks[number >> 1]!
  const alternatives = (all ?? []).map((comparisons) => {
    const own = comparisons.flatMap((place) => [2 * place, 2 * place + 1]).flatMap((number) => atoms.get(number) ?? [])
    const mayMiss = (group: readonly Atom[]): boolean =>
      group.some((atom) => askedOf(atom).address) || meetsNothing(group, bound)
    const cuttings = groupsOf(own, bound.record).map((group) => cutGroup(group, bound.record, askedOf, mayMiss))
    for (const each of cuttings) if (each.kind === 'problem') refuse(each.problem, each.atoms)
    const isTimed = cuttings.some((each) => atomsComputed(each).some((number) => asks[number >> 1]!.clock !== 'none'))
    return alternativeOf(cuttings, isTimed, rule)
  })
  return {
    ...options,
    alternatives,
    problems,
    collections: bound.collections,
    accountFields: accountFieldsOf(rule),
    stranger,
  }
}

/** `@request.auth.id` and the like. */
function accountFieldsOf(rule: Expression): string[] {
  const operands = comparisonsOf(rule).flatMap(({ left, right }) => [left, right])
  const names = operands.flatMap((operand) => (operand.kind === 'call' ? operand.of : [operand]))
  const fields = names.flatMap((operand) =>
    operand.kind === 'name' ? (/^@request\.auth\.(\w+)$/.exec(operand.name)?.[1] ?? []) : [],
  )
  return [...new Set(fields)].filter((name) => PLAIN_AUTH_FIELDS.has(name))
}

/** One comparison of each alternative of every `||`; undefined if there are too many. */
function alternativesOf(expression: Expression, place: { next: number }): number[][] | undefined {
  if (expression.kind === 'comparison') return [[place.next++]]
  let all: number[][] | undefined = expression.kind === 'or' ? [] : [[]]
  for (const part of expression.of) {
    const alternatives: number[][] | undefined = alternativesOf(part, place)
    if (all === undefined || alternatives === undefined) all = undefined
    else if (expression.kind === 'or') all = [...all, ...alternatives]
    else all = all.flatMap((one) => alternatives.map((other) => [...one, ...other]))
    if (all !== undefined && all.length > ALTERNATIVES_MAX) all = undefined
  }
  return all
}

/** The comparisons that the account answers once, and not beside each record. */
function atomsComputed(cutting: Cutting): readonly AtomNumber[] {
  if (cutting.kind === 'set') return cutting.set.atoms
  return cutting.kind === 'account' ? cutting.atoms : []
}

function alternativeOf(cuttings: readonly Cutting[], isTimed: boolean, rule: Expression): Alternative {
  const of = <K extends Cutting['kind']>(kind: K) =>
    cuttings.filter((each): each is Extract<Cutting, { kind: K }> => each.kind === kind)
  const ground = of('set')
    .filter(({ isGround }) => isGround)
    .toSorted((one, other) => rankOf(one.set) - rankOf(other.set))[0]?.set
  const [range, ...ranges] = of('range').map((each) => each.range)
  const sets = of('set').flatMap(({ set }) => (set === ground ? [] : [set]))
  const tests = [
    ...of('test'),
    ...ranges.map(({ field, by, atoms }) => ({ fields: [field], atoms, clock: by === 'clock' })),
  ]
  const own = [...new Set([...sets, ...tests].flatMap(({ fields }) => fields))].toSorted()
  const record = of('record').flatMap(({ atoms }) => atoms)
  const comparisons = comparisonsOf(rule)
  const written = record.map((number) => [comparisons[number >> 1], number % 2])
  const key = JSON.stringify(
    [written, ground?.fields ?? null, range === undefined ? null : [range.field], own],
    (name, value: unknown) => (name === 'at' ? undefined : value),
  )
  const account = of('account').flatMap(({ atoms }) => atoms)
  return { key, record, account, ground, range, sets, tests, own, isTimed }
}

/** The rank of a set: an account's own values are the quickest to know, and values that everybody has find the most records. */
function rankOf({ step, ofAccount }: OwnSet): number {
  return step.kind === 'account' ? 0 : ofAccount ? 1 : 2
}

/** An unknown account, whose values are not empty. */
const STRANGER: RuleRecord = { id: '?', email: '?', verified: true, emailVisibility: true }

/** A time for conditions on own values alone, which do not read it. */
const NO_TIME = new Date(0)

/** The rule of a cut for one account. */
export interface BoundAtoms {
  readonly bound: BoundRule
  readonly atoms: ReadonlyMap<AtomNumber, Atom>
}

/** Binds the rule of a cut for one account, whose record has the fields that the rule reads. */
export function boundAtoms(options: CutOptions, account: RuleRecord, now: Date): BoundAtoms {
  const { schema, collection, rule, accounts } = options
  const auth = accounts === null ? null : { collection: accounts, record: account }
  const request: RuleRequest = { auth, body: {}, query: {}, headers: {}, method: 'GET', context: 'default' }
  const bound = bind({ schema, collection, rule, request, now })
  return { bound, atoms: atomsOf(bound.condition) }
}

/** Whether a record without related ones may meet the conditions on them, as far as can be said of no account. */
function meetsNothing(group: readonly Atom[], { record, now }: BoundRule): boolean {
  const steps = new Set(
    group.flatMap((atom) => [...atom.joins]).filter((join) => join.kind === 'back' && join.parent === record),
  )
  const leadsHere = (name: string, field: string): boolean =>
    [...steps].some((join) => join.kind === 'back' && join.collection.name === name && join.field.name === field)
  const records: RuleRecords = {
    get: () => undefined,
    via: (name, field) => (leadsHere(name, field) ? NONE : UNKNOWN),
    all: () => UNKNOWN,
  }
  const rows = new Map<Join, RuleRecord>([[record, STRANGER]])
  return some({ kind: 'and', of: group.map(({ leaf }) => leaf) }, { rows, records, now }) !== false
}

const NONE: FoundRecords = { records: [], isComplete: true }
const UNKNOWN: FoundRecords = { records: [], isComplete: false }
