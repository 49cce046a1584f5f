/** Follows a path of names through fields and relations, as PocketBase's field resolver does. */
import { RuleError, nearestHint } from './errors.ts'
import { kindOf } from './kinds.ts'
import { leafOf, plain, type Side } from './leaf.ts'
import type { Condition, Join, Value } from './plan.ts'
import {
  itemsOf,
  lookUp,
  NULL,
  parameter,
  requestText,
  requestValue,
  sentValue,
  UNKNOWN,
  type RuleRequest,
} from './request.ts'
import type { Collection, Field, Schema } from './schema.ts'

/** A path has at most this number of relations. */
const RELATIONS_MAX = 6

const MODIFIERS = ['each', 'isset', 'length', 'lower', 'changed']
const REQUEST_PARTS = ['context', 'method', 'auth', 'body', 'query', 'headers']

/** The scope in which the names of one collection's rule are resolved. */
export interface Scope {
  readonly schema: Schema
  readonly request: RuleRequest
  readonly now: Date
  readonly collection: Collection
  /** The row that the rule is about. */
  readonly record: Join
  /** Joins by their paths, so that equal paths are one row. */
  readonly joins: Map<string, Join>
  /** Joins of records that a filter read, whose list rules apply. */
  readonly listed: Set<Join>
  trusted: boolean
  /** Whether a field that has a view rule is seen in every record. */
  sees: (collection: Collection, field: Field) => boolean
}

interface ScopeOptions {
  readonly schema: Schema
  readonly collection: string
  readonly request: RuleRequest
  readonly now: Date
  readonly unsaved?: boolean | undefined
}

/** The scope of a rule: trusted, and about a record. */
export function scopeOf({ schema, collection: name, request, now, unsaved = false }: ScopeOptions): Scope {
  const collection = schema.find(name)
  if (collection === undefined) throw new RuleError('unknown', `Unknown collection "${name}".`, 0)
  const record: Join = { kind: 'record', collection, isUnsaved: unsaved }
  return {
    schema,
    request,
    now,
    collection,
    record,
    joins: new Map(),
    listed: new Set(),
    trusted: true,
    sees: () => false,
  }
}

/** Where a path has come to. */
interface PathPosition {
  readonly collection: Collection
  readonly row: Join
  /** The same row for match-all: never shared with another comparison. */
  readonly own: Join
  /** A list, or a relation to many, was passed. */
  readonly isMany: boolean
  /** In `@request`, what is not there is null. */
  readonly isRequest: boolean
  /** The path so far, as joins are named. */
  readonly key: string
}

/** A name of a path, and where it stands. */
interface Part {
  readonly name: string
  readonly at: number
}

export function resolvePath(path: string, at: number, scope: Scope): Side {
  const parts: Part[] = []
  let from = at
  for (const name of path.split('.')) {
    parts.push({ name, at: from })
    from += name.length + 1
  }
  if (parts[0]!.name === '@request') return requestPath(path, parts, scope)
  if (parts[0]!.name === '@collection') return collectionPath(path, parts, scope)
  if (!/^\w/.test(path)) throw new RuleError('unknown', `Unknown field "${path}".`, at)
  const { collection, record } = scope
  return fieldPath(parts, { collection, row: record, own: record, isMany: false, isRequest: false, key: '' }, scope)
}

function collectionPath(path: string, parts: readonly Part[], scope: Scope): Side {
  const [, reference] = parts
  if (!/^@collection\.\w+(:\w+)?\.[\w.:]*\w$/.test(path))
    throw new RuleError('unknown', `Incomplete path "${path}".`, parts[0]!.at, 'Write "@collection.NAME.FIELD".')
  const [name = '', alias] = reference!.name.split(':')
  const collection = find(name, reference!.at, scope)
  const key = alias === undefined ? `@${collection.name}` : `@:${alias}`
  const row = join(key, { kind: 'all', collection }, reference!.at, scope)
  if ('collection' in row && row.collection !== collection)
    throw new RuleError('unknown', `The alias "${alias}" stands for two collections.`, reference!.at)
  const own: Join = { kind: 'all', collection }
  return fieldPath(parts.slice(2), { collection, row, own, isMany: true, isRequest: false, key }, scope)
}

