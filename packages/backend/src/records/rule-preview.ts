/**
 * Shows who can see what: the answers of a rule for a chosen account, before the rule is stored. The doors' own functions are asked, with the
 * rule in place of the stored one.
 */
import { isObject } from 'pannier/internal'
import { parse, print, type Expression } from '@pannier/rules'
import type { GuardReader } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { Access, Action } from '../access/access.ts'
import type { Actor } from '../access/actor.ts'
import { principalOf } from '../accounts/tokens.ts'
import { checkRule } from '../definitions/check-rule.ts'
import type { Definition, Rule } from '../definitions/definition.ts'
import { BLANK, fieldError } from '../fields/field-errors.ts'
import type { FieldDefinition } from '../fields/field-definition.ts'
import { UNLIMITED } from '../gateway/answer-room.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { GUEST, type Principal } from '../gateway/principal.ts'
import { checkNames, forbidden, invalid, missing, ServiceError } from '../gateway/service-error.ts'
import { admittedOf } from './read/admitted.ts'
import { fieldsWithheld } from './read/field-rules.ts'
import type { RecordSnapshot } from './read/record-snapshot.ts'
import { queryOf, selectRecords, type WantedRecords } from './read/select-records.ts'
import type { RecordReads } from './record-reads.ts'
import type { RecordJson } from './record-types.ts'
import { draftOf } from './write/draft.ts'
import { Judge, type JudgeParts } from './write/judge.ts'
import { prepareInput } from './write/prepare-input.ts'
import { withViewRows } from './write/write-views.ts'

/** A condition of a rule, with its answer when it is asked alone. */
export interface AnsweredCondition {
  /** As text, without needless parentheses. */
  readonly text: string
  /** Whether the record meets it. */
  readonly isMet: boolean
  /** `and` is `&&`. All its parts may hold while no single related record meets all of them. */
  readonly kind: 'and' | 'or' | 'comparison'
  /** The conditions that are its parts; a comparison has none. */
  readonly of: readonly AnsweredCondition[]
}

/** A record, as the superuser sees it, and whether the rule admits it. */
export interface PreviewedRecord {
  /** The record with all its fields. */
  readonly record: RecordJson & { readonly id: string }
  /** Whether the rule lets the account act on it. */
  readonly isAdmitted: boolean
}

/** The effect of a rule. */
export interface RulePreview {
  /** The rule that was asked. */
  readonly rule: Rule
  /** All records that meet the filter; of a create 1. */
  readonly totalItems: number
  /** How many of all records a list or a view gives; -1 for writes, and with a filter. */
  readonly admittedItems: number
  /** The records of the page. */
  readonly items: readonly PreviewedRecord[]
  /** The parts of the rule, for one record or a create; undefined where no condition decides. */
  readonly condition?: AnsweredCondition
  /** The account's view of a record that it may read. */
  readonly seen?: PreviewedRecord['record']
  /** How a list is found: exactly by the plan, or each document of the plan is asked. Views have none. */
  readonly plan?: { readonly isExact: boolean; readonly text: string }
}

interface Parts extends JudgeParts {
  readonly environment: Environment
  readonly reads: RecordReads
}

/** The question, read from a body. */
interface PreviewRequest {
  readonly action: PreviewedAction
  /** The rule is that of this field, not that of the records. */
  readonly field: FieldDefinition | undefined
  readonly rule: Rule | undefined
  readonly account: { readonly collection: string; readonly record: string } | undefined
  /** The values of a write. */
  readonly body: JsonObject
  /** One record, by its id. */
  readonly record: string | undefined
  readonly filter: string
  readonly page: number
  readonly perPage: number | undefined
}

/** Whether a rule admits each document; undefined stands for a record that is to be made. */
type Ask = (rule: Rule, documents: readonly (JsonObject | undefined)[]) => Promise<readonly boolean[]>

const METHODS = {
  list: 'GET',
  view: 'GET',
  create: 'POST',
  update: 'PATCH',
  delete: 'DELETE',
  auth: 'POST',
  manage: 'PATCH',
} as const satisfies Record<Action, string>
type PreviewedAction = keyof typeof METHODS
const WRONG_VALUE = fieldError('validation_in_invalid', 'Must be a valid value.')

