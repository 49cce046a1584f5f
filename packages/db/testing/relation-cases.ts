/** Random schemas, documents and queries over relations: chains, cycles, ids that lead nowhere, and what is no id at all. */
import type { RelationInputs } from '../src/relations/relation-graph.ts'
import type { ModelSchema } from './evaluate-relations.ts'
import type { Document } from './query-fixture.ts'
import type { Random } from './random.ts'

export interface RelationQuery {
  readonly collection: string
  readonly selector: Record<string, unknown>
  readonly sort: readonly string[]
  readonly skip: number
  readonly limit: number | undefined
  readonly populate: readonly string[]
}

const COLLECTIONS = ['a', 'b', 'c']
const RELATIONS = ['r', 's']
const FIELDS = ['x', 'y', 'tags']
const VALUES: readonly unknown[] = [0, 1, 2, 'p', 'pq', 'q', null, true, [], [1], [1, 'p'], [[1], 2], { z: 1 }]
const IDS = 12
const STEPS_MAX = 3

export function randomSchema(random: Random): ModelSchema {
  const relations = (): ModelSchema[string] =>
    Object.fromEntries(
      RELATIONS.filter(() => random.chance(0.75)).map((name) => [
        name,
        { to: random.pick(COLLECTIONS), many: random.chance(0.5) },
      ]),
    )
  return Object.fromEntries(COLLECTIONS.map((name) => [name, relations()]))
}

/** As `open` takes them. */
export function relationInputs(schema: ModelSchema[string]): RelationInputs {
  return Object.fromEntries(Object.entries(schema).map(([name, { to, many }]) => [name, many ? [to] : to]))
}

export function randomRelated(random: Random, relations: ModelSchema[string]): Document {
  const document: Record<string, unknown> = { _id: randomId(random) }
  for (const field of FIELDS) if (random.chance(0.7)) document[field] = random.pick(VALUES)
  for (const [name, { many }] of Object.entries(relations)) {
    if (random.chance(0.15)) continue
    document[name] = random.chance(0.1)
      ? random.pick(VALUES)
      : many !== random.chance(0.05)
        ? ids(random)
        : randomId(random)
  }
  return document as Document
}

/** With a few that no document has. */
function randomId(random: Random): string {
  return `d${random.below(IDS)}`
}

function ids(random: Random): string[] {
  return Array.from({ length: random.below(4) }, () => randomId(random))
}

export function randomRelationQuery(random: Random, schema: ModelSchema): RelationQuery {
  const collection = random.pick(COLLECTIONS)
  const through = walk(random, schema, collection, true, 0)
  const paths = ['x', 'y', '_id', [...through.names, random.pick(['x', 'y'])].join('.')]
  const sort = paths.filter(() => random.chance(0.3)).map((path) => (random.chance(0.5) ? path : `-${path}`))
  return {
    collection,
    selector: randomSelector(random, schema, collection, 2),
    sort: [...new Map(sort.map((field) => [field.replace('-', ''), field])).values()],
    skip: random.chance(0.3) ? random.below(6) : 0,
    limit: random.chance(0.4) ? 1 + random.below(6) : undefined,
    populate: Array.from({ length: random.below(3) }, () =>
      walk(random, schema, collection, false, 1).names.join('.'),
    ).filter((path) => path !== ''),
  }
}

function randomSelector(
  random: Random,
  schema: ModelSchema,
  collection: string,
  depth: number,
): Record<string, unknown> {
  const selector: Record<string, unknown> = {}
  const inner = (): Record<string, unknown>[] =>
    Array.from({ length: 1 + random.below(2) }, () => randomSelector(random, schema, collection, depth - 1))
  for (let parts = random.below(3); parts >= 0; parts--) {
    const kind = depth === 0 ? 9 : random.below(10)
    if (kind === 0) selector['$or'] = inner()
    else if (kind === 1) selector['$nor'] = inner()
    else if (kind === 2) selector['$not'] = randomSelector(random, schema, collection, depth - 1)
    else if (kind < 6) Object.assign(selector, quantified(random, schema, collection, depth))
    else {
      const { names, at, many } = walk(random, schema, collection, false, 0)
      // Two conditions at the end of one path may be met by two documents.
      for (let ends = random.chance(0.4) ? 2 : 1; ends > 0; ends--)
        selector[[...names, randomField(random, schema, at)].join('.')] = randomCondition(random, many)
    }
  }
  return selector
}

function quantified(random: Random, schema: ModelSchema, collection: string, depth: number): Record<string, unknown> {
  const { names, at } = walk(random, schema, collection, false, 1)
  if (names.length === 0) return {}
  const of = random.chance(0.2) ? {} : randomSelector(random, schema, at, depth - 1)
  return { [names.join('.')]: { [random.pick(['$some', '$every', '$none'])]: of } }
}

function randomField(random: Random, schema: ModelSchema, collection: string): string {
  return random.pick([...FIELDS, '_id', ...Object.keys(schema[collection]!)])
}

function walk(
  random: Random,
  schema: ModelSchema,
  collection: string,
  single: boolean,
  stepsMin: number,
): { readonly names: readonly string[]; readonly at: string; readonly many: boolean } {
  const names: string[] = []
  let at = collection
  let many = false
  for (let left = stepsMin + random.below(STEPS_MAX - stepsMin + 1); left > 0; left--) {
    const steps = stepsFrom(schema, at).filter((step) => !single || !step.many)
    if (steps.length === 0) break
    const step = random.pick(steps)
    names.push(step.name)
    at = step.to
    many ||= step.many
  }
  return { names, at, many }
}

function stepsFrom(
  schema: ModelSchema,
  collection: string,
): { readonly name: string; readonly to: string; readonly many: boolean }[] {
  const forward = Object.entries(schema[collection]!).map(([name, { to, many }]) => ({ name, to, many }))
  const back = Object.entries(schema).flatMap(([from, relations]) =>
    Object.entries(relations).flatMap(([field, { to }]) =>
      to === collection ? [{ name: `${from}_via_${field}`, to: from, many: true }] : [],
    ),
  )
  return [...forward, ...back]
}

function randomCondition(random: Random, many: boolean): unknown {
  const isArray = (value: unknown): boolean => Array.isArray(value)
  const value = (): unknown =>
    random.chance(0.2) ? randomId(random) : random.pick(many ? VALUES.filter((one) => !isArray(one)) : VALUES)
  switch (random.below(many ? 8 : 11)) {
    case 0:
      return { $ne: value() }
    case 1:
      return { $in: [value(), value()] }
    case 2:
      return { $nin: [value(), value()] }
    case 3:
      return { $gt: value() }
    case 4:
      return { $gte: value(), $lt: value() }
    case 5:
      return { $exists: random.chance(0.5) }
    case 6:
      return random.pick([{ $regex: '^p' }, { $regex: 'q' }, { $not: { $regex: 'p' } }, { $mod: [2, 1] }])
    case 8:
      return { $size: random.below(3) }
    case 9:
      return { $elemMatch: { $gt: value() } }
    case 10:
      return { $type: random.pick(['string', 'array', 'null', 'number']) }
    default:
      return value()
  }
}
