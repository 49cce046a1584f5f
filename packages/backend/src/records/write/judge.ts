/**
 * Judges a write inside its transaction: the rule first, then what accounts ask, then each field. It reads what earlier writes
 * of the group have written, and nobody writes before this one is stored.
 */
import type { RuleRecords } from '@pannier/rules'
import type { GuardReader } from 'pannier/internal'
import type { Access, AllowOptions } from '../../access/access.ts'
import type { Actor } from '../../access/actor.ts'
import { ruleRecord, ruleRecords } from '../../access/rule-records.ts'
import { LAST_SUPERUSER, type Definitions } from '../../definitions/definitions.ts'
import { recordsName, type Definition, type Rule } from '../../definitions/definition.ts'
import { SUPERUSERS } from '../../definitions/system-collections.ts'
import type { FieldDefinition } from '../../fields/field-definition.ts'
import { meant } from '../../fields/apply-input.ts'
import { patternOf } from '../../fields/field-definition.ts'
import { fieldError } from '../../fields/field-errors.ts'
import { holdsRecords, typeOfField, valueIn } from '../../fields/field-types.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import { conflicting, forbidden, missing } from '../../gateway/service-error.ts'
import type { ErrorData, FieldError, ServiceError } from '../../gateway/service-error.ts'
import { isAsSeen } from './as-seen.ts'
import { accountErrors } from './account-form.ts'
import { referenceErrors } from './account-references.ts'
import { listOf, storedValue, type Draft } from './draft.ts'
import { failed, UnadmittedRecord } from './write-errors.ts'
import { OutdatedWrite, type WriteViews } from './write-views.ts'

const MISSING_RECORDS = fieldError(
  'validation_missing_rel_records',
  'Failed to find all relation records with the provided ids.',
)
const MISSING_COLLECTION = fieldError(
  'validation_missing_rel_collection',
  'Relation connection is missing or cannot be accessed.',
)
export const OTHER_ACCOUNT: FieldError = fieldError(
  'validation_invalid_auth_id',
  'Invalid or duplicated auth record id.',
)
const NOT_ALLOWED = fieldError('validation_field_rule', 'You are not allowed to change this field.')

const IS_SET_UP = 'There is a superuser already.'

/** A write of a stored record. */
interface StoredWrite {
  /** The record as it is. */
  readonly old: JsonObject
  /** The revision that it must have. */
  readonly rev: string | undefined
  /** If it has another one: the values that the sender has seen in the fields that change. */
  readonly was?: Readonly<Record<string, unknown>>
  /** Whether an earlier write of the sender has made the value of a field. */
  readonly isOwn?: (field: string, value: unknown) => boolean
}

interface AskedWrite {
  readonly record: JsonObject
  readonly options: AllowOptions
  /** Fields that the actor may not set. */
  readonly refused: ErrorData | undefined
}

type JudgedFields = Pick<Draft, 'definition' | 'old' | 'values' | 'errors'> & Partial<Pick<Draft, 'isUnchecked'>>

export interface JudgeParts {
  readonly definitions: Definitions
  readonly access: Access
  readonly views: WriteViews
}

export class Judge {
  readonly #definitions: Definitions
  readonly #access: Access
  readonly #views: WriteViews

  constructor({ definitions, access, views }: JudgeParts) {
    this.#definitions = definitions
    this.#access = access
    this.#views = views
  }

