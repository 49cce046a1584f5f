/** Queries as conditions on search fields, parsed from the objects that apps hand in. */
import { isObject } from 'pannier/internal'
import { failure } from './errors.ts'
import { toSearchValue, typeOfField } from './search-fields.ts'
import type { SearchSchema, SearchValue } from './search-fields.ts'
import { toArray } from './values.ts'

type Comparison =
  | 'like'
  | 'leftLike'
  | 'rightLike'
  | 'equal'
  | 'lessThan'
  | 'lessOrEqualThan'
  | 'greaterThan'
  | 'greaterOrEqualThan'
  | 'between'
  | 'inside'

/** A document without a value for the field meets no condition on it, negated or not. */
export interface SearchCondition {
  /** A search field, or `_id`. */
  readonly field: string
  readonly comparison: Comparison
  readonly negated: boolean
  /** One value; two of 'between', any number of 'inside'. */
  readonly values: readonly SearchValue[]
}

/** All conditions of one part hold; no conditions always do. */
export type SearchPart = readonly SearchCondition[]
/** A query holds if one of its parts does. An empty query finds every document. */
export type SearchQuery = readonly SearchPart[]

const PARTS: ReadonlyMap<string, { readonly comparison: Comparison; readonly negated: boolean }> = new Map(
  (
    [
      ['like', 'notLike'],
      ['leftLike', 'notLeftLike'],
      ['rightLike', 'notRightLike'],
      ['equal', 'notEqual'],
      ['lessThan'],
      ['lessOrEqualThan'],
      ['greaterThan'],
      ['greaterOrEqualThan'],
      ['between', 'notBetween'],
      ['inside', 'notInside'],
    ] as const
  ).flatMap((names) =>
    names.map((name, at) => [name.toLowerCase(), { comparison: names[0], negated: at === 1 }] as const),
  ),
)

/** `like`, `$like`, `$LIKE`: JSONStore takes the name in any case, with or without the sign. */
function conditionNamed(name: string): { readonly comparison: Comparison; readonly negated: boolean } | undefined {
  return PARTS.get(name.replace('$', '').toLowerCase())
}

/** `{ name: 'ann', age: 3 }`, or several; one has to match. */
export function parseQueries(schema: SearchSchema, queries: unknown, exact: boolean): SearchQuery {
  return toArray(queries).map((query) => {
    if (!isObject(query)) throw failure('BAD_PARAMETER_EXPECTED_SIMPLE_OBJECT', { given: query })
    return Object.entries(query).map(([name, value]) => {
      if (typeof value === 'object' || value === undefined)
        throw failure('BAD_PARAMETER_EXPECTED_SIMPLE_OBJECT', { given: query })
      const comparison = exact || name === '_id' ? 'equal' : 'like'
      return conditionOn(schema, name, { comparison, negated: false }, [value])
    })
  })
}

/** Conditions from the objects that `QueryPart` makes; of several conditions one has to match. */
export function parseQueryParts(schema: SearchSchema, parts: unknown): SearchQuery {
  if (parts === undefined || parts === null) return []
  return toArray(parts).map((part) => {
    if (!isObject(part)) throw failure('BAD_PARAMETER_EXPECTED_ARRAY_OF_OBJECTS', { given: part })
    return Object.entries(part).flatMap(([name, list]) => {
      const kind = conditionNamed(name)
      if (kind === undefined) throw failure('BAD_PARAMETER_EXPECTED_SIMPLE_OBJECT', { given: name })
      return toArray(list).flatMap((one) => {
        if (!isObject(one)) throw failure('BAD_PARAMETER_EXPECTED_SIMPLE_OBJECT', { given: part })
        return Object.entries(one).map(([field, value]) => {
          const isList = kind.comparison === 'between' || kind.comparison === 'inside'
          if (isList !== Array.isArray(value) || (kind.comparison === 'between' && (value as unknown[]).length !== 2))
            throw failure('BAD_PARAMETER_EXPECTED_SIMPLE_OBJECT', { given: part })
          return conditionOn(schema, field, kind, isList ? (value as unknown[]) : [value])
        })
      })
    })
  })
}

const LIKES: ReadonlySet<Comparison> = new Set<Comparison>(['like', 'leftLike', 'rightLike'])

function conditionOn(
  schema: SearchSchema,
  name: string,
  kind: Pick<SearchCondition, 'comparison' | 'negated'>,
  values: readonly unknown[],
): SearchCondition {
  const field = name.toLowerCase()
  const type = field === '_id' ? 'integer' : typeOfField(schema, field)
  if (type === undefined) throw failure('INVALID_SEARCH_FIELD', { given: name })
  const wanted = values.map((value) => {
    // Parts of texts are looked for as they are written: '.5' is found in 1.5.
    const searched = toSearchValue(LIKES.has(kind.comparison) && type !== 'boolean' ? 'string' : type, value)
    if (searched === undefined) throw failure('BAD_PARAMETER_EXPECTED_SIMPLE_OBJECT', { given: name })
    return searched
  })
  return { field, ...kind, values: wanted }
}