/** Previews of rules, before they are stored. */
export class RulePreviews {
  readonly #parts: Parts
  readonly #judge: Judge

  /** @internal */
  constructor(parts: Parts) {
    this.#parts = parts
    this.#judge = new Judge(parts)
  }

  /**
   * The effect of a rule for an account or a guest.
   *
   * @param input - `action`, and what else the REST API documents
   * @throws ServiceError FORBIDDEN for all but superusers, NOT_FOUND, INVALID with data
   */
  async preview(superuser: Actor, name: string, input: JsonObject): Promise<RulePreview> {
    if (!superuser.principal.isAdmin) throw forbidden('Only superusers can perform this action.')
    return this.#parts.definitions.steadily(() => this.#preview(superuser, name, input))
  }

  async #preview(superuser: Actor, name: string, input: JsonObject): Promise<RulePreview> {
    const { definitions, reads } = this.#parts
    const definition = definitions.get(name)
    const asked = askedOf(definition, input)
    const { rule = storedRule(definition, asked) } = asked
    const wrong = checkRule(rule, definitions.schema, definition.id)
    if (wrong !== undefined) throw new ServiceError('INVALID', wrong.message, { data: { rule: wrong } })
    const actor = await this.#actorOf(asked)
    const page = await this.#recordsOf(superuser, definition, asked)
    return reads.inSnapshot(async (snapshot) => {
      const documents = await this.#documents(snapshot, definition, asked, page.items)
      const ask = this.#askerOf(snapshot, definition, actor, asked)
      const answers = await ask(rule, documents)
      const items = page.items.map((record, at) => ({
        record: record as PreviewedRecord['record'],
        isAdmitted: answers[at]!,
      }))
      const isAll = asked.filter === '' && asked.record === undefined && asked.field === undefined
      const listed = isAll && isRead(asked.action) ? await this.#listed(snapshot, definition, actor, rule) : undefined
      return {
        rule,
        totalItems: page.totalItems,
        admittedItems: listed === undefined ? -1 : listed.total,
        items,
        ...(await this.#reason({ actor, definition, asked, rule, ask }, documents, answers)),
        ...(listed?.plan !== undefined && { plan: listed.plan }),
      }
    })
  }

