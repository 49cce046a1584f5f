/**
 * Writes of records through other doors, such as CouchDB's: the rules and fields of the collection judge them too. A document
 * comes whole, in the form in which it is stored.
 */
import { isObject } from 'pannier/internal'
import type { Database } from 'pannier'
import type { Environment } from 'pannier/types'
import type { Access } from '../access/access.ts'
import type { Actor } from '../access/actor.ts'
import type { KnownDefinitions } from '../access/rule-records.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { Definition } from '../definitions/definition.ts'
import { applyInput } from '../fields/apply-input.ts'
import { dateText } from '../fields/date-text.ts'
import { DIFFERENT, fieldError } from '../fields/field-errors.ts'
import { castValue, ownValue, typeOfField, valueIn } from '../fields/field-types.ts'
import type { FieldDefinition } from '../fields/field-definition.ts'
import type { Chance } from '../gateway/chance.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { GuardedChange, GuardedWrite, Refusal, WriteGuard } from '../gateway/guards.ts'
import type { Principal } from '../gateway/principal.ts'
import { conflicting, type FieldError, forbidden, ServiceError } from '../gateway/service-error.ts'
import { withCheckedFiles } from './write/document-files.ts'
import { AccountReferences } from './write/account-references.ts'
import { renewedTokenKey, valueErrors, type Draft } from './write/draft.ts'
import { Judge, type JudgeParts } from './write/judge.ts'
import { failed } from './write/write-errors.ts'
import { MissingRows, OutdatedWrite } from './write/write-views.ts'

const UNKNOWN = fieldError('validation_unknown_field', 'Unknown field.')
const WRONG_TYPE = fieldError('validation_invalid_value', 'Invalid value.')

/** The parts by which documents become those of records. */
export interface DocumentParts {
  readonly database: Database
  readonly environment: Environment
  readonly definitions: Definitions
}

interface Judging {
  readonly judge: Judge
  readonly access: Access
  readonly chance: Chance
}

/** The guard that refuses documents that are no records of their collection. It passes documents of collections without a definition. */
export function recordsGuard(parts: DocumentParts & JudgeParts): WriteGuard {
  const { definitions, access, environment } = parts
  const judge = new Judge(parts)
  return {
    prepare: async (write) => {
      const definition = definitionServedAs(write.database, definitions)
      if (definition === undefined) return write.documents
      return Promise.all(write.documents.map((document) => preparedDocument(parts, write, definition, document)))
    },
    decide: ({ principal, database }) => {
      const definition = definitionServedAs(database, definitions)
      return (
        definition && ((change) => refusalOf({ judge, access, chance: environment }, principal, definition, change))
      )
    },
  }
}

/** Undefined: the database has no records. */
export function definitionServedAs(database: string, definitions: KnownDefinitions): Definition | undefined {
  const definition = definitions.find(database)
  return definition?.name === database && definition.type !== 'view' ? definition : undefined
}

/** An edit gets the values that the server makes. A revision that was made elsewhere stays as it is. */
export async function preparedDocument(
  parts: DocumentParts,
  { principal, newEdits, stored }: GuardedWrite,
  definition: Definition,
  document: JsonObject,
): Promise<JsonObject | Refusal> {
  const { _id: id, _rev: rev, _deleted: isDeleted } = document
  if (typeof id === 'string' && id.startsWith('_')) return forbidden(`'${definition.name}' has records only.`)
  if (!newEdits && !principal.isAdmin) return forbidden(madeElsewhere(definition))
  const withFiles = await withCheckedFiles(definition, document)
  if (!newEdits || isDeleted === true || withFiles instanceof Error) return withFiles
  const { fields } = definition
  const names = new Set(fields.map(({ name }) => name))
  const unknown = Object.keys(document).filter((key) => !key.startsWith('_') && !names.has(key))
  if (unknown.length > 0)
    return failed('update', Object.fromEntries(unknown.map((key): [string, FieldError] => [key, UNKNOWN])))
  const old = typeof id === 'string' && typeof rev === 'string' ? await stored.get(id) : undefined
  // Hashes come as they are stored.
  const passwords = fields.filter((field) => typeOfField(field).isHashed).map(({ name }) => name)
  const input = Object.fromEntries(
    fields.flatMap((field) => {
      const { name } = field
      if (name === 'id') return id === undefined ? [] : [[name, id]]
      return passwords.includes(name) ? [] : [[name, valueIn(document, field)]]
    }),
  )
  const { isAdmin: isSuperuser } = principal
  const { environment: chance } = parts
  const options = { isSuperuser, now: dateText(chance.wallClock()), chance }
  const { id: given, ...values } = applyInput(fields, old && { ...old, id }, input, options)
  for (const name of passwords) values[name] = ownValue(document, name) ?? ownValue(old, name) ?? ''
  const tokenKey = old && (await tokenKeyOf(parts, { definition, old, values, chance }))
  return { ...withFiles, ...values, ...(tokenKey !== undefined && { tokenKey }), _id: given }
}

