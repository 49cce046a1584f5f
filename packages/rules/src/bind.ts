/** Resolves the names of a rule against a schema and a request. Every mistake in a name is found here. */
import type { Call, Comparison, Expression, Operand, Text } from './ast.ts'
import { RuleError, nearestHint } from './errors.ts'
import { leafOf, plain, type Side } from './leaf.ts'
import { parse } from './parse.ts'
import { resolvePath, scopeOf, type Scope } from './path.ts'
import { readBy, type BoundRule, type Condition, type FunctionName, type Join, type Value } from './plan.ts'
import { NULL, parameter, type RuleRequest } from './request.ts'
import type { Collection, Field, Schema } from './schema.ts'
import { MACRO_NAMES, macro } from './time.ts'

/** The options of `bind`. */
export interface BindOptions {
  /** The schema of all collections. */
  readonly schema: Schema
  /** Name or id of the collection that the rule is about. */
  readonly collection: string
  /** A rule of the collection. It may read hidden fields. */
  readonly rule?: Expression | undefined
  /** The filter of the caller. Where it reads a row that the rule also reads, both speak of the same row. */
  readonly filter?: Expression | undefined
  /** Paths that a list is sorted by, for `@pannier/rules/compile`: their collections' list rules apply, too. */
  readonly sort?: readonly string[]
  /** Whether the filter may read hidden fields and all collections, as that of a superuser. False by default. */
  readonly trusted?: boolean
  /** Whether one who is not trusted sees a field in every record, although the field has a view rule. Nobody does by default. */
  readonly sees?: (collection: Collection, field: Field) => boolean
  /** The request. What is left out is not known here. */
  readonly request?: RuleRequest
  /** The rule is asked about a record that is not stored yet, as a create rule is. */
  readonly unsaved?: boolean
  /** The time of `@now`. */
  readonly now: Date
}

/**
 * Makes a rule, a filter or both ready for `evaluate`. Throws a `RuleError` where a name leads nowhere.
 *
 * @example
 * const bound = bind({ schema, collection: 'posts', rule: parse('author = @request.auth.id'), request: { auth: null }, now: new Date() })
 * evaluate(bound, post, records) // false: a guest is not the author
 */
export function bind(options: BindOptions): BoundRule {
  const { schema, request = {}, rule, filter, sort = [], trusted = false, now, unsaved } = options
  const scope = scopeOf({ schema, collection: options.collection, request, now, unsaved })
  const of: Condition[] = []
  if (rule !== undefined) of.push(conditionOf(rule, scope))
  scope.trusted = trusted
  scope.sees = options.sees ?? scope.sees
  if (filter !== undefined) of.push(conditionOf(filter, scope))
  const sides = sort.map((path) => sortSide(path, scope))
  const joins = [...scope.joins.values()]
  for (const join of scope.listed) of.push(...listCondition(join, scope, joins))
  return {
    collection: scope.collection,
    isJoined: joins.length > 0,
    collections: joins.flatMap((join) => ('collection' in join ? [join.collection] : [])),
    record: scope.record,
    condition: of.length === 1 ? of[0]! : { kind: 'and', of },
    sortsByEmail: sides.some(({ visible }) => visible !== undefined),
    sort: sides.map(({ value }) => value),
    now,
  }
}

function sortSide(path: string, scope: Scope): Side {
  const side = resolvePath(path, 0, scope)
  if (readBy(side.value).length === 0) throw new RuleError('unknown', `"${path}" is no field to sort by.`, 0)
  return side
}

/** PocketBase adds `id = '' || (RULE)` to the whole query, so that a missing row passes. */
function listCondition(join: Join, outer: Scope, joins: Join[]): Condition[] {
  const { collection } = join as Extract<Join, { collection: Collection }>
  if (collection.listRule === null || collection.listRule === '') return []
  const scope: Scope = { ...outer, collection, record: join, joins: new Map(), listed: new Set(), trusted: true }
  const isMissing = leafOf(resolvePath('id', 0, scope), '=', false, plain(parameter('')), join)
  const rule = conditionOf(parse(collection.listRule), scope)
  joins.push(...scope.joins.values())
  return [{ kind: 'or', of: [isMissing, rule] }]
}

