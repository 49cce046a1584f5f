/** Paths through relations: which steps they take, and what is left of them at the end. */
import { ArgumentError, nearest } from '../base/options.ts'
import { PannierError } from '../base/errors.ts'
import { fieldNames } from '../codec/field-path.ts'
import type { Condition, RelatedCondition } from '../query/ast/normalise.ts'
import type { RelationGraph, RelationStep } from './relation-graph.ts'

/** Relations in one path. */
const PATH_RELATIONS_MAX = 8

export interface RelationPath {
  readonly steps: readonly RelationStep[]
  /** The collection to which the steps lead. */
  readonly collection: string
  /** The path from the document there; '' if the path ends with a relation that is followed. */
  readonly rest: string
}

/**
 * Follows a path that begins at a document of the collection. A forward relation at its end is a field, unless `whole`.
 *
 * @throws ArgumentError that begins with `place` for a back-relation that does not exist; PANNIER_LIMIT_EXCEEDED for too long a path.
 */
export function followPath(
  graph: RelationGraph,
  collection: string,
  path: string,
  place: string,
  whole = false,
): RelationPath {
  const names = fieldNames(path)
  const steps: RelationStep[] = []
  let at = collection
  for (let position = 0; position < names.length; position++) {
    const name = names[position]!
    const isLast = position === names.length - 1
    const known = graph.stepsOf(at)
    const step = known.get(name)
    if (step === undefined) {
      checkBackName(graph, known, name, isLast, place)
      return { steps, collection: at, rest: names.slice(position).map(escapedName).join('.') }
    }
    if (isLast && !step.back && !whole) return { steps, collection: at, rest: escapedName(name) }
    if (steps.length === PATH_RELATIONS_MAX) {
      const message = `The path '${path}' goes through more than ${PATH_RELATIONS_MAX} relations.`
      throw new PannierError('PANNIER_LIMIT_EXCEEDED', message)
    }
    steps.push(step)
    at = step.to
  }
  return { steps, collection: at, rest: '' }
}

/** Some document to which the steps lead meets the condition. */
export function alongSteps(steps: readonly RelationStep[], of: Condition): Condition {
  return steps.reduceRight<Condition>((inner, step) => relatedBy(step, inner), of)
}

function relatedBy({ relation: { field, many }, back, to }: RelationStep, of: Condition): RelatedCondition {
  return { kind: 'related', to, field, back, many, of }
}

/** The name of a relation that was probably meant, for errors. */
export function nearestStep(graph: RelationGraph, collection: string, name: string): string {
  const names = [...graph.stepsOf(collection).keys()]
  const near = nearest(name, names)
  return near === undefined ? `(${names.join(', ') || 'it has none'})` : `(did you mean '${near}'?)`
}

/** A field is hardly named like this: a misspelt name would match nothing, silently. */
function checkBackName(
  graph: RelationGraph,
  known: ReadonlyMap<string, RelationStep>,
  name: string,
  isLast: boolean,
  place: string,
): void {
  const [from, field] = name.split('_via_')
  if (field === undefined) return
  const backNames = Array.from(known.values()).flatMap((step) => (step.back ? [step.name] : []))
  const near = nearest(name, backNames)
  const isOfCollection = !isLast && graph.relations.some((relation) => relation.from === from)
  if (near === undefined && !isOfCollection) return
  const hint = near === undefined ? `(${backNames.join(', ') || 'there is none here'})` : `(did you mean '${near}'?)`
  throw new ArgumentError(`${place} must follow a known relation ${hint}`, name)
}

/** As it stands in a path. */
export function escapedName(name: string): string {
  return name.replaceAll(/[.\\]/g, String.raw`\$&`)
}
