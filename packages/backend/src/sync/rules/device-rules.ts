/**
 * The rules that a device gets for `can()`. Each comparison that the account may not know is replaced by one without an answer.
 * docs/internals/client-rules.md is the contract, docs/adr/0040 has the reasons.
 */
import { createHash } from 'node:crypto'
import { bind, createSchema, evaluate, parse, print, RuleError } from '@pannier/rules'
import type { Collection, Comparison, Expression, Operand, RuleRecords, RuleRequest, Schema } from '@pannier/rules'
import { LruMap } from 'pannier/internal'
import { ruleFor } from '../../access/access.ts'
import type { Actor } from '../../access/actor.ts'
import { ruleRecord } from '../../access/rule-records.ts'
import type { Definition, Rule } from '../../definitions/definition.ts'
import { isListed, patternOf, type FieldDefinition } from '../../fields/field-definition.ts'
import type { FieldType } from '../../fields/field-type.ts'
import { emptyValue, holdsRecords, typeOfField } from '../../fields/field-types.ts'
import type { RecordJson } from '../../records/record-types.ts'

/** A field that a device knows the values of, in the form that `createSchema` takes. */
export interface DeviceField {
  /** The name in paths. */
  readonly name: string
  /** PocketBase's name of the type. */
  readonly type: string
  /** The empty value: that of a new record if nothing is set. */
  readonly empty: unknown
  /** The most values (select). The value is a list if this is more than 1. */
  readonly maxSelect?: number
  /** The collection that a relation leads to. */
  readonly collectionId?: string
  /** The rule of those who may set it. Left out: the rules of the collection decide. */
  readonly updateRule?: string | null
}

/** A collection in the form that `createSchema` takes, with its rules as a device gets them. */
export interface DeviceCollection {
  /** The id that relations refer to. */
  readonly id: string
  /** The name in paths. */
  readonly name: string
  /** The type: `auth` or `base`. */
  readonly type: string
  /** Fields whose stored values a device has. */
  readonly fields: readonly DeviceField[]
  /** The index of each field whose values are unique. */
  readonly indexes: readonly string[]
  /** The account sees each of its records. */
  readonly isOpen: boolean
  /** As far as the account may know them. */
  readonly rules: { readonly create: Rule; readonly update: Rule; readonly delete: Rule }
}

/** The rules of some collections, for one account. */
export interface DeviceRules {
  /** The version: another answer has another one. */
  readonly version: string
  /** The account as it sees itself; null: a guest. */
  readonly account: RecordJson | null
  /** The collections of the pull, and the account's own. */
  readonly collections: readonly DeviceCollection[]
}

/** Fields of the account itself that are known, whatever fields its collection has. */
const PLAIN_AUTH_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'collectionId',
  'collectionName',
  'email',
  'emailVisibility',
  'verified',
])

/** Has no answer on a device, as it does not know the headers. */
const UNKNOWN = parse("@request.headers.unknown = ''")
const [TRUE, FALSE] = [parse('1 = 1'), parse('1 = 0')]

/** A time for rules of a device: a rule that reads the time has no answer there. */
const NO_TIME = new Date(0)

/** Accounts whose cut rules are kept. Each pull asks for them. */
const CUT_ACCOUNTS_MAX = 500

/** By the schema of all collections, as another definition makes another one. */
const cutCollections = new WeakMap<Schema, LruMap<string, readonly DeviceCollection[]>>()

export function deviceRules(actor: Actor, facts: DeviceFacts): DeviceRules {
  const cuts = cutCollections.get(facts.all) ?? new LruMap<string, readonly DeviceCollection[]>(CUT_ACCOUNTS_MAX)
  cutCollections.set(facts.all, cuts)
  const key = cutKey(actor, facts)
  const collections = cuts.get(key) ?? collectionsFor(actor, facts)
  cuts.set(key, collections)
  const answer = { account: facts.account, collections }
  const version = createHash('sha256').update(JSON.stringify(answer)).digest('base64url').slice(0, 22)
  return { version, ...answer }
}

/** The cut of the rules depends on this text and on the definitions. */
function cutKey({ principal: { account, apiToken, isAdmin } }: Actor, { synced }: DeviceFacts): string {
  const scopes = apiToken && Array.from(apiToken.scopes, ([id, actions]) => [id, ...actions])
  const who = [isAdmin, account?.collection, account?.record['_id'], account?.record['_rev']]
  return JSON.stringify([who, scopes, synced.map(({ id }) => id)])
}

