/** The values to which single relations lead, for sorts. */
import { LruMap } from '../base/lru-map.ts'
import { compileFieldPath, getField } from '../codec/field-path.ts'
import { encodeIndexValue } from '../index/index-key.ts'
import { numberOfId, type CollectionRows } from '../query/columns/collection-rows.ts'
import { columnsOf } from '../query/columns/column-store.ts'
import { buildOperators } from '../query/operators/build.ts'
import { bodyFields } from '../query/operators/project.ts'
import { planQuery, type ValuesById } from '../query/planner/plan.ts'
import type { QuerySource } from '../query/query-source.ts'
import { allOf, eachBatch, type Run } from './related-keys.ts'
import type { RelationStep } from './relation-graph.ts'
import { ALWAYS } from './relate.ts'

/** Related documents of one collection whose values are held. Tests change it. */
export const RELATED_VALUES: { heldMax: number } = { heldMax: 100_000 }
/** Memory of a held value besides its characters. */
const VALUE_BYTES = 100

/**
 * The value at the end of the path, by the id of the document to which the first step leads. It may miss. `empty`: what a
 * missing or null value there counts as.
 */
export async function valuesAlong(
  run: Run,
  source: QuerySource,
  steps: readonly RelationStep[],
  rest: string,
  empty?: unknown,
): Promise<ValuesById> {
  const sources: QuerySource[] = []
  for (const { to } of steps) sources.push((sources.at(-1) ?? source).other!(to))
  const columns = columnsOf(source)
  const make = (): Promise<ValuesById> => valuesIn(run, steps, sources, rest, empty)
  if (columns === undefined || sources.some(({ documents }) => documents.count() > RELATED_VALUES.heldMax))
    return make()
  const names = [...steps.map(({ name }) => name), rest].join('.')
  const path = empty === undefined ? names : `${names} or ${JSON.stringify(empty)}`
  return columns.unchanged(path, sources, make as () => Promise<HeldValues>)
}

/** As `valuesAlong`, for a few documents: their values are read when they are asked for. */
export function valuesOfFew(source: QuerySource, [step, ...others]: readonly RelationStep[], rest: string): ValuesById {
  const target = source.other!(step!.to)
  const next = others.length === 0 ? undefined : valuesOfFew(target, others, rest)
  return new ReadValues(target, others[0]?.name ?? rest, next, (own) => own)
}

async function valuesIn(
  run: Run,
  [, ...others]: readonly RelationStep[],
  [target, ...further]: readonly QuerySource[],
  rest: string,
  empty: unknown,
): Promise<ValuesById> {
  const next = others.length === 0 ? undefined : await valuesIn(run, others, further, rest, empty)
  const field = others[0]?.name ?? rest
  const { documents } = target!
  const orEmpty = (own: unknown): unknown => (next === undefined && empty !== undefined ? (own ?? empty) : own)
  if (documents.count() > RELATED_VALUES.heldMax) return new ReadValues(target!, field, next, orEmpty)
  const path = compileFieldPath(field)
  const query = allOf(ALWAYS, field === '_id' ? [field] : ['_id', field])
  const operator = await run.source.attempt(() => buildOperators(target!, planQuery(target!, query), query))
  const found: [id: string, own: unknown][] = []
  await eachBatch(run, operator, (rows) => {
    for (const row of rows) found.push([(row as { readonly _id: string })._id, orEmpty(getField(row, path))])
  })
  if (next === undefined) return new HeldValues(found)
  return new HeldValues(await run.source.attempt(() => found.map(([id, own]) => [id, next.get(own)] as const)))
}

/** The values of all documents, the missing ones left out. */
export class HeldValues implements ValuesById {
  /** The bytes of memory that they take, about. */
  readonly bytes: number
  readonly #values: ReadonlyMap<unknown, unknown>
  #places: Places | undefined

  constructor(values: readonly (readonly [id: string, value: unknown])[]) {
    const there = values.filter(([, value]) => value !== undefined)
    this.#values = new Map(there)
    const chars = there.map(([id, value]) => id.length + (typeof value === 'string' ? value.length : 0))
    this.bytes = chars.reduce((sum, one) => sum + one, VALUE_BYTES * there.length)
  }

  get(id: unknown): unknown {
    return this.#values.get(id)
  }

  /** By the rows of the related collection. */
  async placesIn(run: Run, target: QuerySource, rows: CollectionRows): Promise<Places> {
    if (this.#places?.rows === rows) return this.#places
    const ids = [...this.#values.keys()] as string[]
    const numbers = await run.source.attempt(() => ids.map((id) => numberOfId(target, id)))
    const keys = ids.map((id) => encodeIndexValue(this.#values.get(id), false))
    const order = [encodeIndexValue(undefined, false), ...[...new Set(keys)].sort()]
    const placeOf = new Map(order.map((key, place) => [key, place]))
    const byRow = new Uint32Array(rows.length + 1)
    numbers.forEach((number, at) => {
      byRow[rows.rowOf(number!) + 1] = placeOf.get(keys[at]!)!
    })
    return (this.#places = { rows, byRow, count: order.length })
  }
}

/** The places of documents in the order of their values. Those without a value have the first place. */
interface Places {
  readonly rows: CollectionRows
  /** By row, plus one; first that of no document. */
  readonly byRow: Uint32Array
  /** Different places. */
  readonly count: number
}

/** The values of documents that are read when they are asked for. The last ones are held. */
class ReadValues implements ValuesById {
  readonly #source: QuerySource
  readonly #read: ReturnType<ReturnType<typeof bodyFields>>
  readonly #next: ValuesById | undefined
  readonly #orEmpty: (own: unknown) => unknown
  readonly #values = new LruMap<unknown, { readonly value: unknown }>(RELATED_VALUES.heldMax)

  constructor(source: QuerySource, field: string, next: ValuesById | undefined, orEmpty: (own: unknown) => unknown) {
    this.#orEmpty = orEmpty
    this.#source = source
    this.#read = bodyFields(source.documents)(field)
    this.#next = next
  }

  get(id: unknown): unknown {
    if (typeof id !== 'string') return undefined
    const held = this.#values.get(id)
    if (held !== undefined) return held.value
    const number = numberOfId(this.#source, id)
    const body = number === undefined ? undefined : this.#source.documents.someBodiesOf([number])[0]!
    const own = body && this.#orEmpty(this.#read(body))
    const value = this.#next === undefined ? own : this.#next.get(own)
    this.#values.set(id, { value })
    return value
  }
}
