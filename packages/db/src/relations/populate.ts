/** Puts related documents in place of ids, a batch of rows at a time, from the snapshot of the query. */
import { badArgument } from '../base/options.ts'
import type { StoredDocument } from '../document/document-reader.ts'
import { buildOperators } from '../query/operators/build.ts'
import { planQuery } from '../query/planner/plan.ts'
import { idKey } from '../query/columns/collection-rows.ts'
import type { QuerySource } from '../query/query-source.ts'
import { referencesOf } from './references.ts'
import { allOf, eachBatch, isOneOf, type Run } from './related-keys.ts'
import type { Relation, RelationGraph, RelationStep } from './relation-graph.ts'
import { followPath } from './relation-path.ts'

/** The steps to take from rows, each with those to take from where it leads. */
export type Population = ReadonlyMap<string, PopulatedStep>

interface PopulatedStep {
  readonly step: RelationStep
  readonly further: Map<string, PopulatedStep>
}

/** Documents by an id: their own, or one that they refer to. */
type RelatedDocuments = ReadonlyMap<string, readonly StoredDocument[]>

/** The field with ids of related documents. */
type Reference = Pick<Relation, 'field' | 'many'>

/** Throws a TypeError for a path that does not end with a relation, or one that `fields` leave out. */
export function populationOf(
  graph: RelationGraph,
  collection: string,
  paths: readonly string[],
  fields: readonly string[] | undefined,
): Population {
  const population = new Map<string, PopulatedStep>()
  for (const path of paths) {
    const { steps, rest, collection: at } = followPath(graph, collection, path, 'populate(): a path', true)
    if (steps.length === 0 || rest !== '') {
      const known = [...graph.stepsOf(at).keys()].join(', ')
      throw badArgument('populate()', `a path must go through relations to its end (${known})`, path)
    }
    const needed = steps[0]!.back ? '_id' : steps[0]!.name
    if (fields?.includes(needed) === false)
      throw badArgument('populate()', `fields must have '${needed}' for the path '${path}'`, fields.join())
    let level = population
    for (const step of steps) {
      let next = level.get(step.name)
      if (next === undefined) level.set(step.name, (next = { step, further: new Map() }))
      level = next.further
    }
  }
  return population
}

/** The collections to which the steps lead. */
export function populatedCollections(population: Population): readonly string[] {
  return Array.from(population.values(), ({ step, further }) => [step.to, ...populatedCollections(further)]).flat()
}

/** The function that populates rows of the source; undefined: there is nothing to do. */
export function populating(
  run: Run,
  source: QuerySource,
  population: Population,
): ((rows: readonly object[]) => Promise<void>) | undefined {
  return population.size === 0 ? undefined : (rows) => populate(run, source, rows, population)
}

/** Rows that lead to the same document share it. */
async function populate(run: Run, source: QuerySource, rows: readonly object[], population: Population): Promise<void> {
  for (const { step, further } of population.values()) {
    const target = source.other!(step.to)
    const documents = rows as readonly Record<string, unknown>[]
    const found = step.back
      ? await referring(run, target, step.relation, documents)
      : await referredTo(run, target, step.relation, documents)
    await populate(run, target, [...new Set([...found.values()].flat())], further)
    for (const row of documents) row[step.name] = valueIn(row, step, found)
  }
}

function valueIn(
  row: Readonly<Record<string, unknown>>,
  { back, many, relation, name }: RelationStep,
  found: RelatedDocuments,
): unknown {
  if (back) return found.get(row['_id'] as string) ?? []
  const documents = referencesOf(relation, row[name]).flatMap((id) => found.get(id) ?? [])
  return many ? documents : (documents[0] ?? null)
}

/** Related documents by their ids. */
export async function referredTo(
  run: Run,
  target: QuerySource,
  relation: Reference,
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<RelatedDocuments> {
  return documentsOf(run, target, [...new Set(rows.flatMap((row) => referencesOf(relation, row[relation.field])))])
}

/** The documents that exist, each by its id. */
export async function documentsOf(run: Run, target: QuerySource, all: readonly string[]): Promise<RelatedDocuments> {
  const { documents } = target
  const found = new Map<string, readonly StoredDocument[]>()
  let ids = all.filter((id) => idKey(id) !== undefined)
  while (ids.length > 0) {
    run.check()
    const bodies = await run.source.attempt(() => documents.getSome(ids))
    for (const body of bodies) if (body !== undefined) found.set(body.id, [documents.decode(body)])
    ids = ids.slice(bodies.length)
    await run.source.pause()
  }
  return found
}

/** Documents by the ids that they refer to, in the order of their own ids. */
export async function referring(
  run: Run,
  target: QuerySource,
  relation: Reference,
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<RelatedDocuments> {
  const { field, many } = relation
  const ids = new Set(rows.map((row) => row['_id'] as string))
  const found = new Map<string, StoredDocument[]>()
  if (ids.size === 0) return found
  const sort = [{ path: '_id', descending: false }]
  const query = { ...allOf(isOneOf(field, [...ids], !many), []), fields: undefined, sort }
  const operator = await run.source.attempt(() => buildOperators(target, planQuery(target, query), query))
  await eachBatch(run, operator, (batch) => {
    for (const document of batch as readonly StoredDocument[])
      for (const id of new Set(referencesOf(relation, document[field]))) {
        if (!ids.has(id)) continue
        const all = found.get(id)
        if (all === undefined) found.set(id, [document])
        else all.push(document)
      }
  })
  return found
}
