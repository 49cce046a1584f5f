/** The tests of a rule one by one, and what each of them reads. */
import type { Comparison, Expression, Operand } from './ast.ts'
import { withParents, readByTest, valuesIn, type Condition, type Join, type Leaf, type Value } from './plan.ts'
import { MACRO_NAMES } from './time.ts'

/** A comparison of a rule, or its match-all: twice the place of the comparison, and one more for the match-all. */
export type AtomNumber = number

/** The question of an atom, for one account. */
export interface Atom {
  readonly number: AtomNumber
  readonly leaf: Leaf
  /** No choice of rows of these joins makes the test false. */
  readonly none?: ReadonlySet<Join> | undefined
  /** All joins whose rows it reads, those of the match-all too. */
  readonly joins: ReadonlySet<Join>
}

/** The comparisons of a rule in their order. Those of its condition are in the same one. */
export function comparisonsOf(expression: Expression): readonly Comparison[] {
  return expression.kind === 'comparison' ? [expression] : expression.of.flatMap(comparisonsOf)
}

function leavesOf(condition: Condition): readonly Leaf[] {
  return condition.kind === 'leaf' ? [condition] : condition.of.flatMap(leavesOf)
}

/** The atoms of a bound rule by their numbers. Comparisons without a match-all have none with an odd number. */
export function atomsOf(condition: Condition): ReadonlyMap<AtomNumber, Atom> {
  const atoms = new Map<AtomNumber, Atom>()
  for (const [place, { test, every }] of leavesOf(condition).entries()) {
    const joins = withParents(readByTest(test))
    const leaf: Leaf = { kind: 'leaf', test, visible: [], joins }
    atoms.set(2 * place, { number: 2 * place, leaf, joins })
    if (every !== undefined) atoms.set(2 * place + 1, matchAll(2 * place + 1, every))
  }
  return atoms
}

function matchAll(number: AtomNumber, every: NonNullable<Leaf['every']>): Atom {
  const joins = withParents(readByTest(every.test))
  const shared = new Set([...joins].filter((join) => !every.joins.has(join)))
  const leaf: Leaf = { kind: 'leaf', test: { kind: 'constant', value: true }, every, visible: [], joins: shared }
  return { number, leaf, none: every.joins, joins }
}

/** Names that a comparison asks beside records. */
export interface AskedNames {
  /** A value of the account. */
  readonly auth: boolean
  /** The account's address, which may be empty. */
  readonly address: boolean
  /** A value of the request that no replica has: body, query, headers, method, context. */
  readonly request: boolean
  /** The words of a record, which no half knows. */
  readonly search: boolean
  /** `moment` never goes back with time; `part` does, such as an hour. */
  readonly clock: 'none' | 'moment' | 'part'
}

const PARTS = /^@(second|minute|hour|day|month|weekday|year)$/

/** The names that a comparison asks. */
export function askedBy({ left, right }: Comparison): AskedNames {
  const operands = [left, right].flatMap((operand) => (operand.kind === 'call' ? [operand, ...operand.of] : [operand]))
  const names = operands.flatMap((operand) => (operand.kind === 'name' ? [operand.name] : []))
  const macros = names.filter((name) => MACRO_NAMES.includes(name))
  const isPart = macros.some((name) => PARTS.test(name)) || operands.some(readsClock)
  return {
    auth: names.some((name) => name.startsWith('@request.auth.')),
    address: names.some((name) => name.startsWith('@request.auth.email')),
    request: names.some((name) => name.startsWith('@request.') && !name.startsWith('@request.auth.')),
    search: operands.some((operand) => operand.kind === 'call' && operand.name === 'search'),
    clock: isPart ? 'part' : macros.length > 0 ? 'moment' : 'none',
  }
}

/** `strftime` without a time, or with a text that may be `now`. */
function readsClock(operand: Operand): boolean {
  return (
    operand.kind === 'call' &&
    operand.name === 'strftime' &&
    (operand.of.length === 1 || operand.of[1]!.kind === 'text')
  )
}

/** Whether the rows of a join do not depend on the record. */
export function isFixed(join: Join): boolean {
  return join.kind === 'ids' || join.kind === 'items' || (join.parent !== undefined && isFixed(join.parent))
}

/** Whether a join has one row, which does not depend on the record. */
export function isKnownRow(join: Join): boolean {
  if (join.kind === 'ids') return join.ids.length <= 1
  const isOne = join.kind === 'related' ? join.field !== undefined : join.kind === 'back' && join.field.isUnique
  return isOne && isKnownRow(join.parent as Join)
}

/** The fields of a join's row that an atom reads; '' is the element itself. */
export function fieldsRead({ leaf }: Atom, join: Join): ReadonlySet<string> {
  const fields = new Set<string>()
  for (const test of [leaf.test, ...(leaf.every === undefined ? [] : [leaf.every.test])])
    for (const value of valuesIn(test)) visit(value, join, fields)
  return fields
}

function visit(value: Value, join: Join, fields: Set<string>): void {
  if (value.kind === 'lower' || value.kind === 'around') visit(value.of, join, fields)
  else if (value.kind === 'call') for (const argument of value.of) visit(argument, join, fields)
  else if (value.kind === 'search') return
  else if ('join' in value && value.join === join) fields.add(value.kind === 'element' ? '' : value.field.name)
}

/** The field of the parent that leads to a join; '' where it starts by itself. A back-relation leads by the id. */
export function fieldTo(join: Join): string {
  if (join.kind === 'back') return 'id'
  return (join.kind === 'related' || join.kind === 'each') && join.field !== undefined ? join.field.name : ''
}