function find(name: string, at: number, { schema }: Scope): Collection {
  const collection = schema.find(name)
  if (collection !== undefined) return collection
  const names = schema.collections.map((each) => each.name)
  throw new RuleError('unknown', `Unknown collection "${name}".`, at, nearestHint(name, names))
}

/** The join of a key, and that its records are read. */
function join(key: string, made: Join, at: number, scope: Scope): Join {
  const found = scope.joins.get(key) ?? made
  scope.joins.set(key, found)
  if (scope.trusted || !('collection' in found)) return found
  if (found.collection.listRule === null)
    throw new RuleError('forbidden', `Only superusers may filter by records of "${found.collection.name}".`, at)
  scope.listed.add(found)
  return found
}

function fieldPath(parts: readonly Part[], start: PathPosition, scope: Scope): Side {
  let place = start
  for (let i = 0; i < parts.length - 1; i++) {
    const { name, at } = parts[i]!
    const field = place.collection.fields.get(name)
    if (field !== undefined) checkVisible(field, place.collection, at, scope)
    if (field && kindOf(field).json) return jsonPath(field, parts.slice(i + 1), place)
    if (i >= RELATIONS_MAX) throw new RuleError('unknown', `A path has at most ${RELATIONS_MAX} relations.`, at)
    if (field && !kindOf(field).isRelation) throw new RuleError('unknown', `The field "${name}" is not a relation.`, at)
    // `author.id` is `author`.
    if (field?.isMany === false && i === parts.length - 2 && parts[i + 1]!.name === 'id')
      return lastField(parts[i]!, place, scope)
    const next = field === undefined ? backPlace(parts[i]!, place, scope) : relatedPlace(field, at, place, scope)
    if (next === undefined) return plain(NULL)
    place = next
  }
  return lastField(parts.at(-1)!, place, scope)
}

function relatedPlace(field: Field, at: number, place: PathPosition, scope: Scope): PathPosition {
  const collection = find(field.to, at, scope)
  const key = `${place.key}.${field.name}`
  let { row, own } = place
  if (field.isMany) {
    row = join(`${key}:each`, { kind: 'each', parent: row, field }, at, scope)
    own = { kind: 'each', parent: own, field }
  }
  const related = (parent: Join): Join =>
    field.isMany ? { kind: 'related', collection, parent } : { kind: 'related', collection, parent, field }
  const isMany = place.isMany || field.isMany
  return { ...place, collection, row: join(key, related(row), at, scope), own: related(own), isMany, key }
}

/** `posts_via_author`: undefined if the name leads nowhere, in a request. */
function backPlace({ name, at }: Part, place: PathPosition, scope: Scope): PathPosition | undefined {
  const [, from = '', fieldName = ''] = /^(\w+)_via_(\w+)$/.exec(name) ?? []
  const collection = scope.schema.find(from)
  const field = collection?.fields.get(fieldName)
  const isStored = place.row.kind !== 'record' || !place.row.isUnsaved
  const leadsHere = field && kindOf(field).isRelation && scope.schema.find(field.to) === place.collection && isStored
  if (collection === undefined || field === undefined || !leadsHere) {
    if (place.isRequest) return undefined
    if (from === '') throw unknownField(name, at, place.collection)
    throw new RuleError(
      'unknown',
      `No relation leads back by "${name}".`,
      at,
      nearestHint(name, backNames(place, scope)),
    )
  }
  checkVisible(field, collection, at, scope)
  const key = `${place.key}.${name}`
  const row = join(key, { kind: 'back', collection, parent: place.row, field }, at, scope)
  const own: Join = { kind: 'back', collection, parent: place.own, field }
  return { ...place, collection, row, own, isMany: place.isMany || field.isMany || !field.isUnique, key }
}

function backNames({ collection }: PathPosition, { schema }: Scope): string[] {
  return schema.collections.flatMap((from) =>
    Array.from(from.fields.values())
      .filter((field) => kindOf(field).isRelation && schema.find(field.to) === collection)
      .map(({ name }) => `${from.name}_via_${name}`),
  )
}

function unknownField(name: string, at: number, { fields }: Collection): RuleError {
  return new RuleError('unknown', `Unknown field "${name}".`, at, nearestHint(name, fields.keys()))
}

