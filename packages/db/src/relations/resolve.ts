/**
 * Resolves a condition on the snapshot of a query: each node `related` becomes a plain condition on the documents before
 * the step, from the inside out. Then the planner knows nothing of relations.
 */
import { loadedModule } from '../base/lazy-module.ts'
import { combine, isAlways, isNever, type Condition } from '../query/ast/normalise.ts'
import type { RelatedCondition, SearchCondition } from '../query/ast/normalise.ts'
import { planQuery, type Plan, type QuerySpecification } from '../query/planner/plan.ts'
import { withColumns, type RelatedStep } from '../query/query-run.ts'
import { stepByColumn } from './step-by-column.ts'
import type { QuerySource } from '../query/query-source.ts'
import { complementOf, NEVER } from './relate.ts'
import { allOf, isOneOf, distinctStrings, fieldValues, numbersOf, numbersOfIds, type Run } from './related-keys.ts'
import { referencesOf } from './references.ts'
import { servesRelation } from './relation-index.ts'
import { partnersOf } from './selection/join.ts'
import { holding } from './selection/selection-condition.ts'

/** Keys that the planner looks up one by one; more become a set of document numbers. */
const KEYS_MAX = 10_000
/** Entries of an index that cost as much as one document. */
const ENTRIES_PER_DOCUMENT = 8

/** `source`: of the documents that the condition is about. */
export async function resolve(run: Run, source: QuerySource, condition: Condition): Promise<Condition> {
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const parts: Condition[] = []
      for (const part of condition.of) parts.push(await resolve(run, source, part))
      return combine(condition.kind, parts)
    }
    case 'complement':
      return complementOf(await resolve(run, source, condition.of))
    case 'elements':
      return { ...condition, of: await resolve(run, source, condition.of) }
    case 'related':
      return resolveStep(run, source, condition)
    case 'search':
      return resolveSearch(run, source, condition)
    default:
      return condition
  }
}

/** A text index knows words, documents know phrases. */
async function resolveSearch(run: Run, source: QuerySource, condition: SearchCondition): Promise<Condition> {
  const { paths, index, text } = condition
  const searching = await loadedModule(import('../query/search/run-search.ts'))
  const parsed = searching.parseSearch(text, undefined)
  const test = holding(paths, (values) => searching.hasSearched(parsed, searching.wordsOf(values, undefined)))
  const built = source.indexes.find(({ name, builtTo }) => name === index && builtTo === undefined)
  if (built === undefined) return test
  const numbers = await searching.documentsWith(source, built, parsed.terms, () => run.check())
  const found: Condition = { kind: 'numbers', numbers, search: text }
  return parsed.phrases.length === 0 ? found : combine('and', [found, test])
}

async function resolveStep(run: Run, source: QuerySource, condition: RelatedCondition): Promise<Condition> {
  const target = source.other!(condition.to)
  const related: RelatedStep[] = []
  const of = await resolve({ ...run, related }, target, condition.of)
  if (isNever(of)) return NEVER
  const { field, back, many, on } = condition
  const fields = on === undefined ? [back ? field : '_id'] : [...new Set(on.map(([theirs]) => theirs))]
  const wanted = { ...allOf(of, fields), ...(fields.length === 0 && { limit: 1 }) }
  const planned = await withColumns(target, wanted, () => run.check())
  const { query } = planned
  const plan = planned.plan ?? (await run.source.attempt(() => planQuery(target, query)))
  if (on !== undefined) {
    run.related.push({ condition, plan, query, way: 'documents', ids: undefined, related })
    return partnersOf(run, target, on, query, plan)
  }
  const numbers = await stepByColumn(run, source, target, condition, query.condition, plan)
  if (numbers !== undefined) {
    run.related.push({ condition, plan, query, way: 'column', ids: undefined, related })
    return { kind: 'numbers', numbers, column: field }
  }
  const found = back ? await idsByEntries(run, target, condition, query, plan) : undefined
  const ids = found ?? idsIn(await fieldValues(run, target, plan, query), condition)
  run.related.push({
    condition,
    plan,
    query,
    way: found === undefined ? 'documents' : 'entries',
    ids: ids.length,
    related,
  })
  if (ids.length === 0) return NEVER
  const within = isOneOf(back ? '_id' : field, ids, back || !many)
  if (ids.length <= KEYS_MAX || field === '') return within
  return { kind: 'numbers', numbers: await (back ? numbersOfIds(run, source, ids) : numbersOf(run, source, within)) }
}

/** The ids in the relation's index, if its entries take less than the documents; undefined if they do not. */
async function idsByEntries(
  run: Run,
  target: QuerySource,
  related: RelatedCondition,
  { condition }: QuerySpecification,
  { rows }: Plan,
): Promise<readonly string[] | undefined> {
  const index = target.indexes.find((one) => one.builtTo === undefined && servesRelation(one, related))
  if (index === undefined) return undefined
  const tree = target.index(index)
  const entries = await run.source.attempt(() => tree.count())
  if (rows * ENTRIES_PER_DOCUMENT <= entries) return undefined
  const numbers = isAlways(condition) ? undefined : await numbersOf(run, target, condition)
  return distinctStrings(run, tree, index.fields[0]!.descending, numbers)
}

/** The ids in values, each once. */
function idsIn(values: readonly unknown[], related: RelatedCondition): readonly string[] {
  const ids = new Set<string>()
  for (const value of values) for (const id of referencesOf(related, value)) ids.add(id)
  return [...ids]
}
