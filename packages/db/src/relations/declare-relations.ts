/** Checks the relations that `open` is given, and makes their graph. Loaded only if there are any. */
import { badArgument, checkChoice, checkOptions, nearest, type OptionNames } from '../base/options.ts'
import type { IndexInput } from '../index/index-definition.ts'
import { missingIndexes } from './relation-index.ts'
import { backName, RelationGraph, type OnDelete, type Relation, type RelationOptions } from './relation-graph.ts'

/** The part of a declared collection that relations read. */
interface DeclaredCollection {
  readonly relations?: unknown
  readonly indexes?: readonly IndexInput[] | undefined
}

interface DeclaredRelations {
  readonly graph: RelationGraph
  /** The declarations without relations, with the indexes that these need. */
  readonly collections: Readonly<Record<string, object>>
}

const RELATION_OPTIONS: OptionNames<RelationOptions> = { to: true, many: true, check: true, onDelete: true }
const ON_DELETE: readonly OnDelete[] = ['keep', 'unset', 'restrict', 'cascade']

/** A wrong declaration is a TypeError. */
export function declareRelations(
  collections: Readonly<Record<string, DeclaredCollection | undefined>>,
): DeclaredRelations {
  const names = Object.keys(collections)
  const relations = Object.entries(collections).flatMap(([from, declaration]) => {
    const inputs = declaration?.relations ?? {}
    if (typeof inputs !== 'object' || Array.isArray(inputs))
      throw badArgument('open()', `relations of '${from}' must be an object`, inputs)
    return Object.entries(inputs).map(([field, input]) => parseRelation(from, field, input, names))
  })
  checkNames(relations)
  const graph = new RelationGraph(relations)
  const declared = Object.entries(collections).map(([name, declaration]) => {
    const { relations: _, ...options } = declaration ?? {}
    const { indexes = [] } = options
    // What is wrong with them is said where they are declared.
    if (!Array.isArray(indexes)) return [name, options] as const
    return [name, { ...options, indexes: [...indexes, ...missingIndexes(graph.relationsOf(name), indexes)] }] as const
  })
  return { graph, collections: Object.fromEntries(declared) }
}

function parseRelation(from: string, field: string, input: unknown, names: readonly string[]): Relation {
  const what = `the relation '${field}' of '${from}'`
  if (/^$|^[_$]|[.\\]/.test(field))
    throw badArgument('open()', `${what} must be named like a field, without '.' and '\\', not with '_' or '$'`, field)
  const long = typeof input === 'string' ? { to: input } : Array.isArray(input) ? manyOf(what, input) : input
  if (typeof long !== 'object' || long === null)
    throw badArgument('open()', `${what} must be a collection, [a collection] or { to, … }`, input)
  checkOptions(`open(): ${what}`, long, RELATION_OPTIONS)
  const { to, many = false, check = false, onDelete = 'keep' } = long as Partial<RelationOptions>
  for (const flag of [many, check])
    if (typeof flag !== 'boolean') throw badArgument('open()', `many and check of ${what} must be booleans`, flag)
  checkChoice('open()', `onDelete of ${what}`, onDelete, ON_DELETE)
  if (typeof to !== 'string' || !names.includes(to)) {
    const near = typeof to === 'string' ? nearest(to, names) : undefined
    const hint = near === undefined ? ` (${names.join(', ')})` : ` (did you mean '${near}'?)`
    throw badArgument('open()', `${what} must lead to one of the collections${hint}`, to)
  }
  return { from, field, to, many, check, onDelete }
}

function manyOf(what: string, input: readonly unknown[]): { readonly to: unknown; readonly many: true } {
  if (input.length !== 1) throw badArgument('open()', `${what} must have one collection in its array`, input)
  return { to: input[0], many: true }
}

/** A path must mean one thing. */
function checkNames(relations: readonly Relation[]): void {
  const taken = new Map(relations.map((relation) => [JSON.stringify([relation.from, relation.field]), relation]))
  for (const relation of relations) {
    const name = backName(relation)
    const key = JSON.stringify([relation.to, name])
    const other = taken.get(key)
    if (other !== undefined) {
      const both = `'${relation.field}' of '${relation.from}' and '${other.field}' of '${other.from}'`
      throw badArgument('open()', `the relations ${both} must have different names from '${relation.to}'`, name)
    }
    taken.set(key, relation)
  }
}