function checkVisible(field: Field, collection: Collection, at: number, { trusted, sees }: Scope): void {
  const { name, isHidden, isRuled } = field
  if (!trusted && (isHidden || (isRuled && !sees(collection, field))))
    throw new RuleError('forbidden', `Only superusers may filter by "${name}".`, at)
}

function jsonPath(field: Field, parts: readonly Part[], { row, own, isMany }: PathPosition): Side {
  // PocketBase drops what a column's name cannot have.
  const path = parts.map(({ name }) => name.replaceAll(':', ''))
  const empty = path.indexOf('')
  if (empty >= 0) throw new RuleError('unknown', `An empty name in "${field.name}".`, parts[empty]!.at)
  const value = (join: Join): Value => ({ kind: 'json', join, field, path })
  return { value: value(row), nulls: 'never', every: isMany ? value(own) : undefined }
}

function lastField(part: Part, place: PathPosition, scope: Scope): Side {
  const [name, modifier] = splitModifier(part)
  const { collection, row, own } = place
  const field = collection.fields.get(name)
  if (field === undefined) {
    if (place.isRequest) return plain(NULL)
    throw unknownField(name, part.at, collection)
  }
  checkVisible(field, collection, part.at, scope)
  if (modifier === 'each' && field.isListable) return eachOf(field, part.at, place, scope)
  const isJson = kindOf(field).empty === null
  const valueOf = (join: Join): Value => {
    if (modifier === 'length' && field.isListable) return { kind: 'length', join, field }
    const value: Value = isJson ? { kind: 'json', join, field, path: [] } : { kind: 'field', join, field }
    return modifier === 'lower' ? { kind: 'lower', of: value } : value
  }
  const isAddress = field.name === 'email' && collection.isAuth && !scope.trusted
  return {
    value: valueOf(row),
    nulls: isJson ? 'never' : 'auto',
    every: place.isMany ? valueOf(own) : undefined,
    visible: isAddress ? row : undefined,
  }
}

function eachOf(field: Field, at: number, { row, own, isMany, key }: PathPosition, scope: Scope): Side {
  const elements = join(`${key}.${field.name}:each`, { kind: 'each', parent: row, field }, at, scope)
  const every: Value = { kind: 'element', join: { kind: 'each', parent: own, field } }
  return {
    value: { kind: 'element', join: elements },
    nulls: 'auto',
    every: isMany || field.isMany ? every : undefined,
  }
}

function splitModifier({ name, at }: Part): readonly [name: string, modifier: string] {
  const [before = '', modifier, ...more] = name.split(':')
  if (modifier === undefined || more.length > 0) return [name, '']
  if (MODIFIERS.includes(modifier)) return [before, modifier]
  const hint = nearestHint(modifier, MODIFIERS)
  throw new RuleError('unknown', `Unknown modifier ":${modifier}".`, at + before.length, hint)
}

function requestPath(path: string, parts: readonly Part[], scope: Scope): Side {
  const [, part = { name: '', at: parts[0]!.at }] = parts
  const isWhole = part.name === 'context' || part.name === 'method'
  if (!REQUEST_PARTS.includes(part.name))
    throw new RuleError(
      'unknown',
      `Unknown part "${part.name}" of @request.`,
      part.at,
      nearestHint(part.name, REQUEST_PARTS),
    )
  if (isWhole ? parts.length > 2 : !/^@request\.\w+\.[\w.:]*\w$/.test(path))
    throw new RuleError('unknown', `Incomplete path "${path}".`, parts[0]!.at)
  if (part.name === 'auth') return authPath(parts, scope)
  if (part.name !== 'body') return staticPath(parts, scope)
  const [name, modifier] = splitModifier(parts[2]!)
  const field = scope.collection.fields.get(name)
  if (field && kindOf(field).isRelation && parts.length > 3) return bodyRelation(field, parts, scope)
  return field === undefined || parts.length > 3 ? staticPath(parts, scope) : bodyField(field, modifier, parts, scope)
}

/** Fields of the account that need no look at the stored record. */
export const PLAIN_AUTH_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'collectionId',
  'collectionName',
  'email',
  'emailVisibility',
  'verified',
])

