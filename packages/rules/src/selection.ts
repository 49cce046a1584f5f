/** Puts selections together: what records a rule admits, as a tree that a query planner can answer. */
import type { Selection } from 'pannier/types'

type Related = Extract<Selection, { readonly kind: 'related' }>

/** The result of `compile`. */
export interface Compiled {
  /** All records that the rule admits, and no others if `isExact`. */
  readonly selection: Selection
  /** False: ask `evaluate` about each record of the selection. */
  readonly isExact: boolean
}

export const ALL: Selection = { kind: 'and', of: [] }
export const NOTHING: Selection = { kind: 'or', of: [] }

/** The selection of a condition that selections can't express. */
export const MORE: Compiled = { selection: ALL, isExact: false }

function isAll(selection: Selection): boolean {
  return selection.kind === 'and' && selection.of.length === 0
}

export function isNothing(selection: Selection): boolean {
  return selection.kind === 'or' && selection.of.length === 0
}

export function both(parts: readonly Selection[]): Selection {
  const of = parts.flatMap((part) => (part.kind === 'and' ? part.of : [part]))
  if (of.some(isNothing)) return NOTHING
  const left = of.filter((part) => !isImplied(part, of))
  return left.length === 1 ? left[0]! : { kind: 'and', of: left }
}

/** If no related record is X, then no record is related, or some related record is not X. So it is with elements. */
function isImplied(part: Selection, others: readonly Selection[]): boolean {
  if (part.kind !== 'or') return false
  return others.some((other) => {
    if (other.kind !== 'not' || (other.of.kind !== 'related' && other.of.kind !== 'element')) return false
    const implied = [not({ ...other.of, of: ALL }), { ...other.of, of: not(other.of.of) }]
    return implied.every((one) => part.of.some((alternative) => isSame(alternative, one)))
  })
}

/** Whether two selections are the same. A selection with a function equals no other. */
function isSame(one: Selection, other: Selection): boolean {
  let hasFunction = false
  const text = JSON.stringify(one, (_, value: unknown) => {
    hasFunction ||= typeof value === 'function'
    return value
  })
  return text === JSON.stringify(other) && !hasFunction
}

/** Alternatives one step away are one step, so that its records are looked up once. */
export function either(parts: readonly Selection[]): Selection {
  const steps = new Map<string, Selection[]>()
  const of: Selection[] = []
  for (const part of parts.flatMap((each) => (each.kind === 'or' ? each.of : [each]))) {
    if (isAll(part)) return ALL
    const step = part.kind === 'related' || part.kind === 'element' ? JSON.stringify({ ...part, of: null }) : ''
    const group = steps.get(step)
    if (step !== '' && group !== undefined) group.push(part)
    else {
      const made = [part]
      if (step !== '') steps.set(step, made)
      of.push(...(step === '' ? made : []))
    }
  }
  for (const group of steps.values()) {
    const [first] = group as [Related]
    of.push(group.length === 1 ? first : { ...first, of: either(group.map((part) => (part as Related).of)) })
  }
  return of.length === 1 ? of[0]! : { kind: 'or', of }
}

export function not(of: Selection): Selection {
  if (of.kind === 'not') return of.of
  return isAll(of) ? NOTHING : isNothing(of) ? ALL : { kind: 'not', of }
}

/** Some element of a list. The record that an element leads to is one that the list leads to. */
export function element(field: string, of: Selection): Selection {
  if (of.kind === 'or') return either(of.of.map((part) => element(field, part)))
  return of.kind === 'related' && of.field === '' ? { ...of, field } : { kind: 'element', field, of }
}