  /** Why a record is not made; undefined: it is right. */
  create(actor: Actor, draft: Draft, reader: GuardReader): ServiceError | undefined {
    const { definition } = draft
    this.#assertCurrent(definition, reader)
    const { by, isAdmin } = actor.principal
    // Only the first of several writes with the secret makes a superuser.
    if (by === 'setup' && isAdmin && reader.all(recordsName(definition)).length > 0) return forbidden(IS_SET_UP)
    const { record, options, refused } = this.#askedOf(actor, draft, reader)
    if (!this.#access.allows(actor, definition, 'create', record, options)) return new UnadmittedRecord()
    const data =
      refused ?? this.#errorsIn(actor, draft, reader, () => this.#mayManage(actor, definition, record, options))
    return data && failed('create', data)
  }

  /** Why a record is not changed. */
  update(actor: Actor, draft: Draft, write: StoredWrite, reader: GuardReader): ServiceError | undefined {
    const { definition } = draft
    this.#assertCurrent(definition, reader)
    const { record, options, refused } = this.#askedOf(actor, draft, reader)
    if (!this.#access.allows(actor, definition, 'update', record, options)) return missing('')
    const sees = ({ viewRule = '' }: FieldDefinition): boolean =>
      this.#access.meets(actor, definition, viewRule, record, options)
    if (!this.#isAt(actor, definition, write.old, write.rev) && !isAsSeen(draft, write, sees)) return conflicting()
    const data =
      refused ?? this.#errorsIn(actor, draft, reader, () => this.#mayManage(actor, definition, record, options))
    return data && failed('update', data)
  }

  /** Why a record is not deleted. */
  delete(actor: Actor, definition: Definition, write: StoredWrite, reader: GuardReader): ServiceError | undefined {
    const { old, rev } = write
    this.#assertCurrent(definition, reader)
    const records = this.#records(reader)
    if (!this.#access.allows(actor, definition, 'delete', ruleRecord(old), { records })) return missing('')
    if (!this.#isAt(actor, definition, old, rev)) return conflicting()
    const isLast = definition.name === SUPERUSERS && reader.all(recordsName(definition)).length === 1
    return isLast ? LAST_SUPERUSER : undefined
  }

  /** Whether a record has a revision, as the actor sees it. */
  #isAt({ principal }: Actor, definition: Definition, old: JsonObject, rev: string | undefined): boolean {
    const { _id: id, _rev: now } = old
    return rev === undefined || this.#access.revisions.of(principal, definition, String(id), String(now)) === rev
  }

  /** Whether the rule admits a write. `draft`: what it asks for, of a delete nothing. */
  admits(
    actor: Actor,
    definition: Definition,
    { old, draft }: { readonly old: JsonObject | undefined; readonly draft: Draft | undefined },
    reader: GuardReader,
  ): boolean {
    if (draft === undefined) {
      const records = this.#records(reader)
      return this.#access.allows(actor, definition, 'delete', ruleRecord(old!), { records })
    }
    const { record, options } = this.#askedOf(actor, draft, reader)
    return this.#access.allows(actor, definition, old === undefined ? 'create' : 'update', record, options)
  }

  /** Whether the actor may manage the account, as the write finds it. */
  mayManage(actor: Actor, draft: Draft, reader: GuardReader): boolean {
    const { record, options } = this.#askedOf(actor, draft, reader)
    return this.#mayManage(actor, draft.definition, record, options)
  }

  /** Whether a rule lets the actor set a field. */
  maySet(actor: Actor, draft: Draft, rule: Rule, reader: GuardReader): boolean {
    const { record, options } = this.#wholeOf(draft, reader)
    return this.#access.meets(actor, draft.definition, rule, record, options)
  }

  /**
   * The record and the body for rules. What the actor may not set is not in the body: with a modifier it would tell what is stored. Such
   * a write is refused in any case.
   */
  #askedOf(actor: Actor, draft: Draft, reader: GuardReader): AskedWrite {
    const { record, options } = this.#wholeOf(draft, reader)
    const refused = this.#ruledErrors(actor, draft, record, options)
    if (refused === undefined) return { record, options, refused }
    const left = Object.fromEntries(Object.entries(draft.body).filter(([name]) => !Object.hasOwn(refused, name)))
    return { record, options: { ...options, body: left }, refused }
  }

  /** The record with the whole body, for rules of fields. */
  #wholeOf(draft: Draft, reader: GuardReader): Omit<AskedWrite, 'refused'> {
    const { old, body } = draft
    const record = old === undefined ? unsavedRecord(draft) : ruleRecord(old)
    return { record, options: { records: this.#records(reader), body, ...(old === undefined && { unsaved: true }) } }
  }

  /** The records that rules lead to. */
  #records(reader: GuardReader): RuleRecords {
    const known = new Map<string, readonly JsonObject[]>()
    return ruleRecords(this.#definitions, reader, (view) => {
      const rows = known.get(view.id) ?? this.#views.rows(view, this.#definitions.all(), reader)
      known.set(view.id, rows)
      return rows
    })
  }

  #assertCurrent(definition: Definition, reader: GuardReader): void {
    if (!this.#definitions.isCurrent(definition, reader)) throw new OutdatedWrite()
  }

  /** A guest manages nothing. */
  #mayManage(actor: Actor, definition: Definition, record: JsonObject, options: AllowOptions): boolean {
    return actor.principal.account !== undefined && this.#access.allows(actor, definition, 'manage', record, options)
  }

  /**
   * Fields that the actor may not set. One who does not see a field may not set it either, unless its update rule says so. To send what
   * is stored changes nothing, but would confirm a guess of what is not seen.
   */
  #ruledErrors(actor: Actor, draft: Draft, record: JsonObject, options: AllowOptions): ErrorData | undefined {
    const { definition, old, asked, input, isSuperuser } = draft
    const sent = new Set(Object.keys(input).map((key) => meant(definition.fields, key)?.[0]))
    const errors: Record<string, FieldError> = {}
    for (const field of isSuperuser ? [] : definition.fields) {
      const { name, viewRule = '', updateRule = viewRule } = field
      if ((viewRule === '' && updateRule === '') || !sent.has(field)) continue
      const meets = (rule: Rule): boolean => this.#access.meets(actor, definition, rule, record, options)
      if (meets(updateRule)) continue
      const before = valueIn(old, field)
      const isSame = JSON.stringify(asked[name]) === JSON.stringify(before)
      if (!isSame || (old !== undefined && !meets(viewRule))) errors[name] = NOT_ALLOWED
    }
    return Object.keys(errors).length === 0 ? undefined : errors
  }

