/**
 * Suggests the index that would help a query most. Each candidate is planned as if it existed, over a sample of the
 * documents, with its entries in memory.
 *
 * Guarantees: the planner would use the suggested index, and the plan would cost less. This is exact if the sample is
 * the whole collection; otherwise it is an estimate.
 */
import { firstWhere } from '../../base/binary-search.ts'
import type { Key } from '../../base/brand.ts'
import { encodeIdKey } from '../../codec/key-encoding.ts'
import type { IndexDefinition } from '../../document/catalog.ts'
import { INDEX_FIELDS_MAX, type IndexInput, parseIndexInput, sameIndex } from '../../index/index-definition.ts'
import { FieldReader, IndexTests } from '../../index/index-key.ts'
import type { Cursor, KeyRange } from '../../kv/key-value-store.ts'
import { conjuncts, isAlways, type Condition, type WithinCondition } from '../ast/normalise.ts'
import { ARRAYS, isOnePoint } from '../ast/value-set.ts'
import type { EntryTree, PlanSource, QuerySource } from '../query-source.ts'
import { selectorTest } from '../selector-test.ts'
import type { AccessPath } from './access-path.ts'
import { isCreation, planQuery, type Plan, type QuerySpecification, type SortField } from './plan.ts'

const SAMPLED_DOCUMENTS_MAX = 1024
/** Places in which a larger collection is sampled. */
const SAMPLED_PLACES = 16
const CANDIDATES_MAX = 16
/** No stored index has it. */
const CANDIDATE_NUMBER = 0

/** Undefined if no index would make the query cheaper. */
export async function suggestIndex(
  source: QuerySource,
  plan: Plan,
  query: QuerySpecification,
): Promise<IndexInput | undefined> {
  const isFine = plan.access.kind !== 'scan' && plan.sort === undefined && isAlways(plan.residual)
  if (isFine) return undefined
  const candidates = candidatesFor(query, source.indexes)
  if (candidates.length === 0) return undefined
  const sample = await sampleOf(
    source,
    candidates.map(({ definition }) => definition),
  )
  const known = await source.attempt(() => planQuery(sample, query))
  let best: IndexInput | undefined
  let { cost } = known
  for (const { input, definition } of candidates) {
    const tried = await source.attempt(() => planQuery({ ...sample, indexes: [...sample.indexes, definition] }, query))
    if (tried.cost >= cost || !uses(tried.access, definition)) continue
    best = input
    cost = tried.cost
  }
  return best
}

interface Candidate {
  readonly input: IndexInput
  readonly definition: IndexDefinition
}

/** The first of equally cheap candidates wins. */
function candidatesFor(query: QuerySpecification, indexes: readonly IndexDefinition[]): Candidate[] {
  const parts = conjuncts(query.condition).filter(isIndexable)
  const elements = multiInputs(parts)
  const wantsArrays = parts.some((part) => parts.some((other) => other.values === ARRAYS && isElement(part, other)))
  const plain = plainInputs(parts, query)
  const inputs = wantsArrays ? [...elements, ...plain] : [...plain, ...elements]
  return inputs.slice(0, CANDIDATES_MAX).flatMap((input) => {
    const declared = parseIndexInput(input)
    if (indexes.some((index) => sameIndex(index, declared))) return []
    const isTaken = indexes.some(({ name }) => name === declared.name)
    const named = isTaken ? { ...input, name: `${declared.name}, suggested` } : input
    const short = isTaken || input.multi || input.dialect ? named : input.on
    return [{ input: short, definition: { ...declared, number: CANDIDATE_NUMBER, builtTo: undefined } }]
  })
}

type LongInput = Exclude<IndexInput, string | readonly string[]>

/** `_id` is looked up without an index, other reserved names can't have one. */
function isIndexable(part: Condition): part is WithinCondition {
  return part.kind === 'within' && !part.path.startsWith('_')
}

/** An element is looked for in what has to be an array. */
function isElement(part: WithinCondition, array: WithinCondition): boolean {
  return part.path === array.path && !part.self && !part.every
}

function multiInputs(parts: readonly WithinCondition[]): LongInput[] {
  const paths = parts.filter(({ self, every }) => !self && !every).map(({ path }) => path)
  return [...new Set(paths)].map((on) => ({ on, multi: true }))
}

