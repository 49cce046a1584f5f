/** Tells on which side of the cut the conditions on one joined row are: the record's, the account's, or both. */
import { fieldsRead, fieldTo, isFixed, isKnownRow, type AskedNames, type Atom, type AtomNumber } from './cut-atoms.ts'
import { pairOf } from './compile-rule.ts'
import type { Join, Value } from './plan.ts'
import { affinityOf, valueType, type Collection } from './schema.ts'

/** Which values a set has, by what leads from the record's own field to other records. */
export type SetStep =
  /** Values of the account itself. */
  | { readonly kind: 'account' }
  /** Ids of related records. */
  | { readonly kind: 'to'; readonly collection: string }
  /** Ids that a relation of other records has. */
  | { readonly kind: 'from'; readonly collection: string; readonly field: string }
  /** Values that other records have in these fields, in the order of the own ones. */
  | { readonly kind: 'any'; readonly collection: string; readonly fields: readonly string[] }

/** A test of the record's own values beside a set of values that an account computes from other records. */
export interface OwnSet {
  /** One own field, or several whose values stand together. */
  readonly fields: readonly string[]
  /** Where the values of the set come from. */
  readonly step: SetStep
  /** Whether each value of the field must pass, or one. */
  readonly isEvery: boolean
  /** Whether the set depends on the account; else everybody has the same one. */
  readonly ofAccount: boolean
  /** The numbers of the comparisons (atoms) that it stands for. */
  readonly atoms: readonly AtomNumber[]
}

/** An own value beside one of the account or of the clock. */
export interface OwnRange {
  /** The own field. */
  readonly field: string
  /** The operator between the own value and the other one. */
  readonly operator: '<' | '<=' | '>' | '>='
  /** The source of the other value. */
  readonly by: 'account' | 'clock'
  /** The number of the comparison (atom) that it stands for. */
  readonly atoms: readonly AtomNumber[]
}

/** The result of cutting a group of conditions. */
export type Cutting =
  | { readonly kind: 'record' | 'account'; readonly atoms: readonly AtomNumber[] }
  /** Own values beside what is known of the account or the clock, where no set and no range says it. */
  | {
      readonly kind: 'test'
      readonly fields: readonly string[]
      readonly atoms: readonly AtomNumber[]
      readonly clock: boolean
    }
  | { readonly kind: 'set'; readonly set: OwnSet; readonly isGround: boolean }
  | { readonly kind: 'range'; readonly range: OwnRange }
  | { readonly kind: 'problem'; readonly problem: string; readonly atoms: readonly AtomNumber[] }

/** Atoms that share a joined row, where there may be several rows. */
export function groupsOf(atoms: readonly Atom[], record: Join): Atom[][] {
  let groups: { atoms: Atom[]; open: Set<Join> }[] = []
  for (const atom of atoms) {
    const open = Array.from(atom.leaf.joins).filter((join) => join !== record && !isKnownRow(join))
    const shared = groups.filter((group) => open.some((join) => group.open.has(join)))
    groups = groups.filter((group) => !shared.includes(group))
    groups.push({
      atoms: [...shared.flatMap((group) => group.atoms), atom],
      open: new Set([...open, ...shared.flatMap((group) => [...group.open])]),
    })
  }
  return groups.map((group) => group.atoms)
}

/** Where the conditions of a group are cut. `mayMiss`: whether a record without related ones may meet them. */
export function cutGroup(
  group: readonly Atom[],
  record: Join,
  asked: (atom: Atom) => AskedNames,
  mayMiss: (group: readonly Atom[]) => boolean,
): Cutting {
  const atoms = group.map((atom) => atom.number)
  const asks = group.map(asked)
  const problem = (text: string): Cutting => ({ kind: 'problem', problem: text, atoms })
  if (asks.some(({ request }) => request)) return problem('It asks about one request.')
  if (asks.some(({ search }) => search)) return problem('It searches for words.')
  const auth = asks.some((each) => each.auth)
  const clock = asks.some((each) => each.clock !== 'none')
  const joins = new Set(group.flatMap((atom) => [...atom.joins]))
  const own = ownFields(group, record, joins)
  const beyond = Array.from(joins).filter((join) => join !== record && !isFixed(join) && !isOwnList(join, record))
  if (own.size === 0 && !beyond.some((join) => rootOf(join).kind === 'record')) return { kind: 'account', atoms }
  if (beyond.length > 0) return cutBeyond(group, record, own, { auth, clock }, mayMiss)
  if (!auth && !clock) return { kind: 'record', atoms }
  const range = rangeOf(group, record, asks)
  if (range !== undefined) return { kind: 'range', range }
  const [field, ...others] = own
  if (!clock && others.length === 0 && group.some((atom) => isEquality(atom, record)))
    return {
      kind: 'set',
      isGround: true,
      set: { fields: [field!], step: { kind: 'account' }, isEvery: false, ofAccount: true, atoms },
    }
  return { kind: 'test', fields: [...own], atoms, clock }
}