  /** Explains one record: the parts of the rule, and what the account sees. */
  async #reason(
    { actor, definition, asked, rule, ask }: ReasonOptions,
    [document]: readonly (JsonObject | undefined)[],
    [isAdmitted]: readonly boolean[],
  ): Promise<Pick<RulePreview, 'condition' | 'seen'>> {
    if (asked.record === undefined && asked.action !== 'create') return {}
    const hasCondition = rule !== null && rule !== '' && !actor.principal.isAdmin
    const seen =
      isRead(asked.action) && asked.field === undefined && isAdmitted === true && document !== undefined
        ? (await this.#parts.reads.show(actor, definition, [document]))[0]
        : undefined
    return {
      ...(hasCondition && {
        condition: await answered(parse(rule), async (text) => (await ask(text, [document]))[0]!),
      }),
      ...(seen && { seen: seen as PreviewedRecord['record'] }),
    }
  }

  /** The records of the page, as the superuser sees them. A create has one: its body. */
  async #recordsOf(
    superuser: Actor,
    { name }: Definition,
    { action, body, record, filter, page, perPage }: PreviewRequest,
  ): Promise<{ readonly items: readonly RecordJson[]; readonly totalItems: number }> {
    const { reads } = this.#parts
    if (action === 'create') return { items: [body], totalItems: 1 }
    if (record !== undefined) return { items: [await reads.view(superuser, name, record)], totalItems: 1 }
    return reads.list(superuser, name, { filter, page, ...(perPage !== undefined && { perPage }) })
  }

  async #documents(
    snapshot: RecordSnapshot,
    definition: Definition,
    { action }: PreviewRequest,
    records: readonly RecordJson[],
  ): Promise<readonly (JsonObject | undefined)[]> {
    if (action === 'create') return [undefined]
    const documents = await snapshot.get(
      definition,
      records.map(({ id }) => String(id)),
    )
    if (documents.includes(undefined)) throw missing('A record was deleted meanwhile. Ask again.')
    return documents
  }

  #askerOf(snapshot: RecordSnapshot, definition: Definition, actor: Actor, asked: PreviewRequest): Ask {
    const { access } = this.#parts
    const { action, field } = asked
    const isOfStored = isRead(action) || action === 'auth'
    return async (rule, documents) => {
      const meant = field === undefined ? { ...definition, [`${action}Rule`]: rule } : definition
      const isLocked = field === undefined ? access.isLocked(actor, meant, action) : rule === null
      if (isLocked) return documents.map(() => false)
      if (!isOfStored) return this.#writeAnswers(snapshot, actor, { definition: meant, rule, asked }, documents)
      const stored = documents as readonly JsonObject[]
      const admitted = field
        ? await shownBy(snapshot, access, { actor, definition, rule }, stored)
        : await admittedOf(snapshot, access, { actor, definition: meant, action, documents: stored })
      return stored.map((document) => admitted?.includes(document) === true)
    }
  }

  /** As the guard of writes answers. */
  async #writeAnswers(
    { reader }: RecordSnapshot,
    actor: Actor,
    { definition, rule, asked: { action, field, body } }: WriteQuestion,
    documents: readonly (JsonObject | undefined)[],
  ): Promise<readonly boolean[]> {
    const { isAdmin: isSuperuser } = actor.principal
    const prepared =
      action === 'delete'
        ? undefined
        : await prepareInput({ definition, input: body, isSuperuser, namings: 1 }, this.#parts)
    const answers: boolean[] = []
    for (const old of documents) {
      const draft = prepared && draftOf(prepared, old)
      const judged = (guard: GuardReader): boolean => {
        if (draft !== undefined && field !== undefined) return this.#judge.maySet(actor, draft, rule, guard)
        if (draft !== undefined && action === 'manage') return this.#judge.mayManage(actor, draft, guard)
        return this.#judge.admits(actor, definition, { old, draft }, guard)
      }
      answers.push(await withViewRows(() => reader.read(judged)))
    }
    return answers
  }

  /** As a list by this rule is answered. */
  async #listed(
    snapshot: RecordSnapshot,
    definition: Definition,
    actor: Actor,
    rule: Rule,
  ): Promise<{ readonly total: number; readonly plan?: RulePreview['plan'] }> {
    const { access, definitions } = this.#parts
    const meant = { ...definition, listRule: rule }
    if (access.isLocked(actor, meant, 'list')) return { total: 0 }
    const bound = access.bindList(actor, meant, { action: 'list' })
    const wanted: WantedRecords = {
      definition: meant,
      definitions,
      bound,
      sort: [],
      skip: 0,
      limit: 1,
      withTotal: true,
      budget: UNLIMITED,
    }
    const { total = 0 } = await selectRecords(snapshot, wanted)
    if (definition.type === 'view') return { total }
    const { query, isExact } = await queryOf(snapshot, wanted)
    return { total, plan: { isExact, text: String(await query.explain()) } }
  }

  async #actorOf({ action, account, body }: PreviewRequest): Promise<Actor> {
    const context = action === 'auth' ? 'password' : 'default'
    const request = { context, method: METHODS[action], query: {}, headers: {} }
    return {
      principal: account === undefined ? GUEST : await this.#principalOf(account),
      request: { ...request, body },
    }
  }

  async #principalOf({ collection, record: id }: NonNullable<PreviewRequest['account']>): Promise<Principal> {
    const { definitions, reads } = this.#parts
    const definition = definitions.get(collection)
    const record = definition.type === 'auth' ? await reads.stored(definition, id) : undefined
    if (definition.type !== 'auth' || record === undefined)
      throw invalidInput('account', `There is no account '${id}' in '${collection}'.`)
    return principalOf({ definition, record })
  }
}

interface WriteQuestion {
  /** With the rule in place of the stored one. */
  readonly definition: Definition
  readonly rule: Rule
  readonly asked: PreviewRequest
}

interface ReasonOptions {
  readonly actor: Actor
  readonly definition: Definition
  readonly asked: PreviewRequest
  readonly rule: Rule
  readonly ask: Ask
}