function collectionsFor(actor: Actor, { all, synced, own }: DeviceFacts): readonly DeviceCollection[] {
  const known = own === undefined ? synced : [...new Set([...synced, own])]
  const bare = known.map((definition) => bareCollection(actor, definition))
  const schema = createSchema(bare)
  return bare.map((collection, index): DeviceCollection => {
    const definition = known[index]!
    const cutting = { actor, all, schema, definition, isCreate: false, isOfField: false }
    const isSynced = synced.includes(definition)
    const { isAdmin } = actor.principal
    const ruleOf = (action: 'create' | 'update' | 'delete'): Rule =>
      isSynced && isAdmin
        ? ''
        : isSynced
          ? cutRule(ruleFor(actor.principal, definition, action), { ...cutting, isCreate: action === 'create' })
          : null
    return {
      ...collection,
      fields: collection.fields.map((field) => {
        const { updateRule } = definition.fields.find(({ name }) => name === field.name)!
        return isSynced && !isAdmin && updateRule !== undefined && updateRule !== ''
          ? { ...field, updateRule: cutRule(updateRule, { ...cutting, isCreate: true, isOfField: true }) }
          : field
      }),
      rules: { create: ruleOf('create'), update: ruleOf('update'), delete: ruleOf('delete') },
    }
  })
}

/** Without its rules, and with the fields that a device has the stored values of. */
function bareCollection({ principal }: Actor, definition: Definition): Omit<DeviceCollection, 'rules'> {
  const { id, name, type } = definition
  const fields = definition.fields.filter((field) => isKnown(field, definition)).map(bareField)
  const { fields: stored } = createSchema([definition]).collections[0]!
  const unique = fields.filter((field) => stored.get(field.name)!.isUnique)
  const indexes = unique.map((field) => `create unique index u on t (${field.name})`)
  return { id, name, type, fields, indexes, isOpen: principal.isAdmin || ruleFor(principal, definition, 'list') === '' }
}

/**
 * Whether a device knows a field. Hidden fields, and fields that the server fills, are unknown. So are addresses of accounts, which some
 * see and others don't.
 */
function isKnown(field: FieldDefinition, { type }: Definition): boolean {
  const { isHashed, isAutomatic } = typeOfField(field)
  if (field.hidden || field.viewRule !== undefined || isHashed || isAutomatic) return false
  if (type === 'auth' && field.system && field.name !== 'id') return false
  return patternOf(field) === '' || field.name === 'id'
}

function bareField(field: FieldDefinition): DeviceField {
  const { name, type } = field
  return {
    name,
    type,
    empty: emptyValue(field),
    ...('maxSelect' in field && { maxSelect: field.maxSelect }),
    ...(holdsRecords(field) && { collectionId: field.collectionId }),
  }
}

/** The parts for the rules of a device. */
interface DeviceFacts {
  /** The schema of all collections. */
  readonly all: Schema
  readonly synced: readonly Definition[]
  /** The definition of the account's collection; undefined: a guest. */
  readonly own: Definition | undefined
  /** The account as it sees itself. */
  readonly account: RecordJson | null
}

interface Cutting {
  readonly actor: Actor
  readonly all: Schema
  /** The schema of the fields that a device knows. */
  readonly schema: Schema
  readonly definition: Definition
  /** The record's own fields are what the caller sends. */
  readonly isCreate: boolean
  /** True if the rule is asked about new records and about stored ones. */
  readonly isOfField: boolean
}

/** A rule that can't be bound admits nothing, whatever a part of it says. */
function cutRule(rule: Rule, cutting: Cutting): Rule {
  if (rule === null || rule === '') return rule
  const whole = parse(rule)
  const { auth, body } = requestOf(cutting.actor, cutting.all.find(cutting.definition.id)!)
  if (!isBound(whole, { auth }, cutting)) return cutting.isOfField ? print(UNKNOWN) : null
  // What is sent may lead a path to where there is no field.
  const expression = isBound(whole, { auth, body }, cutting) ? cutExpression(whole, cutting) : UNKNOWN
  if (expression === TRUE) return ''
  return expression === FALSE ? null : print(expression)
}

/** As the server binds it. A rule of a field is asked about records that are stored and about new ones. */
function isBound(rule: Expression, request: RuleRequest, { all, definition, isCreate, isOfField }: Cutting): boolean {
  try {
    for (const unsaved of isOfField ? [true, false] : [isCreate])
      bind({ schema: all, collection: definition.id, rule, request, unsaved, now: NO_TIME })
    return true
  } catch (error) {
    if (error instanceof RuleError) return false
    throw error
  }
}

