/** Rules of definitions, bound to an actor: what it may do with which record. */
import { bind, createSchema, evaluate, FILTER_BYTES_MAX, parse, RuleError } from '@pannier/rules'
import type { BoundRule, Expression, FoundRecords, RuleRecord, RuleRecords, RuleRequest, Schema } from '@pannier/rules'
import { compile } from '@pannier/rules/compile'
import type { Environment } from 'pannier/types'
import type { Definition, Rule } from '../definitions/definition.ts'
import type { FieldDefinition } from '../fields/field-definition.ts'
import { typeOfField } from '../fields/field-types.ts'
import type { Principal, Scopes } from '../gateway/principal.ts'
import type { Actor } from './actor.ts'
import { asksOnlyAccount } from './asked-values.ts'
import { ruleRecord, type KnownDefinitions } from './rule-records.ts'
import type { ShownRevisions } from './shown-revisions.ts'

/** The action that a rule of a definition is about. */
export type Action = ReadAction | 'create' | 'update' | 'delete'

/** Actions whose rules are asked about records that are stored. */
export type ReadAction = 'list' | 'view' | 'manage' | 'auth'

/** The conditions of an answer, beside the record. */
export interface AllowOptions {
  /** The records that the rule leads to, all of one state of the database. */
  readonly records: RuleRecords
  /** `@request.body`: values as their fields read them, modifiers applied. */
  readonly body?: Readonly<Record<string, unknown>>
  /** The record is not stored yet, as in a create. */
  readonly unsaved?: boolean
}

interface BindListOptions {
  /** The rule of this action admits the records; without one, the filter alone. */
  readonly action?: ReadAction
  readonly filter?: string
  /** Paths, without their directions. */
  readonly sort?: readonly string[]
  /** The context of the request, if it is another than the actor's. */
  readonly context?: string
}

export class Access {
  readonly #definitions: KnownDefinitions
  /** A definition that changes is another object. */
  readonly #rules = new WeakMap<Definition, Map<string, Expression>>()
  readonly #scoped = new WeakMap<Scopes, { readonly of: Schema; readonly schema: Schema }>()

  /** Revisions of records, as principals see them. */
  readonly revisions: ShownRevisions

  readonly #now: () => Date

  /** Rules read the clock of `environment`. */
  constructor(definitions: KnownDefinitions, revisions: ShownRevisions, environment: Pick<Environment, 'wallClock'>) {
    this.#definitions = definitions
    this.revisions = revisions
    this.#now = () => new Date(environment.wallClock())
  }

  /** Whether the actor may not do it, as only superusers may. */
  isLocked({ principal }: Actor, definition: Definition, action: Action): boolean {
    return !principal.isAdmin && ruleFor(principal, definition, action) === null
  }

  /** Whether the rule admits a record. A rule that names what is no longer there admits nothing. */
  allows(actor: Actor, definition: Definition, action: Action, record: RuleRecord, options: AllowOptions): boolean {
    return this.meets(actor, definition, ruleFor(actor.principal, definition, action), record, options)
  }

  /** As `allows`, by any rule about records of the definition, such as that of a field. */
  meets(actor: Actor, definition: Definition, rule: Rule, record: RuleRecord, options: AllowOptions): boolean {
    if (actor.principal.isAdmin) return true
    if (rule === null || rule === '') return rule === ''
    try {
      const bound = bind({
        now: this.#now(),
        schema: this.#definitions.schema,
        collection: definition.id,
        rule: this.#expressionOf(definition, rule),
        request: ruleRequest(actor, { body: options.body }),
        ...(options.unsaved === undefined ? {} : { unsaved: options.unsaved }),
      })
      return evaluate(bound, record, options.records) === true
    } catch (error) {
      if (error instanceof RuleError) return false
      throw error
    }
  }

  /**
   * The rule and what a client asks for, as one: where both read a joined row, it is the same row. A locked rule is the caller's
   * to refuse.
   *
   * @throws RuleError
   */
  bindList(actor: Actor, definition: Definition, { action, filter, sort = [], context }: BindListOptions): BoundRule {
    const trusted = actor.principal.isAdmin
    const rule = trusted || action === undefined ? null : ruleFor(actor.principal, definition, action)
    return bind({
      now: this.#now(),
      schema: this.#schemaFor(actor),
      collection: definition.id,
      rule: rule === null || rule === '' ? undefined : this.#expressionOf(definition, rule),
      filter: filter === undefined || filter === '' ? undefined : parse(filter, { bytesMax: FILTER_BYTES_MAX }),
      sort,
      trusted,
      sees: ({ id }, { name }) => {
        const read = this.#definitions.find(id)
        const field = read?.fields.find((one) => one.name === name)
        return read !== undefined && field !== undefined && this.seesAlways(actor, read, field)
      },
      request: ruleRequest(actor, { context }),
    })
  }

