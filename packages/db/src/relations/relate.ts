/**
 * Gives a predicate its meaning where relations are declared. In the condition each step along a relation is a node
 * `related`, and each "not" of such a step a node `complement`. docs/internals/relations.md is normative.
 */
import { ArgumentError } from '../base/options.ts'
import { combine, isAlways, isNever, normalise, type Condition, type RelatedCondition } from '../query/ast/normalise.ts'
import type { Predicate, QuantifiedPredicate } from '../query/ast/predicate.ts'
import { alongSteps, followPath, nearestStep, type RelationPath } from './relation-path.ts'
import type { RelationGraph } from './relation-graph.ts'

type Leaf = Exclude<Predicate, { readonly kind: 'and' | 'or' | 'not' | 'quantified' }>

export const ALWAYS: Condition = { kind: 'and', of: [] }
export const NEVER: Condition = { kind: 'or', of: [] }

/** `predicate` is about documents of the collection. A path that no relation allows is an ArgumentError. */
export function relate(graph: RelationGraph, collection: string, predicate: Predicate, negated = false): Condition {
  switch (predicate.kind) {
    case 'and':
    case 'or': {
      const parts = predicate.of.map((part) => relate(graph, collection, part, negated))
      return joined((predicate.kind === 'and') === negated ? 'or' : 'and', parts)
    }
    case 'not':
      return relate(graph, collection, predicate.of, !negated)
    case 'quantified':
      return quantified(graph, collection, predicate, negated)
    default:
      return leaf(followPath(graph, collection, predicate.path, placeOf(predicate.path)), predicate, negated)
  }
}

/** The collections whose documents the condition reads, beside its own. */
export function relatedCollections(condition: Condition): readonly string[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.of.flatMap(relatedCollections)
    case 'complement':
    case 'elements':
      return relatedCollections(condition.of)
    case 'related':
      return [condition.to, ...relatedCollections(condition.of)]
    default:
      return []
  }
}

function leaf({ steps, rest }: RelationPath, predicate: Leaf, negated: boolean): Condition {
  const { path } = predicate
  if (steps.length === 0) return normalise(predicate, negated)
  if (rest === '')
    throw new ArgumentError(`${placeOf(path)} must name a field of the related documents (write '${path}._id')`, path)
  const end = { ...predicate, path: rest }
  const firstMany = steps.findIndex(({ many }) => many)
  if (firstMany === -1) {
    // A missing value meets a negated leaf only if that asks for it to be missing.
    return negated && predicate.kind === 'exists'
      ? complementOf(along(steps, normalise(end)))
      : along(steps, normalise(end, negated))
  }
  checkManyLeaf(predicate, steps[firstMany]!.name)
  const [before, after] = [steps.slice(0, firstMany), steps.slice(firstMany)]
  // An array is there, perhaps an empty one, wherever the single relations before it lead to a document.
  if (predicate.kind === 'exists') return negated ? complementOf(along(before, ALWAYS)) : along(before, ALWAYS)
  const some = along(after, normalise(end))
  return along(before, negated ? complementOf(some) : some)
}

function quantified(
  graph: RelationGraph,
  collection: string,
  { path, which, of }: QuantifiedPredicate,
  negated: boolean,
): Condition {
  const { steps, collection: to, rest } = followPath(graph, collection, path, placeOf(path), true)
  if (rest !== '') {
    const name = rest.split('.')[0]!
    throw new ArgumentError(
      `${placeOf(`${path}.$${which}`)} must be on a relation ${nearestStep(graph, to, name)}`,
      name,
    )
  }
  const meets = relate(graph, to, of)
  if (which !== 'every') {
    const some = along(steps, meets)
    return (which === 'none') === negated ? some : complementOf(some)
  }
  // The single relations before lead to one document, which both parts are about.
  const firstMany = steps.findIndex(({ many }) => many)
  const single = firstMany === -1 ? steps.length - 1 : firstMany
  const [before, after] = [steps.slice(0, single), steps.slice(single)]
  const every = along(before, joined('and', [along(after, ALWAYS), complementOf(along(after, complementOf(meets)))]))
  return negated ? complementOf(every) : every
}

/** Operators about an array as a whole say nothing of documents. */
function checkManyLeaf(predicate: Leaf, step: string): void {
  const operator = wholeOperator(predicate)
  if (operator === undefined) return
  const place = placeOf(predicate.path)
  throw new ArgumentError(`${place} must be about single values, as '${step}' leads to many documents`, operator)
}

function wholeOperator(predicate: Leaf): string | undefined {
  switch (predicate.kind) {
    case 'elements':
      return { some: '$elemMatch', every: '$allMatch', keys: '$keyMapMatch' }[predicate.which]
    case 'size':
    case 'all':
    case 'type':
      return `$${predicate.kind}`
    case 'compare':
      return predicate.comparisons.find(({ operator, operand }) =>
        operator === '$in' ? (operand as unknown[]).some(Array.isArray) : Array.isArray(operand),
      )?.operator
    default:
      return undefined
  }
}

function along(steps: RelationPath['steps'], of: Condition): Condition {
  return isNever(of) ? of : alongSteps(steps, of)
}

/** The documents that do not meet it. */
export function complementOf(condition: Condition): Condition {
  if (condition.kind === 'complement') return condition.of
  if (isAlways(condition)) return NEVER
  return isNever(condition) ? ALWAYS : { kind: 'complement', of: condition }
}

/** As `combine`. Alternatives one step away become one; so do conditions on the one document to which a step leads. */
function joined(kind: 'and' | 'or', parts: readonly Condition[]): Condition {
  const all = combine(kind, parts)
  if (all.kind !== kind) return all
  const others: Condition[] = []
  const bySteps = new Map<string, RelatedCondition[]>()
  for (const part of all.of) {
    if (part.kind !== 'related' || (kind === 'and' && (part.back || part.many))) others.push(part)
    else {
      const step = JSON.stringify([part.to, part.field, part.back])
      bySteps.set(step, [...(bySteps.get(step) ?? []), part])
    }
  }
  const merged = Array.from(bySteps.values(), (same): Condition => {
    const of = joined(
      kind,
      same.map((part) => part.of),
    )
    return isNever(of) ? of : { ...same[0]!, of }
  })
  return combine(kind, [...others, ...merged])
}

function placeOf(path: string): string {
  return `the selector at '${path}'`
}