/** `TRUE` and `FALSE` are at the top only. */
function cutExpression(expression: Expression, cutting: Cutting): Expression {
  if (expression.kind === 'comparison') return cutComparison(expression, cutting)
  const { kind } = expression
  const [ends, passes] = kind === 'and' ? [FALSE, TRUE] : [TRUE, FALSE]
  const parts = expression.of.map((part) => cutExpression(part, cutting))
  if (parts.includes(ends)) return ends
  const of = [...new Set(parts)].filter((part) => part !== passes)
  return of.length > 1 ? { kind, of } : (of[0] ?? passes)
}

function cutComparison(comparison: Comparison, cutting: Cutting): Expression {
  const { actor, schema, definition, isCreate } = cutting
  const operands = [comparison.left, comparison.right]
  if (!operands.every((operand) => isKnowable(operand, cutting))) return UNKNOWN
  try {
    const { auth, body } = requestOf(actor, schema.find(definition.id)!)
    const options = { schema, collection: definition.id, rule: comparison, unsaved: isCreate, now: NO_TIME }
    bind({ ...options, request: { auth, body } })
    const answer = evaluate(bind({ ...options, request: { auth } }), {}, NOTHING_KNOWN)
    if (answer !== undefined) return answer ? TRUE : FALSE
    return isSecret(operands, cutting) ? UNKNOWN : comparison
  } catch (error) {
    if (error instanceof RuleError) return UNKNOWN
    throw error
  }
}

const NOTHING_KNOWN: RuleRecords = {
  get: () => undefined,
  via: () => ({ records: [], isComplete: false }),
  all: () => ({ records: [], isComplete: false }),
  knows: () => false,
}

/** With a value for each relation, so that the names behind it are looked up. */
function requestOf(
  { principal: { account } }: Actor,
  { fields }: Collection,
): Required<Pick<RuleRequest, 'auth' | 'body'>> {
  const relations = Array.from(fields.values()).filter((field) => typeOf(field).holds === 'records')
  return {
    auth: account === undefined ? null : { collection: account.collection, record: ruleRecord(account.record) },
    body: Object.fromEntries(relations.map(({ name }) => [name, ['x']])),
  }
}

/** Functions, the time, and what is known of a request only when it is sent have no answer on a device. */
function isKnowable(operand: Operand, { actor, schema, definition, isCreate }: Cutting): boolean {
  if (operand.kind === 'call') return false
  if (operand.kind !== 'name') return true
  const { account } = actor.principal
  const [first, part, ...path] = operand.name.split('.') as [string, ...string[]]
  if (first === '@collection') return true
  if (first !== '@request') return !first.startsWith('@') && !(isCreate && operand.name === 'id')
  // In a request, a name that leads nowhere is null. So it must lead where it leads at the server.
  if (part === 'auth') {
    if (account === undefined) return true
    const isPlain = path.length === 1 && PLAIN_AUTH_FIELDS.has(path[0]!)
    return isPlain || leadsTo(path, schema.find(account.collection)!, schema)
  }
  return part === 'body' && path[0] !== 'id' && leadsTo(path, schema.find(definition.id)!, schema)
}

/** Schemas come from definitions. */
function typeOf({ type }: { readonly type: string }): FieldType<FieldDefinition> {
  return typeOfField({ type } as FieldDefinition)
}

/** Whether a path leads to a field that a device knows. */
function leadsTo([part, ...rest]: readonly string[], { fields }: Collection, schema: Schema): boolean {
  const [name = '', from, relation] = /^(\w+)_via_(\w+)$/.exec(part!) ?? [part!.split(':', 1)[0]!]
  const field = fields.get(name)
  const type = field && typeOf(field)
  if (rest.length === 0 || type?.column === 'JSON') return field !== undefined
  const next = schema.find(field?.to ?? from ?? '')
  const isThere = type?.holds === 'records' || next?.fields.has(relation ?? '') === true
  return isThere && next !== undefined && leadsTo(rest, next, schema)
}

/** A text or number that the caller has to send may be a password, such as the code of an invitation. Values of selects are no secret. */
function isSecret(operands: readonly Operand[], { definition, isCreate }: Cutting): boolean {
  return operands.some((operand, index) => {
    const other = operands[1 - index]!
    if (operand.kind !== 'name' || other.kind === 'name' || ('value' in other && other.value === '')) return false
    const isSent = operand.name.startsWith('@request.body.') || (isCreate && !operand.name.startsWith('@'))
    if (!isSent || operand.name.endsWith(':length')) return false
    const [name] = operand.name.replace('@request.body.', '').split(/[.:]/)
    const field = definition.fields.find((one) => one.name === name)
    return field === undefined || !isListed(field)
  })
}