function authPath(parts: readonly Part[], scope: Scope): Side {
  const auth = scope.request.auth
  if (auth === undefined) return plain(UNKNOWN)
  if (auth === null) return plain(NULL)
  const collection = find(auth.collection, parts[0]!.at, scope)
  if (parts.length === 3 && PLAIN_AUTH_FIELDS.has(parts[2]!.name)) {
    const account = { ...auth.record, collectionId: collection.id, collectionName: collection.name }
    return plain(requestValue(lookUp(account, [parts[2]!.name]).value, false))
  }
  const made: Join = { kind: 'ids', collection, ids: [requestText(auth.record['id'])] }
  const row = join('@auth', made, parts[0]!.at, scope)
  return fieldPath(
    parts.slice(2),
    { collection, row, own: { ...made }, isMany: false, isRequest: true, key: '@auth' },
    scope,
  )
}

/** A value of the request itself. */
function staticPath(parts: readonly Part[], scope: Scope): Side {
  const part = parts[1]!.name as keyof RuleRequest
  const [name, modifier] = splitModifier(parts.at(-1)!)
  if (modifier !== '' && modifier !== 'isset' && modifier !== 'lower')
    throw new RuleError('unknown', `":${modifier}" is not for "${name}".`, parts.at(-1)!.at)
  const from = scope.request[part]
  if (from === undefined) return plain(UNKNOWN)
  const keys = [...parts.slice(2, -1).map((key) => key.name), name]
  const found = lookUp(from, parts.length === 2 ? [] : keys)
  if (modifier === 'isset') return plain({ kind: 'constant', value: found.isThere ? 1 : 0 })
  const kind = kindOf(scope.collection.fields.get(name))
  const isField = part === 'body' && parts.length === 3
  const value = isField
    ? sentValue(found.isThere ? found.value : undefined, kind)
    : requestValue(found.value, kind.empty === 0)
  return plain(modifier === 'lower' && value !== NULL ? { kind: 'lower', of: value } : value)
}

function bodyField(field: Field, modifier: string, parts: readonly Part[], scope: Scope): Side {
  if (modifier === '' || modifier === 'isset') return staticPath(parts, scope)
  const { name, at } = parts[2]!
  if (modifier === 'changed') {
    return { value: { kind: 'truth', of: changed(field, parts, scope) }, nulls: 'never' }
  }
  if (modifier !== 'lower' && !field.isListable) throw new RuleError('unknown', `"${name}" is for lists only.`, at)
  const { body } = scope.request
  if (body === undefined) return plain(UNKNOWN)
  const sent = lookUp(body, [field.name]).value
  if (modifier === 'lower') {
    const value = sentValue(sent, kindOf(field))
    const text = parameter(value.kind === 'parameter' && !field.isMany ? String(value.value) : '')
    return plain({ kind: 'lower', of: text })
  }
  const items = itemsOf(sent)
  if (modifier === 'length') return plain({ kind: 'constant', value: items.length })
  const row = join(`@body.${field.name}:each`, { kind: 'items', items }, at, scope)
  const every: Value = { kind: 'element', join: { kind: 'items', items } }
  return { value: { kind: 'element', join: row }, nulls: 'auto', every: field.isMany ? every : undefined }
}

/** `@request.body.f:isset = true && @request.body.f != f` */
function changed({ name }: Field, [request, body, part]: readonly Part[], scope: Scope): Condition {
  const { at } = part!
  const sent = (last: string): Side => staticPath([request!, body!, { name: last, at }], scope)
  const { record } = scope
  const isSet = leafOf(sent(`${name}:isset`), '=', false, plain({ kind: 'constant', value: 1 }), record)
  return { kind: 'and', of: [isSet, leafOf(sent(name), '!=', false, resolvePath(name, at, scope), record)] }
}

function bodyRelation(field: Field, parts: readonly Part[], scope: Scope): Side {
  const collection = find(field.to, parts[2]!.at, scope)
  const { body } = scope.request
  if (body === undefined) return plain(UNKNOWN)
  const ids = itemsOf(lookUp(body, [field.name]).value).map(requestText)
  const made: Join = { kind: 'ids', collection, ids: Array.from(new Set(ids)).filter((id) => id !== '') }
  if (made.ids.length === 0) return plain(NULL)
  const key = `@body.${field.name}`
  const row = join(key, made, parts[2]!.at, scope)
  return fieldPath(
    parts.slice(3),
    { collection, row, own: { ...made }, isMany: field.isMany, isRequest: true, key },
    scope,
  )
}