/** The new key of an account, if its tokens end with the write. */
async function tokenKeyOf(
  { database, definitions }: DocumentParts,
  change: Parameters<typeof renewedTokenKey>[0] & { readonly old: JsonObject },
): Promise<string | undefined> {
  const { definition, old } = change
  const account = { definition, id: String(old['_id']) }
  const isAccount = definition.type === 'auth'
  return renewedTokenKey(
    change,
    isAccount && (await new AccountReferences(definitions).hasExternalAuths(database, account)),
  )
}

function refusalOf(
  judging: Judging,
  principal: Principal,
  definition: Definition,
  { old, document, reader }: GuardedChange,
): ServiceError | undefined {
  const actor = actorOf(principal, old)
  const action = document['_deleted'] === true ? 'delete' : old === undefined ? 'create' : 'update'
  if (judging.access.isLocked(actor, definition, action)) return forbidden('Only superusers can perform this action.')
  // A branch beside the winner would be a record that no rule has seen.
  if (!principal.isAdmin && old !== undefined && document['_rev'] !== old['_rev']) return conflicting()
  try {
    const refusal = judged(judging, actor, definition, { old, document, reader })
    const isByRule = refusal !== undefined && refusal.data === undefined && refusal.code !== 'CONFLICT'
    return isByRule && !principal.isAdmin
      ? forbidden(`The ${action}Rule of '${definition.name}' refuses this.`)
      : refusal
  } catch (error) {
    if (!(error instanceof OutdatedWrite) || error instanceof MissingRows) throw error
    return new ServiceError('UNAVAILABLE', 'The collection has changed meanwhile. Try again.', { cause: error })
  }
}

function judged(
  { judge, chance }: Judging,
  actor: Actor,
  definition: Definition,
  { old, document, reader }: GuardedChange,
): ServiceError | undefined {
  if (document['_deleted'] === true) return old && judge.delete(actor, definition, { old, rev: undefined }, reader)
  const draft = draftOfDocument({ principal: actor.principal, definition, old, chance }, document)
  if (old === undefined) return judge.create(actor, draft, reader)
  return judge.update(actor, draft, { old, rev: undefined }, reader)
}

/** The refusal of a revision made elsewhere: its dates are its maker's, and it may stand beside the winner. */
function madeElsewhere({ name }: Definition): string {
  return `Only superusers may write revisions of other replicas to '${name}' (new_edits=false). Use @pannier/client, or edit the record.`
}

/** The principal and the old revision of a document. */
interface DocumentContext {
  readonly principal: Principal
  readonly definition: Definition
  readonly old: JsonObject | undefined
  readonly chance: Chance
}

/** The actor of a write that did not come by REST, for rules. */
export function actorOf(principal: Principal, old: JsonObject | undefined): Actor {
  const method = old === undefined ? 'POST' : 'PATCH'
  return { principal, request: { context: 'default', method, query: {}, headers: {} } }
}

/** Whether a value is one that its field stores. */
function hasItsType(field: FieldDefinition, value: unknown): boolean {
  const { isHashed, takesAll } = typeOfField(field)
  if (field.name === 'id' || isHashed) return typeof value === 'string' || value === undefined
  return takesAll === true || JSON.stringify(castValue(field, value)) === JSON.stringify(value)
}

/** The document as a write of a record. */
export function draftOfDocument({ principal, definition, old, chance }: DocumentContext, document: JsonObject): Draft {
  const { isAdmin: isSuperuser } = principal
  const values: JsonObject = { id: document['_id'] }
  const body: JsonObject = {}
  for (const field of definition.fields) {
    const { name } = field
    if (name === 'id') continue
    values[name] = valueIn(document, field)
    if (Object.hasOwn(document, name)) body[name] = document[name]
  }
  const { _attachments: attachments } = document
  const names = isObject(attachments) ? Object.keys(attachments) : []
  const errors: Record<string, FieldError> = {}
  for (const field of definition.fields) if (!hasItsType(field, values[field.name])) errors[field.name] = WRONG_TYPE
  // What checks a value expects one of its type.
  const typed = definition.fields.filter(({ name }) => !Object.hasOwn(errors, name))
  Object.assign(errors, valueErrors({ ...definition, fields: typed }, old, values, names))
  for (const field of definition.fields) {
    const { name, hidden } = field
    const isProtected = hidden || (definition.type === 'auth' && (name === 'email' || name === 'verified'))
    const before = valueIn(old, field)
    if (isProtected && !isSuperuser && JSON.stringify(values[name]) !== JSON.stringify(before)) errors[name] = DIFFERENT
  }
  const prepared = { definition, input: body, isSuperuser, now: '', hashes: new Map<string, string>(), chance }
  return {
    ...prepared,
    changes: [],
    isForm: false,
    isUnchecked: false,
    old,
    values,
    asked: values,
    body,
    form: undefined,
    checked: undefined,
    errors,
  }
}
