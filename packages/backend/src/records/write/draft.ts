/** A record as a write would make it: from what is stored and what was sent. */
import { isObject } from 'pannier/internal'
import type { Definition } from '../../definitions/definition.ts'
import { SUPERUSERS } from '../../definitions/system-collections.ts'
import { applyChange, applyInput, datesOf, meant } from '../../fields/apply-input.ts'
import type { FieldDefinition } from '../../fields/field-definition.ts'
import { toText } from '../../fields/cast.ts'
import { patternOf } from '../../fields/field-definition.ts'
import { checkValue, holdsFiles, ownValue, valueIn } from '../../fields/field-types.ts'
import { NewFile } from '../../fields/new-file.ts'
import { NewPassword } from '../../fields/types/password.ts'
import { NO_FORMAT } from '../../fields/field-errors.ts'
import { randomText, type Chance } from '../../gateway/chance.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import type { FieldError } from '../../gateway/service-error.ts'
import type { HookChange } from '../../hooks/hook-record.ts'
import type { RecordInput } from '../record-types.ts'
import { accountForm, type AccountForm, type CheckedPassword } from './account-form.ts'

/** The input of a write after all work on it that takes time. */
export interface PreparedInput {
  readonly definition: Definition
  /** With `NewFile`s. */
  readonly input: RecordInput
  /** Whether a superuser writes: hidden fields are read too. */
  readonly isSuperuser: boolean
  /** The time of the write, now: `2026-11-22 15:04:49.813Z` */
  readonly now: string
  /** Hashes of new passwords, by field. */
  readonly hashes: ReadonlyMap<string, string>
  /** The changes of hooks to the input, in order. No rule is asked about it. */
  readonly changes: readonly HookChange[]
  /** An account's passwords have to be confirmed. */
  readonly isForm: boolean
  /** Whether fields take values that they refuse. */
  readonly isUnchecked: boolean
  /** Values of autodate fields, in place of those that come by themselves. */
  readonly autodates?: Readonly<Record<string, string>>
  /** Files whose content is not in the database, by name. */
  readonly elsewhere?: ReadonlySet<string>
  /** Draws texts of patterns. */
  readonly chance: Chance
  /** Values of a new record that are drawn already, by field. */
  readonly drawn?: Readonly<Record<string, string>>
  /** A draft of it with these changes. Values of this draft are not read and checked again. */
  readonly begun?: Draft
}

export interface Draft extends PreparedInput {
  /** The stored document. Undefined: the record is new. */
  readonly old: JsonObject | undefined
  /** The values of all fields, `id` too. They may be `NewPassword`s and `NewFile`s. */
  readonly values: JsonObject
  /** The values before hooks, which rules are asked about. */
  readonly asked: JsonObject
  /** `@request.body` */
  readonly body: JsonObject
  /** The form of an account. */
  readonly form: AccountForm | undefined
  /** Whether the old password of the form is right. */
  readonly checked: CheckedPassword | undefined
  /** Errors that fields find by themselves. */
  readonly errors: Readonly<Record<string, FieldError>>
}

/** The last draft of each input. */
const drafts = new WeakMap<PreparedInput, Draft>()

/** The draft is the same at each try of a write, until another write has come in between. */
export function draftOf(prepared: PreparedInput, old: JsonObject | undefined, checked?: CheckedPassword): Draft {
  const known = drafts.get(prepared)
  if (known !== undefined && isOf(known, prepared, old))
    return known.checked === checked ? known : { ...known, checked }
  const { begun } = prepared
  const made = begun !== undefined && isOf(begun, prepared, old) ? resumed(begun, prepared) : newDraft(prepared, old)
  const draft = { ...made, checked }
  drafts.set(prepared, draft)
  return draft
}

function isOf(draft: Draft, { definition }: PreparedInput, old: JsonObject | undefined): boolean {
  return draft.definition === definition && draft.old?.['_rev'] === old?.['_rev'] && draft.old?.['_id'] === old?.['_id']
}

