/**
 * Turns a bound rule into a selection. Conditions on one joined row stay together, in one step. What a selection can't say is
 * left out, so that it has more records than the rule admits; `evaluate` says which.
 */
import type { Selection } from 'pannier/types'
import { compileTest } from './compile-test.ts'
import { firstOf, independent, rowsOf, type Row, type Work } from './evaluate.ts'
import { readByTest, withParents, type BoundRule, type Condition, type Join, type Leaf, type Test } from './plan.ts'
import type { RuleRecords } from './records.ts'
import { valueType } from './schema.ts'
import { ALL, both, either, element, isNothing, MORE, not, NOTHING, type Compiled } from './selection.ts'

/** More alternatives than this of one joined row are not compiled. */
const ALTERNATIVES_MAX = 32

/** More rows than this, of the account or of the body, are not compiled. */
const FIXED_ROWS_MAX = 100

/** A condition whose tests, match-alls and visibilities stand apart. */
type Part = { readonly kind: 'and' | 'or'; readonly of: readonly Part[] } | Atom

interface Atom {
  readonly kind: 'atom'
  readonly test: Test
  /** The wanted result: whether the test must be true, or false. */
  readonly wanted: boolean
  /** No choice of rows of these joins makes the test false. */
  readonly none?: ReadonlySet<Join>
  readonly joins: ReadonlySet<Join>
}

/** The join that a selection is about, and the rows that are known. */
interface SelectionScope {
  readonly here: Join
  readonly work: Work
  /** The joins that have rows, `here` too. */
  readonly bound: ReadonlySet<Join>
}

/**
 * Compiles a rule for a query planner. What depends on the request and the account alone is answered at once.
 *
 * @example
 * import { compile } from '@pannier/rules/compile'
 *
 * const { selection, isExact } = compile(bound, records)
 * // author.name ?= 'Ann': { kind: 'related', step: 'to', field: 'author', collection: 'users', of: { kind: 'compare', … } }
 */
export function compile(bound: BoundRule, records: RuleRecords): Compiled {
  const work: Work = { rows: new Map(), records, now: bound.now }
  return select([partOf(bound.condition)], { here: bound.record, work, bound: new Set([bound.record]) })
}

/** The rows of a step that meet all leaves; or those that fail the match-all of the first. More rows, if that can't be said. */
export function selectRows(join: Join, leaves: readonly Leaf[], isFailing: boolean, work: Work): Selection {
  const [first] = leaves
  const parts = isFailing ? [atom(first!.every!.test, false)] : leaves.map(partsOfLeaf)
  return select(parts, { here: join, work, bound: withParents([join]) }).selection
}

function partOf(condition: Condition): Part {
  return condition.kind === 'leaf' ? partsOfLeaf(condition) : { kind: condition.kind, of: condition.of.map(partOf) }
}

function partsOfLeaf({ test, every, visible }: Leaf): Part {
  const of: Part[] = [atom(test, true)]
  if (every !== undefined) of.push(atom(every.test, true, every.joins))
  for (const join of visible) {
    const field = 'collection' in join ? join.collection.fields.get('emailVisibility') : undefined
    if (field === undefined) continue
    const left = { kind: 'field', join, field } as const
    of.push(atom({ kind: 'compare', operator: '=', left, right: { kind: 'constant', value: 1 } }, true))
  }
  return of.length === 1 ? of[0]! : { kind: 'and', of }
}

function atom(test: Test, wanted: boolean, none?: ReadonlySet<Join>): Atom {
  const joins = withParents(readByTest(test))
  for (const own of none ?? []) joins.delete(own)
  return { kind: 'atom', test, wanted, joins, ...(none === undefined ? {} : { none }) }
}

function joinsOf(part: Part): ReadonlySet<Join> {
  return part.kind === 'atom' ? part.joins : new Set(part.of.flatMap((each) => [...joinsOf(each)]))
}

function openOf(part: Part, { bound }: SelectionScope): Join[] {
  return Array.from(joinsOf(part)).filter((join) => !bound.has(join))
}

/** The records for which some choice of rows of the open joins meets all parts. */
function select(parts: readonly Part[], place: SelectionScope): Compiled {
  const flat = parts.flatMap((part) => (part.kind === 'and' ? part.of : [part]))
  if (flat.some((part) => part.kind === 'and')) return select(flat, place)
  const groups = independent(flat, (part) => openOf(part, place)).map((group) => selectGroup(group, place))
  return { selection: both(groups.map((group) => group.selection)), isExact: groups.every((group) => group.isExact) }
}