  /** The fields are looked at only if the account is right. */
  #errorsIn({ principal }: Actor, draft: Draft, reader: GuardReader, mayManage: () => boolean): ErrorData | undefined {
    const { definition, old, values, asked, form, checked, errors, isUnchecked } = draft
    const isManager = (): boolean => draft.isSuperuser || mayManage()
    const seesEmail = old?.['emailVisibility'] === true || old?.['_id'] === principal.account?.record['_id']
    const wrong = form && accountErrors({ old, values: asked, form, isManager: isManager(), seesEmail, checked })
    return wrong ?? this.fieldErrors({ definition, old, values, errors, isUnchecked }, reader)
  }

  /** Errors of fields, and of the whole record. */
  fieldErrors(
    { definition, old, values, errors: found, isUnchecked = false }: JudgedFields,
    reader: GuardReader,
  ): ErrorData | undefined {
    const errors = { ...found }
    for (const field of isUnchecked ? [] : definition.fields) {
      const { name } = field
      const error = Object.hasOwn(errors, name) ? undefined : this.#relationError(field, values[name], reader)
      if (error !== undefined) errors[name] = error
    }
    if (Object.keys(errors).length > 0) return errors
    const isNewAccount = old === undefined && definition.type === 'auth'
    if (isNewAccount && this.isAccount(definition, values['id'] as string, reader)) return { id: OTHER_ACCOUNT }
    return referenceErrors(definition, values, this.#definitions, reader)
  }

  #relationError(field: FieldDefinition, value: unknown, reader: GuardReader): FieldError | undefined {
    if (!holdsRecords(field)) return undefined
    const ids = listOf(value).filter((id) => typeof id === 'string' && id !== '') as string[]
    if (ids.length === 0) return undefined
    const related = this.#definitions.find(field.collectionId)
    if (related === undefined) return MISSING_COLLECTION
    return reader.has(recordsName(related), ids).includes(false) ? MISSING_RECORDS : undefined
  }

  /** Whether another collection has an account of this id: tokens name it by its id. */
  isAccount(definition: Definition, id: string, reader: GuardReader): boolean {
    return this.#definitions
      .all()
      .some((other) => other.type === 'auth' && other !== definition && reader.has(recordsName(other), [id])[0])
  }
}

/** The record for create rules: without values that the server adds by itself, and never verified. */
function unsavedRecord({ definition, asked, body, hashes }: Draft): JsonObject {
  const record: JsonObject = {}
  for (const field of definition.fields) {
    const { name } = field
    const isGenerated = patternOf(field) !== '' && !Object.hasOwn(body, name)
    record[name] = isGenerated || typeOfField(field).isAutomatic ? '' : storedValue(field, asked[name], hashes)
  }
  if (record['id'] === '') record['id'] = '__temp_id__'
  if (definition.type === 'auth') record['verified'] = false
  return record
}