function conditionOf(expression: Expression, scope: Scope): Condition {
  if (expression.kind === 'comparison') return comparisonOf(expression, scope)
  return { kind: expression.kind, of: expression.of.map((part) => conditionOf(part, scope)) }
}

function comparisonOf({ left, operator, any, right }: Comparison, scope: Scope): Condition {
  const pattern = sideOf(right, scope)
  if (operator.endsWith('~') && pattern.value.kind === 'element' && pattern.value.join.kind === 'items')
    throw new RuleError(
      'unknown',
      'The elements of a list in the body can be no pattern.',
      right.at,
      'Write it on the left.',
    )
  return leafOf(sideOf(left, scope), operator, any, pattern, scope.record)
}

export function sideOf(operand: Operand, scope: Scope): Side {
  switch (operand.kind) {
    case 'text':
    case 'number':
      return plain(parameter(operand.value))
    case 'name':
      return nameOf(operand.name, operand.at, scope)
    default:
      return callOf(operand, scope)
  }
}

const CONSTANTS: Readonly<Record<string, Value>> = {
  null: NULL,
  true: { kind: 'constant', value: 1 },
  false: { kind: 'constant', value: 0 },
}

function nameOf(name: string, at: number, scope: Scope): Side {
  const moment = macro(name, scope.now)
  if (moment !== undefined) return plain(parameter(moment, false))
  const constant = name.toLowerCase()
  // A field of this name comes first.
  if (Object.hasOwn(CONSTANTS, constant) && !scope.collection.fields.has(name)) return plain(CONSTANTS[constant]!)
  if (name.startsWith('@') && !/^@(request|collection)\./.test(name))
    throw new RuleError(
      'unknown',
      `Unknown macro "${name}".`,
      at,
      nearestHint(name, [...MACRO_NAMES, '@request', '@collection']),
    )
  return resolvePath(name, at, scope)
}

/** How many arguments each function takes, at least and at most. */
const ARGUMENTS: Readonly<Record<FunctionName, readonly [least: number, most: number]>> = {
  geoDistance: [4, 4],
  strftime: [1, 10],
  search: [1, 1],
}

function callOf({ name, of, at }: Call, scope: Scope): Side {
  if (!Object.hasOwn(ARGUMENTS, name))
    throw new RuleError('unknown', `Unknown function "${name}".`, at, nearestHint(name, Object.keys(ARGUMENTS)))
  const [least, most] = ARGUMENTS[name as FunctionName]
  if (of.length < least || of.length > most) {
    const number = least === most ? String(least) : `${least} to ${most}`
    throw new RuleError('unknown', `${name} takes ${number} arguments, got ${of.length}.`, at)
  }
  // The moment of strftime is the only argument of any kind.
  const wrong = of.find(({ kind }, index) =>
    name === 'geoDistance' ? kind === 'text' : kind !== 'text' && index !== 1,
  )
  if (wrong !== undefined) throw new RuleError('unknown', `${name} does not take a ${wrong.kind} here.`, wrong.at)
  if (name === 'search') {
    const { collection, record } = scope
    if (!collection.isSearchable) throw new RuleError('search', `"${collection.name}" has no searchable fields.`, at)
    return { value: { kind: 'search', join: record, collection, text: (of[0] as Text).value }, nulls: 'never' }
  }
  const sides = of.map((argument) => sideOf(argument, scope))
  const call = (values: readonly Value[]): Value => ({ kind: 'call', name: name as FunctionName, of: values })
  const values = sides.map(({ value }) => value)
  if (name === 'geoDistance') return { value: call(values), nulls: 'never' }
  const every = sides[1]?.every
  return { value: call(values), nulls: 'always', every: every && call(values.with(1, every)) }
}