/** Conditions on records that the record's own fields lead to. */
function cutBeyond(
  group: readonly Atom[],
  record: Join,
  own: ReadonlySet<string>,
  { auth, clock }: { readonly auth: boolean; readonly clock: boolean },
  mayMiss: (group: readonly Atom[]) => boolean,
): Cutting {
  const atoms = group.map((atom) => atom.number)
  const problem = (text: string): Cutting => ({ kind: 'problem', problem: text, atoms })
  const steps = firstSteps(group, record)
  if (steps.length > 1) return problem('It compares records that two fields lead to.')
  const [step] = steps as [Join]
  const isEvery = group.some(({ none }) => none !== undefined)
  if (isEvery && (group.length > 1 || step.kind === 'all'))
    return problem('It compares all records that one field leads to with others.')
  const pairs = step.kind === 'all' ? pairsIn(group, step, record) : []
  const fields = step.kind === 'all' ? pairs.map(([, field]) => field) : [fieldTo(step)]
  if (fields.length === 0 || Array.from(own).some((name) => !fields.includes(name)))
    return problem('It compares another record with a field of the record itself.')
  const isGround = !isEvery && !(step.kind === 'back' && mayMiss(group))
  return {
    kind: 'set',
    isGround,
    set: { fields, step: setStep(step, group, pairs), isEvery, ofAccount: auth || clock, atoms },
  }
}

function setStep(step: Join, group: readonly Atom[], pairs: readonly (readonly [string, string])[]): SetStep {
  const { name } = (relatedRows(group, step) as { readonly collection: Collection }).collection
  if (step.kind === 'back') return { kind: 'from', collection: name, field: step.field.name }
  return step.kind === 'all'
    ? { kind: 'any', collection: name, fields: pairs.map(([theirs]) => theirs) }
    : { kind: 'to', collection: name }
}

/** The join of the related records: a list leads to them by its elements. */
function relatedRows(group: readonly Atom[], step: Join): Join {
  if (step.kind !== 'each') return step
  const joins = group.flatMap((atom) => [...atom.joins])
  return joins.find((join) => join.kind === 'related' && join.parent === step)!
}

/** The join of the related records that a group leads to in one step. */
export function rowsOfGroup(group: readonly Atom[], record: Join): Join {
  return relatedRows(group, firstSteps(group, record)[0]!)
}

function pairsIn(group: readonly Atom[], step: Join, record: Join): (readonly [theirs: string, own: string])[] {
  return group.map(({ leaf }) => pairOf(leaf.test, step, record)).filter((pair) => pair !== undefined)
}

/** The first steps from the record, or to all records of a collection. */
function firstSteps(group: readonly Atom[], record: Join): Join[] {
  const joins = new Set(group.flatMap((atom) => [...atom.joins]))
  return Array.from(joins).filter((join) => join.kind === 'all' || join.parent === record)
}

function rootOf(join: Join): Join {
  return join.parent === undefined ? join : rootOf(join.parent)
}

function isOwnList(join: Join, record: Join): boolean {
  return join.kind === 'each' && join.parent === record
}

/** The own fields whose values, or whose elements, the atoms compare. */
function ownFields(group: readonly Atom[], record: Join, joins: ReadonlySet<Join>): ReadonlySet<string> {
  const own = new Set(group.flatMap((atom) => [...fieldsRead(atom, record)]))
  for (const join of joins)
    if (isOwnList(join, record) && group.some((atom) => fieldsRead(atom, join).size > 0)) own.add(fieldTo(join))
  return own
}

/** An own value, or an element of an own list, is equal to what is known. */
function isEquality({ leaf: { test, every } }: Atom, record: Join): boolean {
  if (every !== undefined) return false
  if (test.kind === 'empty') return !test.negated && isOwnColumn(test.of, record)
  if (test.kind !== 'coalesced' && test.kind !== 'compare') return false
  const isEqual = test.kind === 'coalesced' ? !test.negated : test.operator === '=' || test.operator === 'is'
  return isEqual && isOwnColumn(test.left, record) !== isOwnColumn(test.right, record)
}

function isOwnColumn(value: Value, record: Join): boolean {
  if (value.kind === 'element') return isOwnList(value.join, record)
  if (value.kind !== 'field' || value.join !== record) return false
  return valueType(value.field) !== 'object'
}

const SWAPPED = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const

function rangeOf(group: readonly Atom[], record: Join, asks: readonly AskedNames[]): OwnRange | undefined {
  const [atom, ...others] = group
  const { test, every } = atom!.leaf
  if (others.length > 0 || every !== undefined || test.kind !== 'compare') return undefined
  const { operator, left, right } = test
  if (operator === '=' || operator === 'is' || operator === 'is not') return undefined
  const isSwapped = isOwnColumn(right, record)
  const [value, other] = isSwapped ? [right, left] : [left, right]
  if (value.kind !== 'field' || !isOwnColumn(value, record) || valueType(value.field) === 'boolean') return undefined
  const [{ auth, clock }] = asks as [AskedNames]
  if (auth && clock !== 'none') return undefined
  // Else the column's values would be converted, and have another order.
  if (other.kind !== 'parameter' && (other.kind !== 'field' || affinityOf(other.field) !== affinityOf(value.field)))
    return undefined
  if (clock !== 'none' && (clock !== 'moment' || valueType(value.field) === 'number' || other.kind !== 'parameter'))
    return undefined
  if ([...atom!.joins].some((join) => join !== record && !isKnownRow(join))) return undefined
  const atoms = [atom!.number]
  return {
    field: value.field.name,
    operator: isSwapped ? SWAPPED[operator] : operator,
    by: clock === 'none' ? 'account' : 'clock',
    atoms,
  }
}
