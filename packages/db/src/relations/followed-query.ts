/**
 * How a live query follows relations: from changed documents back to the rows that they may change, and these rows as they are now.
 * docs/internals/live-queries.md is normative.
 */
import { unreachable } from '../base/errors.ts'
import type { StoredDocument } from '../document/document-reader.ts'
import { pathsOf, type Condition, type RelatedCondition } from '../query/ast/normalise.ts'
import { documentFields } from '../query/match.ts'
import { buildOperators } from '../query/operators/build.ts'
import { planQuery, type QuerySpecification, type SortField } from '../query/planner/plan.ts'
import type { ChangedDocument, FollowedQuery, News, OpenSource } from '../query/query-run.ts'
import type { QuerySource } from '../query/query-source.ts'
import { documentsMeeting } from './documents-meeting.ts'
import { documentsOf, populating, type Population } from './populate.ts'
import { referencesOf } from './references.ts'
import { allOf, eachBatch, isOneOf, type Run } from './related-keys.ts'
import { valuesOfFew } from './related-values.ts'
import type { RelationStep } from './relation-graph.ts'
import type { RelationPath } from './relation-path.ts'

/** Documents that a step back or forth may lead to; with more of them all rows are read. */
const READ_MAX = 1000

/** A live query, with the paths of its sort and of what it populates. */
interface FollowedSpecification {
  readonly collection: string
  readonly query: QuerySpecification
  /** The path of each field of the sort. */
  readonly sort: readonly RelationPath[]
  readonly population: Population
}

type Step = Omit<RelatedCondition, 'kind' | 'of'>

/** A place in the query at which it reads documents: what leads there, and the paths that it reads of them. */
interface ReadPoint {
  readonly collection: string
  readonly steps: readonly Step[]
  readonly paths: Set<string>
  /** Whole documents are read. */
  whole: boolean
}

/** Undefined: it follows no relations. */
export function followedQuery(open: OpenSource, specification: FollowedSpecification): FollowedQuery | undefined {
  const places = [...placesOf(specification)]
  const { collection, query, sort, population } = specification
  if (places.length === 1) return undefined
  const names = [...new Set(places.map((place) => place.collection))].filter((name) => name !== collection)
  const runOn = (source: QuerySource): Run => ({ source, check: () => {}, related: [] })
  return {
    collections: [collection, ...names],
    open: () => open(names),
    reads: (name, changed) => places.some((place) => place.collection === name && isRead(place, changed)),
    affected: (source, news) => affectedBy(runOn(source), source, places, news),
    async matching(source, ids) {
      const run = runOn(source)
      const all = [...(await documentsOf(run, source, ids)).values()].flat()
      const documents = await documentsMeeting(run, source, all, query.condition, READ_MAX)
      if (documents === undefined) return undefined
      const sorted = query.sort.map((field, at): SortField => {
        const { steps, rest } = sort[at]!
        if (steps.length === 0) return field
        const through = { path: field.path, values: valuesOfFew(source, steps, rest) }
        return { ...field, path: steps[0]!.name, through }
      })
      return { documents, query: { ...query, sort: sorted }, populate: populating(run, source, population) }
    },
  }
}

/** The first one is that of the query's own documents. */
function placesOf({ collection, query, sort, population }: FollowedSpecification): Iterable<ReadPoint> {
  const places = new Map<string, ReadPoint>()
  const placeAt = (at: string, steps: readonly Step[]): ReadPoint => {
    const key = JSON.stringify(steps.map(({ field, back, to }) => [field, back, to]))
    let place = places.get(key)
    if (place === undefined) places.set(key, (place = { collection: at, steps, paths: new Set(), whole: false }))
    return place
  }
  /** The field that holds the ids is read on one side of the step. */
  const placeAfter = (place: ReadPoint, step: Step): ReadPoint => {
    const next = placeAt(step.to, [...place.steps, step])
    ;(step.back ? next : place).paths.add(step.field)
    return next
  }
  const addCondition = (place: ReadPoint, condition: Condition): void => {
    switch (condition.kind) {
      case 'and':
      case 'or':
        for (const part of condition.of) addCondition(place, part)
        return
      case 'complement':
        return addCondition(place, condition.of)
      case 'related':
        return addCondition(placeAfter(place, condition), condition.of)
      case 'numbers':
        return unreachable(condition as never)
      default:
        for (const path of pathsOf(condition)) place.paths.add(path)
    }
  }
  const addPopulation = (place: ReadPoint, populated: Population): void => {
    for (const { step, further } of populated.values()) {
      const next = placeAfter(place, stepOf(step))
      next.whole = true
      addPopulation(next, further)
    }
  }
  const own = placeAt(collection, [])
  own.whole = query.fields === undefined
  for (const path of query.fields ?? []) own.paths.add(path)
  addCondition(own, query.condition)
  for (const { steps, rest } of sort) steps.map(stepOf).reduce(placeAfter, own).paths.add(rest)
  addPopulation(own, population)
  return places.values()
}

function stepOf({ relation: { field, many }, back, to }: RelationStep): Step {
  return { to, field, back, many }
}

async function affectedBy(
  run: Run,
  source: QuerySource,
  places: readonly ReadPoint[],
  news: readonly News[],
): Promise<ReadonlySet<string> | undefined> {
  const affected = new Set<string>()
  for (const place of places) {
    const versions = news
      .filter(({ collection }) => collection === place.collection)
      .flatMap(({ changed }) => changed)
      .filter((changed) => isRead(place, changed))
      .flatMap(({ document, before }) => [document, before].filter((version) => version !== undefined))
    const documents = await documentsBefore(run, source, place.steps, versions)
    if (documents === undefined) return undefined
    for (const { _id } of documents) affected.add(_id)
    if (affected.size > READ_MAX) return undefined
  }
  return affected
}

/** Whether the query reads something else at the place now. */
function isRead({ whole, paths }: ReadPoint, { document, before }: ChangedDocument): boolean {
  if (document === undefined || before === undefined) return document !== before
  if (whole) return true
  return [...paths].some((path) => {
    const read = documentFields(path)
    return JSON.stringify(read(document)) !== JSON.stringify(read(before))
  })
}

/** The documents from which the steps lead to these, with the fields that tell so. Undefined: they are too many. */
async function documentsBefore(
  run: Run,
  source: QuerySource,
  steps: readonly Step[],
  after: readonly StoredDocument[],
): Promise<readonly StoredDocument[] | undefined> {
  let documents = after
  for (let at = steps.length - 1; at >= 0 && documents.length > 0; at--) {
    const step = steps[at]!
    const before = steps[at - 1]
    const target = before === undefined ? source : source.other!(before.to)
    const ids = [...new Set(documents.flatMap((one) => (step.back ? referencesOf(step, one[step.field]) : [one._id])))]
    const fields = before?.back === true ? ['_id', before.field] : ['_id']
    const query = allOf(isOneOf(step.back ? '_id' : step.field, ids, step.back || !step.many), fields)
    const plan = await run.source.attempt(() => planQuery(target, query))
    if (plan.rows > READ_MAX) return undefined
    const found: StoredDocument[] = []
    await eachBatch(run, await run.source.attempt(() => buildOperators(target, plan, query)), (rows) => {
      for (const row of rows) found.push(row as StoredDocument)
    })
    documents = found
  }
  return documents
}