function newDraft(prepared: PreparedInput, old: JsonObject | undefined): Draft {
  const { definition, input, changes, autodates } = prepared
  const stored = old && { ...old, id: old['_id'] }
  const asked = applyInput(definition.fields, stored, input, prepared)
  const values = { ...withChanges(prepared, asked, changes), ...autodates }
  const errors = draftErrors(prepared, definition, old, values)
  const body = bodyOf(prepared, asked)
  return { ...prepared, old, values, asked, body, form: formOf(prepared), checked: undefined, errors }
}

/** The draft that hooks have seen, with the dates of the write. */
function resumed(begun: Draft, prepared: PreparedInput): Draft {
  const { definition, autodates } = prepared
  const dates = datesOf(definition.fields, begun.values, { ...prepared, isNew: begun.old === undefined })
  const asked = { ...begun.asked, ...dates }
  return { ...begun, ...prepared, asked, values: { ...begun.values, ...dates, ...autodates }, form: formOf(prepared) }
}

function formOf({ definition, input, isForm }: PreparedInput): AccountForm | undefined {
  return definition.type === 'auth' && isForm ? accountForm(input) : undefined
}

/** The draft with more changes. Only the fields that they are about are checked. */
export function changedDraft(draft: Draft, more: readonly HookChange[]): Draft {
  if (more.length === 0) return draft
  const { definition, old } = draft
  const values = withChanges(draft, draft.values, more)
  const changed = new Set(more.map(([key]) => meant(definition.fields, key)?.[0]))
  const fields = definition.fields.filter((field) => changed.has(field))
  const names = new Set(fields.map(({ name }) => name))
  const kept = Object.entries(draft.errors).filter(([name]) => !names.has(name))
  const errors = { ...Object.fromEntries(kept), ...draftErrors(draft, { fields }, old, values) }
  return { ...draft, changes: [...draft.changes, ...more], values, errors }
}

function withChanges(
  { definition: { fields }, chance }: Pick<PreparedInput, 'definition' | 'chance'>,
  values: JsonObject,
  changes: readonly HookChange[],
): JsonObject {
  return changes.reduce((made, [key, value]) => applyChange(fields, made, key, value, chance) ?? made, values)
}

/** The errors of a draft. The id alone is checked where others are not: the library does not take each. */
function draftErrors(
  { isUnchecked }: Pick<PreparedInput, 'isUnchecked'>,
  { fields }: Pick<Definition, 'fields'>,
  old: JsonObject | undefined,
  values: JsonObject,
): Readonly<Record<string, FieldError>> {
  return valueErrors({ fields: isUnchecked ? fields.filter(({ name }) => name === 'id') : fields }, old, values)
}

/** Errors that fields find by themselves, whatever other records there are. `attachments`: names that files may have, too. */
export function valueErrors(
  { fields }: Pick<Definition, 'fields'>,
  old: JsonObject | undefined,
  values: JsonObject,
  attachments: readonly string[] = [],
): Readonly<Record<string, FieldError>> {
  const errors: Record<string, FieldError> = {}
  for (const field of fields) {
    const { name } = field
    const value = values[name]
    // Undefined stands for a new record.
    const stored = old === undefined ? undefined : name === 'id' ? old['_id'] : valueIn(old, field)
    const before = holdsFiles(field) && attachments.length > 0 ? [...listOf(stored), ...attachments] : stored
    const error =
      checkValue(field, value, { old: before }) ?? (name === 'id' && !canBeId(value) ? NO_FORMAT : undefined)
    if (error !== undefined) errors[name] = error
  }
  return errors
}

/** The most bytes of an id, by the library's limit. */
const ID_BYTES_MAX = 4096

/** Whether the library takes it as an id. A pattern may admit others. */
export function canBeId(id: unknown): id is string {
  return typeof id === 'string' && id !== '' && !id.startsWith('_') && Buffer.byteLength(id) <= ID_BYTES_MAX
}