function selectGroup(parts: readonly Part[], place: SelectionScope): Compiled {
  const alternatives = parts.find((part) => part.kind === 'or')
  if (alternatives !== undefined) {
    const rest = parts.filter((part) => part !== alternatives)
    const of = alternatives.kind === 'or' ? alternatives.of : []
    if (rest.length > 0 && of.length * parts.length > ALTERNATIVES_MAX) return MORE
    return union(of.map((part) => select([part, ...rest], place)))
  }
  const next = firstOf(parts.flatMap((part) => openOf(part, place)))
  if (next !== undefined) return step(next, parts, place)
  const atoms = parts.map((part) => compileAtom(part as Atom, place))
  return { selection: both(atoms.map((each) => each.selection)), isExact: atoms.every((each) => each.isExact) }
}

function union(parts: readonly Compiled[]): Compiled {
  return { selection: either(parts.map((part) => part.selection)), isExact: parts.every((part) => part.isExact) }
}

function compileAtom({ test, wanted, none }: Atom, place: SelectionScope): Compiled {
  if (none === undefined) return compileTest(test, wanted, place.here, place.work)
  const failing = select([atom(test, false)], place)
  // What has too many records can't be subtracted.
  return failing.isExact ? { selection: not(failing.selection), isExact: true } : MORE
}

/** Chooses a row of a join. */
function step(join: Join, parts: readonly Part[], place: SelectionScope): Compiled {
  const { work, here } = place
  const bound = new Set([...place.bound, join])
  const withRow = (row: Row): Compiled => {
    work.rows.set(join, row)
    const compiled = select(parts, { ...place, bound })
    work.rows.delete(join)
    return compiled
  }
  if (isFixed(join, work)) {
    const { rows, isComplete } = rowsOf(join, work)
    const few = isComplete && rows.length <= FIXED_ROWS_MAX
    return few ? union(rows.map(withRow)) : MORE
  }
  const isOther = join.parent !== undefined && join.parent !== here
  if (isOther || (join.kind === 'each' && !join.field.isMany)) return MORE
  const on = join.kind === 'all' ? pairsOf(parts, join, here) : []
  const inner = on.length === 0 ? parts : parts.filter((part) => !on.some((pair) => pair.part === part))
  const found = select(inner, { here: join, work, bound })
  const reached = isNothing(found.selection)
    ? NOTHING
    : stepTo(
        join,
        found.selection,
        on.map(({ fields }) => fields),
      )
  const missing = withRow(null)
  const nowhere = both([not(stepTo(join, ALL, [])), missing.selection])
  return { selection: either([reached, nowhere]), isExact: found.isExact && missing.isExact }
}

/** Whether the rows of a join do not depend on the record. */
function isFixed(join: Join, { rows }: Work): boolean {
  return join.kind === 'ids' || join.kind === 'items' || (join.parent !== undefined && rows.has(join.parent))
}

function stepTo(join: Join, of: Selection, on: readonly (readonly [string, string])[]): Selection {
  switch (join.kind) {
    case 'each':
      return element(join.field.name, of)
    case 'related':
      return { kind: 'related', step: 'to', collection: join.collection.name, field: join.field?.name ?? '', on, of }
    case 'back':
      return { kind: 'related', step: 'from', collection: join.collection.name, field: join.field.name, on, of }
    default:
      return {
        kind: 'related',
        step: 'any',
        collection: join.kind === 'all' ? join.collection.name : '',
        field: '',
        on,
        of,
      }
  }
}

/** Equalities of a text of any record with a text of this record. */
function pairsOf(parts: readonly Part[], join: Join, here: Join): { part: Part; fields: readonly [string, string] }[] {
  return parts.flatMap((part) => {
    const fields = part.kind === 'atom' && !part.none && part.wanted && pairOf(part.test, join, here)
    return fields ? [{ part, fields }] : []
  })
}

/** The two fields of a test that says that a text of any record equals one of this record. */
export function pairOf(test: Test, join: Join, here: Join): readonly [any: string, own: string] | undefined {
  if (test.kind !== 'coalesced' || test.negated) return undefined
  const { left, right } = test
  if (left.kind !== 'field' || right.kind !== 'field') return undefined
  const [one, other] = left.join === join ? [left, right] : [right, left]
  const isPair =
    one.join === join && other.join === here && valueType(one.field) === 'string' && valueType(other.field) === 'string'
  return isPair ? [one.field.name, other.field.name] : undefined
}