/** Fields with one value, then the sort and one more field, or that field first. */
function plainInputs(parts: readonly WithinCondition[], query: QuerySpecification): LongInput[] {
  const { collation } = query
  // Every index has the order of creation, behind its fields.
  const sort = query.sort.filter((field) => !isCreation(field))
  const pathsOf = (some: readonly { readonly path: string }[]): readonly string[] => some.map(({ path }) => path)
  const isFixed = ({ values }: WithinCondition): boolean => isOnePoint(values)
  const fixed = new Set(pathsOf(parts.filter(isFixed)))
  const others = new Set(pathsOf(parts.filter((part) => !fixed.has(part.path))))
  const ascending = (path: string): SortField => ({ path, descending: false })
  const start = Array.from(fixed, ascending)
  const rows = [[...start, ...sort]]
  for (const path of others) rows.push([...start, ...sort, ascending(path)], [...start, ascending(path), ...sort])
  const lists = new Set(rows.map((row) => JSON.stringify(namesOf(row))))
  const meaning = collation === undefined ? {} : ({ dialect: 'couchdb', collation: collation.name } as const)
  return Array.from(lists, (list) => ({ on: JSON.parse(list) as string[], ...meaning })).filter(({ on }) =>
    isUseful(on),
  )
}

/** The fields of an index, each once. */
function namesOf(fields: readonly SortField[]): string[] {
  const byPath = new Map<string, string>()
  for (const { path, descending } of fields) if (!byPath.has(path)) byPath.set(path, descending ? `-${path}` : path)
  return [...byPath.values()].slice(0, INDEX_FIELDS_MAX)
}

function isUseful(names: readonly string[]): boolean {
  const paths = names.map((name) => name.replace(/^-/, ''))
  return paths.length > 0 && paths[0] !== '_id' && paths.every((path) => path === '_id' || !path.startsWith('_'))
}

function uses(access: AccessPath, index: IndexDefinition): boolean {
  return access.index === index || access.branches.some((branch) => uses(branch, index))
}

/** Some documents with the indexes that there are, and the entries that candidates would have. */
async function sampleOf(source: QuerySource, candidates: readonly IndexDefinition[]): Promise<PlanSource> {
  const { documents, indexes } = source
  const tests = new IndexTests(selectorTest)
  const fields = new FieldReader(documents.collection.shapes)
  const ids: string[] = []
  const trees = new Map([...indexes.filter(isReady), ...candidates].map((index) => [index, [] as string[]] as const))
  const [count, last] = await source.attempt(() => [documents.count(), documents.bodies.lastNumber])
  const places = count > SAMPLED_DOCUMENTS_MAX ? SAMPLED_PLACES : 1
  let after = 0
  for (let place = 0; place < places; place++) {
    await source.pause()
    after = Math.max(after, Math.floor((last * place) / places))
    const cursor = await source.attempt(() => documents.scan({ after }))
    for (let n = 0; n < SAMPLED_DOCUMENTS_MAX / places && (await source.attempt(() => cursor.next())); n++) {
      const { body } = cursor
      after = body.sequence
      fields.load(body)
      ids.push(encodeIdKey(body.id))
      for (const [index, keys] of trees)
        keys.push(...(await source.attempt(() => tests.keys(index, fields.read, body.number))))
    }
  }
  const idTree = new SampledTree(ids)
  const sampled = new Map(Array.from(trees, ([index, keys]) => [index, new SampledTree(keys)] as const))
  return {
    documents: { count: () => idTree.count(), countIds: (range) => idTree.count(range) },
    indexes: indexes.filter(isReady),
    index: (definition) => sampled.get(definition)!,
  }
}

function isReady({ builtTo, text }: IndexDefinition): boolean {
  return builtTo === undefined && text === undefined
}

class SampledTree implements EntryTree {
  readonly #keys: readonly string[]

  constructor(keys: readonly string[]) {
    this.#keys = keys.toSorted()
  }

  count(range: KeyRange = {}): number {
    return Math.max(0, this.#end(range) - this.#start(range))
  }

  cursor(range: KeyRange = {}): Cursor {
    const keys = this.#keys
    const end = this.#end(range)
    let at = this.#start(range) - 1
    return {
      next: () => ++at < end,
      get key() {
        return keys[at] as Key
      },
      keyNumber: 0,
      value: new Uint8Array(0),
    }
  }

  #start({ gte }: KeyRange): number {
    return gte === undefined ? 0 : this.#rank(gte)
  }

  #end({ lt }: KeyRange): number {
    return lt === undefined ? this.#keys.length : this.#rank(lt)
  }

  /** How many keys are lower. */
  #rank(key: string): number {
    return firstWhere(0, this.#keys.length, (place) => this.#keys[place]! >= key)
  }
}
