/**
 * `find()` of PouchDB's plug-in pouchdb-find, answered by the library's planner. The plug-in plans as before: its `explain` checks the
 * request and chooses the index, and so the order of rows. The plug-in answers by itself where a rule of its own is not CouchDB's.
 */
import type { JsonObject } from 'pannier'
import { toCouchDocument } from 'pannier/internal'
import { failureOf } from '../failures.ts'
import type { Callback, Place, Pouch } from '../pouch.ts'
import { MEANING, type FindIndexes } from './find-indexes.ts'

interface FindRequest {
  readonly selector?: JsonObject
  readonly sort?: readonly (string | Readonly<Record<string, 'asc' | 'desc'>>)[]
  readonly fields?: readonly string[]
  readonly skip?: number
}

/** The part of an explanation that an answer depends on. */
interface Plan {
  readonly index: {
    /** Null: all documents by id. */
    readonly ddoc: string | null
    readonly def: {
      readonly fields: readonly Readonly<Record<string, string>>[]
      readonly partial_filter_selector?: JsonObject
    }
    /** The plug-in has found no index for the request. */
    readonly defaultUsed?: boolean
  }
  /** Each field with its operators. */
  readonly selector: Readonly<Record<string, unknown>>
  readonly limit: number
}

interface FindAnswer {
  readonly docs: readonly JsonObject[]
  readonly warning?: string
}

type Find = (request: FindRequest, callback?: Callback<FindAnswer>) => Promise<FindAnswer>

interface FindPlugin {
  readonly find?: Find
  readonly explain?: (request: object) => Promise<Plan>
}

const WARNING = 'No matching index found, create an index to optimize query time.'
/** No answer has design documents. */
const NO_DESIGN = { _id: { $not: { $beginsWith: '_design/' } } }
/** Operators that match only documents that have the field. */
const NEEDING: ReadonlySet<string> = new Set(
  '$eq $gt $gte $lt $lte $in $all $size $mod $regex $type $elemMatch $allMatch $keyMapMatch $beginsWith'.split(' '),
)

const NEGATIONS: ReadonlySet<string> = new Set(['$ne', '$not', '$nor'])

/** Undefined without the plug-in, and the plug-in's own method while another plug-in shows other documents than those that are stored. */
export function findMethod(
  api: Pouch,
  opening: Promise<Place & { readonly indexes: FindIndexes }>,
  isWrapped: () => boolean,
): PropertyDescriptorMap {
  const plugin = Object.getPrototypeOf(api) as FindPlugin
  const native: Find = (request, callback) => {
    const answer = answerOf(api, plugin, request, async (plan) => run(await opening, request, plan))
    if (callback !== undefined)
      answer.then(
        (found) => callback(null, found),
        (error: unknown) => callback(error),
      )
    return answer
  }
  return {
    find: {
      configurable: true,
      get: () => (plugin.find === undefined || isWrapped() ? plugin.find : native),
      set: (value: unknown) => Object.defineProperty(api, 'find', { value, configurable: true, writable: true }),
    },
  }
}

/** The plug-in says what is wrong with a request, and answers one that only it understands. */
async function answerOf(
  api: Pouch,
  plugin: FindPlugin,
  request: FindRequest,
  run: (plan: Plan) => Promise<FindAnswer>,
): Promise<FindAnswer> {
  // In the plug-in, these match documents without the field too. Apps rely on that: `{ archived: { $ne: true } }`.
  if (hasName(request?.selector, NEGATIONS)) return await plugin.find!.call(api, request)
  const plan = await plugin.explain!.call(api, { ...request }).catch(() => undefined)
  if (plan !== undefined && isAnswerable(plan)) {
    try {
      return await run(plan)
    } catch (error) {
      if (!(error instanceof TypeError)) throw failureOf(error)
    }
  }
  return await plugin.find!.call(api, request)
}

function hasName(selector: unknown, names: ReadonlySet<string>): boolean {
  if (typeof selector !== 'object' || selector === null) return false
  return Object.entries(selector).some(([name, operand]) => names.has(name) || hasName(operand, names))
}

/** In the plug-in, a document without a field of the index counts as one with null. In the library it comes elsewhere. */
function isAnswerable({ index, selector }: Plan): boolean {
  if (index.defaultUsed) return true
  return fieldsOf(index).every((field) => field === '_id' || needsField(selector[field]))
}

function needsField(matcher: unknown): boolean {
  return typeof matcher === 'object' && matcher !== null && Object.keys(matcher).some((name) => NEEDING.has(name))
}

function fieldsOf({ def }: Plan['index']): string[] {
  return def.fields.map((field) => Object.keys(field)[0]!)
}

async function run(
  { docs, indexes }: Place & { readonly indexes: FindIndexes },
  { selector, sort, fields, skip = 0 }: FindRequest,
  { index, limit }: Plan,
): Promise<FindAnswer> {
  const { partial_filter_selector: filter } = index.def
  if (index.ddoc !== null) await indexes.built({ fields: fieldsOf(index), filter })
  const conditions = [selector!, ...(filter === undefined ? [] : [filter]), NO_DESIGN]
  const query = docs
    .find({ $and: conditions } as never, MEANING)
    .sort(...(orderOf(index, sort) as never[]))
    .skip(skip)
    .limit(limit)
  const found = await (fields === undefined ? query : query.fields(...(fields as never[]))).toArray()
  return { docs: found.map(toCouchDocument), ...(index.defaultUsed && { warning: WARNING }) }
}

/** By the fields of the index and then by id, all backwards if the sort is. */
function orderOf(index: Plan['index'], sort: FindRequest['sort']): string[] {
  const [first] = sort ?? []
  const isDescending = typeof first === 'object' && Object.values(first)[0] === 'desc'
  const paths = [...new Set([...fieldsOf(index), '_id'])]
  return paths.map((path) => (isDescending ? `-${path}` : path))
}