/** With what modifiers come to, under the names of the fields. */
function bodyOf({ definition: { fields, type }, input, isSuperuser }: PreparedInput, values: JsonObject): JsonObject {
  const body: JsonObject = { ...input }
  for (const key of Object.keys(input)) {
    const [field] = meant(fields, key) ?? []
    if (field === undefined) continue
    const { name, hidden } = field
    delete body[key]
    if (isSuperuser || !hidden || (type === 'auth' && name === 'password')) body[name] = asSent(values[name])
  }
  return body
}

/** Texts of a new record that come by themselves, by field. */
export function drawnIn({ definition: { fields }, old, asked }: Draft): Readonly<Record<string, string>> {
  const drawn = fields.filter((field) => old === undefined && patternOf(field) !== '')
  return Object.fromEntries(drawn.map(({ name }) => [name, toText(asked[name])]))
}

/** As rules read it. */
function asSent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => (one instanceof NewFile ? fileAsSent(one) : one))
  if (value instanceof NewFile) return fileAsSent(value)
  return value instanceof NewPassword ? value.text : value
}

function fileAsSent({ name, originalName, size }: NewFile): JsonObject {
  return { name, originalName, size }
}

/**
 * The document to store. Files that no field names any more go with this write. What fields refuse is left out: the guard
 * refuses the write, and the library could not take every value.
 */
export function documentOf(draft: Draft, tokenKey: string | undefined): JsonObject {
  const { definition, old, values, hashes, errors, elsewhere } = draft
  if (Object.keys(errors).length > 0) return { _id: old?.['_id'] ?? REFUSED_ID }
  const { _rev: _, _attachments: kept, ...others } = old ?? {}
  const document: JsonObject = { ...others, _id: old?.['_id'] ?? values['id'] }
  const attachments = isObject(kept) ? { ...kept } : {}
  for (const field of definition.fields) {
    const { name } = field
    if (name === 'id') continue
    const value = values[name]
    document[name] = storedValue(field, value, hashes)
    if (!holdsFiles(field)) continue
    const names = new Set(listOf(ownValue(document, name)))
    for (const gone of listOf(ownValue(old, name))) if (!names.has(gone)) delete attachments[gone as string]
    for (const file of listOf(value))
      if (file instanceof NewFile && elsewhere?.has(file.name) !== true)
        attachments[file.name] = { data: file.stream(), contentType: file.type }
  }
  if (tokenKey !== undefined) document['tokenKey'] = tokenKey
  if (definition.name === SUPERUSERS) document['verified'] = true
  if (Object.keys(attachments).length > 0) document['_attachments'] = attachments
  return document
}

/** Never stored. */
const REFUSED_ID = 'refused'

/** With hashes of new passwords, and names of new files. */
export function storedValue({ name }: FieldDefinition, value: unknown, hashes: ReadonlyMap<string, string>): unknown {
  if (value instanceof NewPassword) return hashes.get(name) ?? ''
  if (Array.isArray(value)) return value.map((one: unknown) => (one instanceof NewFile ? one.name : one))
  return value instanceof NewFile ? value.name : value
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}

/** All tokens of an account end when its password or e-mail changes. `hasExternalAuths`: it is known to others by these. */
export function renewedTokenKey(
  { definition, old, values, chance }: Pick<Draft, 'definition' | 'old' | 'values' | 'chance'>,
  hasExternalAuths: boolean,
): string | undefined {
  if (definition.type !== 'auth' || old === undefined || old['tokenKey'] !== values['tokenKey']) return undefined
  const isUpgraded = hasExternalAuths && old['verified'] !== true && values['verified'] === true
  const isChanged = old['password'] !== values['password'] || old['email'] !== values['email']
  return isChanged || isUpgraded ? randomText(chance, 50) : undefined
}