  /**
   * A rule about records of the definition, for an actor who is no superuser.
   *
   * @throws RuleError
   */
  bindRule(actor: Actor, definition: Definition, rule: string, context: string): BoundRule {
    return bind({
      now: this.#now(),
      schema: this.#definitions.schema,
      collection: definition.id,
      rule: this.#expressionOf(definition, rule),
      request: ruleRequest(actor, { context }),
    })
  }

  /**
   * Whether the actor sees a field in every record, whatever is in it. Else to filter or sort by the field would tell what is hidden.
   * Only what is known of the request and the account may decide.
   */
  seesAlways(actor: Actor, definition: Definition, field: Pick<FieldDefinition, 'viewRule'>): boolean {
    const { viewRule = '' } = field
    return actor.principal.isAdmin || this.#holdsAlways(actor, definition, viewRule)
  }

  /**
   * Whether the actor sees every record whole, whatever is stored, until the definition or the account changes. It is so for nobody but
   * superusers where fields are hidden, and of accounts.
   */
  seesAll(actor: Actor, definition: Definition): boolean {
    const { principal } = actor
    if (principal.isAdmin) return true
    const { type, fields } = definition
    if (type === 'auth' || fields.some((field) => field.hidden || typeOfField(field).isHashed)) return false
    const views = fields.map(({ viewRule = '' }) => viewRule)
    const rules = new Set([ruleFor(principal, definition, 'list'), ruleFor(principal, definition, 'view'), ...views])
    return [...rules].every(
      (rule) =>
        rule === '' ||
        (rule !== null &&
          asksOnlyAccount(this.#expressionOf(definition, rule)) &&
          this.#holdsAlways(actor, definition, rule)),
    )
  }

  /** Whether a rule admits every record, by what is known of the request and the account alone. */
  #holdsAlways(actor: Actor, definition: Definition, rule: Rule): boolean {
    if (rule === '' || rule === null) return rule === ''
    try {
      const bound = this.bindRule(actor, definition, rule, actor.request.context)
      const { selection, isExact } = compile(bound, onlyAccount(actor))
      return isExact && selection.kind === 'and' && selection.of.length === 0
    } catch (error) {
      if (error instanceof RuleError) return false
      throw error
    }
  }

  /** Filters of an API token pass through collections that it may list. */
  #schemaFor({ principal: { apiToken } }: Actor): Schema {
    const { schema } = this.#definitions
    if (apiToken === undefined) return schema
    const known = this.#scoped.get(apiToken.scopes)
    if (known?.of === schema) return known.schema
    const scoped = this.#definitions
      .all()
      .map((one) => (apiToken.scopes.get(one.id)?.has('list') === true ? one : { ...one, listRule: null }))
    const made = { of: schema, schema: createSchema(scoped) }
    this.#scoped.set(apiToken.scopes, made)
    return made.schema
  }

  #expressionOf(definition: Definition, rule: string): Expression {
    const parsed = this.#rules.get(definition) ?? new Map<string, Expression>()
    this.#rules.set(definition, parsed)
    const expression = parsed.get(rule) ?? parse(rule)
    parsed.set(rule, expression)
    return expression
  }
}

/** The rule of an action, for a principal. Beyond the scopes of an API token everything is locked, and it manages no accounts. */
export function ruleFor({ apiToken }: Principal, definition: Definition, action: Action): Rule {
  // To log in takes more than the token.
  if (apiToken === undefined || action === 'auth') return ruleOf(definition, action)
  const isAllowed = action !== 'manage' && apiToken.scopes.get(definition.id)?.has(action) === true
  return isAllowed ? ruleOf(definition, action) : null
}

/** Only accounts are managed and log in. */
function ruleOf(definition: Definition, action: Action): Rule {
  if (action === 'manage' || action === 'auth') return definition.type === 'auth' ? definition[`${action}Rule`] : null
  return definition[`${action}Rule`]
}

/** Records of a rule where only the account's own record is known. */
function onlyAccount({ principal: { account } }: Actor): RuleRecords {
  const unknown: FoundRecords = { records: [], isComplete: false }
  return {
    get: (_, id) => (account?.record['_id'] === id ? ruleRecord(account.record) : undefined),
    via: () => unknown,
    all: () => unknown,
  }
}

/** The part of a request that a rule can read. Few rules read its query or its headers, and to make them takes long. */
function ruleRequest(
  { principal, request }: Actor,
  {
    context = request.context,
    body = request.body ?? {},
  }: { readonly context?: string | undefined; readonly body?: RuleRequest['body'] | undefined },
): RuleRequest {
  const { account } = principal
  const auth = account === undefined ? null : { collection: account.collection, record: ruleRecord(account.record) }
  return {
    auth,
    body,
    context,
    method: request.method,
    get query() {
      return request.query
    },
    get headers() {
      return request.headers
    },
  }
}
