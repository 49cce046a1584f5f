/**
 * Finds the index from which CouchDB would answer a query. The planner still decides how the query runs here, but
 * CouchDB's index decides the answer. Its rows come in the order of that index and then of ids, and a partial index
 * that the query names restricts them. So the order of rows depends only on the definitions, not on the planner.
 */
import { isObject } from 'pannier/internal'
import type { JsonObject } from '@pannier/backend/internal'
import { designIdOf, type MangoField, type MangoIndex } from './mango-definition.ts'

export interface MangoChoice {
  /** Undefined: all documents by id. */
  readonly index: MangoIndex | undefined
  /** By which rows come: a total order. */
  readonly order: readonly MangoField[]
  /** Why the index that the query names is not taken. */
  readonly warning: string | undefined
}

interface Wanted {
  readonly selector: JsonObject
  readonly sort: readonly MangoField[]
  /** A design document, and perhaps the name of an index in it. */
  readonly useIndex: readonly string[]
}

export function chooseIndex(indexes: readonly MangoIndex[], wanted: Wanted): MangoChoice {
  const { selector, sort, useIndex } = wanted
  const usable = indexes
    .filter((index) => isUsable(index, selector, sort))
    .sort((left, right) => compare(left, right, selector))
  const named = usable.filter((index) => isNamed(index, useIndex))
  const index = named[0] ?? usable.find(({ partialFilter }) => partialFilter === undefined)
  const isThere = indexes.some((one) => isNamed(one, useIndex))
  const warning = useIndex.length === 0 || named.length > 0 ? undefined : warningOf(useIndex, isThere)
  return { index, order: orderOf(index, sort), warning }
}

function isNamed({ designId, name }: MangoIndex, [design, wanted]: readonly string[]): boolean {
  return design !== undefined && designId === designIdOf(design) && (wanted === undefined || name === wanted)
}

function warningOf([design, name]: readonly string[], isThere: boolean): string {
  const id = designIdOf(design!)
  if (!isThere) return `${id}${name === undefined ? '' : `, ${name}`} was not used because it does not exist.`
  return name === undefined
    ? `${id} was not used because it does not contain a valid index for this query.`
    : `${id}, ${name} was not used because it is not a valid index for this query.`
}

/** Every field of it is asked for, and it gives the order. */
function isUsable({ fields }: MangoIndex, selector: JsonObject, sort: readonly MangoField[]): boolean {
  const asked = askedFields(selector)
  const sorted = new Set(sort.map(({ path }) => path))
  const isAsked = ({ path }: MangoField): boolean => ALWAYS_THERE.has(path) || sorted.has(path) || asked.has(path)
  return fields.every(isAsked) && givesOrder(fields, sort, equalFields(selector))
}

const ALWAYS_THERE: ReadonlySet<string> = new Set(['_id', '_rev'])

function givesOrder(fields: readonly MangoField[], sort: readonly MangoField[], equal: ReadonlySet<string>): boolean {
  if (sort.some(({ descending }) => descending !== sort[0]!.descending)) return false
  let at = 0
  for (const { path } of fields) {
    if (path === sort[at]?.path) at++
    else if (at < sort.length && !equal.has(path)) return false
  }
  return at === sort.length
}

/** Orders indexes: first an index whose fields are all narrowed, then the shorter one, then by name. */
function compare(left: MangoIndex, right: MangoIndex, selector: JsonObject): number {
  const asked = askedFields(selector)
  const rest = ({ fields }: MangoIndex): number => {
    const beyond = fields.findIndex(({ path }) => !asked.has(path))
    return beyond < 0 ? 0 : fields.length - beyond
  }
  const byName = left.designId + left.name < right.designId + right.name ? -1 : 1
  return rest(left) - rest(right) || left.fields.length - right.fields.length || byName
}

/** Ties are in the order of ids; backwards if the sort is. */
function orderOf(index: MangoIndex | undefined, sort: readonly MangoField[]): MangoField[] {
  const descending = sort[0]?.descending ?? false
  const fields = index === undefined ? sort : index.fields.map(({ path }) => ({ path, descending }))
  const once = fields.filter(({ path }, at) => fields.findIndex((other) => other.path === path) === at)
  return once.some(({ path }) => path === '_id') ? once : [...once, { path: '_id', descending }]
}

/** The fields that a document must have to match. */
function askedFields(selector: JsonObject): ReadonlySet<string> {
  return fieldsOf(selector, '', false, (operand, negated) => !(isObject(operand) && operand['$exists'] === negated))
}

/** The fields that have one value in all documents that match. */
function equalFields(selector: JsonObject): ReadonlySet<string> {
  return fieldsOf(selector, '', false, (operand, negated) => !negated && (!isObject(operand) || '$eq' in operand))
}

type Counts = (operand: unknown, negated: boolean) => boolean

function fieldsOf(selector: JsonObject, path: string, negated: boolean, counts: Counts): Set<string> {
  const parts = Object.entries(selector).map(([name, operand]): Set<string> => {
    if (name === '$and' || name === '$or' || name === '$nor') {
      if (!Array.isArray(operand)) return new Set()
      const isNegated = name === '$nor' ? !negated : negated
      const inner = operand.map((one) => fieldsOf(isObject(one) ? one : {}, path, isNegated, counts))
      // Negated, all become some, and some become all.
      return (name === '$and') === isNegated ? shared(inner) : joined(inner)
    }
    if (name === '$not') return isObject(operand) ? fieldsOf(operand, path, !negated, counts) : new Set()
    if (name.startsWith('$')) return new Set(path !== '' && counts({ [name]: operand }, negated) ? [path] : [])
    const inner = path === '' ? name : `${path}.${name}`
    if (isObject(operand) && Object.keys(operand).length > 0) return fieldsOf(operand, inner, negated, counts)
    return new Set(counts(operand, negated) ? [inner] : [])
  })
  return negated ? shared(parts) : joined(parts)
}

function joined(sets: readonly ReadonlySet<string>[]): Set<string> {
  return new Set(sets.flatMap((set) => [...set]))
}

function shared([first, ...others]: readonly ReadonlySet<string>[]): Set<string> {
  return new Set([...(first ?? [])].filter((path) => others.every((set) => set.has(path))))
}