function isRead(action: Action): action is 'list' | 'view' {
  return action === 'list' || action === 'view'
}

/** A field that has no rule is shown to all who see the record. Those may set it who see it, unless it says otherwise. */
function storedRule(definition: Definition, { action, field }: PreviewRequest): Rule {
  if (field !== undefined) {
    const { viewRule = '', updateRule = viewRule } = field
    return action === 'view' ? viewRule : updateRule
  }
  if (action !== 'auth' && action !== 'manage') return definition[`${action}Rule`]
  return definition.type === 'auth' ? definition[`${action}Rule`] : null
}

/** Asks each part of a rule alone. */
async function answered(expression: Expression, meets: (text: string) => Promise<boolean>): Promise<AnsweredCondition> {
  const text = print(expression)
  const of: AnsweredCondition[] = []
  if (expression.kind !== 'comparison') for (const part of expression.of) of.push(await answered(part, meets))
  return { text, isMet: await meets(text), kind: expression.kind, of }
}

const ASKED = ['action', 'field', 'rule', 'account', 'body', 'record', 'filter', 'page', 'perPage']

/** @throws ServiceError INVALID, with data for a wrong value */
function askedOf(definition: Definition, input: JsonObject): PreviewRequest {
  checkNames('A preview', input, ASKED)
  const { rule, account, body, record, filter, page, perPage } = input
  const action = actionIn(definition, input)
  if (rule !== undefined && rule !== null && typeof rule !== 'string')
    throw invalidInput('rule', 'It must be a text or null.')
  const { collection, record: accountId } = isObject(account) ? account : {}
  if (account !== undefined && account !== null && (typeof collection !== 'string' || typeof accountId !== 'string'))
    throw invalidInput('account', 'It must have "collection" and "record", or be null for a guest.')
  return {
    action,
    field: fieldIn(definition, action, input),
    rule,
    account: typeof collection === 'string' ? { collection, record: String(accountId) } : undefined,
    body: isObject(body) ? body : {},
    record: typeof record === 'string' && record !== '' ? record : undefined,
    filter: typeof filter === 'string' ? filter : '',
    page: typeof page === 'number' ? page : 1,
    perPage: typeof perPage === 'number' ? perPage : undefined,
  }
}

function actionIn({ type, name }: Definition, { action }: JsonObject): PreviewedAction {
  if (action === undefined) throw new ServiceError('INVALID', '', { data: { action: BLANK } })
  if (typeof action !== 'string' || !Object.hasOwn(METHODS, action))
    throw new ServiceError('INVALID', '', { data: { action: WRONG_VALUE } })
  if ((action === 'auth' || action === 'manage') && type !== 'auth')
    throw invalidInput('action', `'${name}' has no accounts, so no rule of logins either.`)
  if (type === 'view' && !isRead(action as Action)) throw invalid('The rows of a view are not written.')
  return action as PreviewedAction
}

/** A field has rules for being seen and for being set. */
function fieldIn({ fields }: Definition, action: Action, { field }: JsonObject): FieldDefinition | undefined {
  if (field === undefined || field === null) return undefined
  const found = fields.find(({ name }) => name === field)
  if (found === undefined) throw invalidInput('field', `There is no field ${JSON.stringify(field)}.`)
  if (action !== 'view' && action !== 'create' && action !== 'update')
    throw invalidInput('field', `A field has rules for view, create and update, not for ${action}.`)
  return found
}

/** The documents that show a field by a rule. */
async function shownBy(
  snapshot: RecordSnapshot,
  access: Access,
  { actor, definition, rule }: { readonly actor: Actor; readonly definition: Definition; readonly rule: Rule },
  documents: readonly JsonObject[],
): Promise<readonly JsonObject[]> {
  if (rule === '') return documents
  const field = { ...definition.fields[0]!, viewRule: rule }
  const ruled = { ...definition, fields: [field] }
  const { context } = actor.request
  const withheld = await fieldsWithheld(snapshot, access, { actor, definition: ruled, documents, context })
  return documents.filter((document) => !withheld(document).has(field.name))
}

function invalidInput(name: string, message: string): ServiceError {
  return new ServiceError('INVALID', '', { data: { [name]: fieldError('validation_in_invalid', message) } })
}
