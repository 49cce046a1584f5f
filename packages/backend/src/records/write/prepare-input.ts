/** Preparation that takes time before a record is written: files are looked at, passwords are hashed. */
import type { Environment } from 'pannier/types'
import type { Passwords } from '../../accounts/passwords.ts'
import type { Definition } from '../../definitions/definition.ts'
import { dateText } from '../../fields/date-text.ts'
import { applyChange, fileFieldMeant, meant } from '../../fields/apply-input.ts'
import { fieldError } from '../../fields/field-errors.ts'
import { checkValue, ownValue, typeOfField } from '../../fields/field-types.ts'
import { isUpload, NewFile, type Upload } from '../../fields/new-file.ts'
import { newPassword, UnknownPassword } from '../../fields/types/password.ts'
import type { Chance } from '../../gateway/chance.ts'
import type { FieldError } from '../../gateway/service-error.ts'
import type { HookChange } from '../../hooks/hook-record.ts'
import type { RecordInput } from '../record-types.ts'
import { drawnIn, listOf, type Draft, type PreparedInput } from './draft.ts'

/** Names in forms of accounts beside fields. */
const FORM_FIELDS = ['passwordConfirm', 'oldPassword']

export const NO_FIELD: FieldError = fieldError('validation_unknown_field', 'The collection has no such field.')

/** Whether a write reads a name of its input. Rules may read what is no field: `@request.body.code`. */
export function readsName(definition: Definition, name: string): boolean {
  if (meant(definition.fields, name) !== undefined) return true
  if (definition.type === 'auth' && FORM_FIELDS.includes(name)) return true
  const { createRule, updateRule } = definition
  const rules = `${createRule ?? ''} ${updateRule ?? ''}`
  return [...rules.matchAll(/@request\.body\.(\w+)/g)].some(([, read]) => read === name)
}

interface InputToPrepare {
  readonly definition: Definition
  readonly input: RecordInput
  readonly isSuperuser: boolean
  /** How often a file is named: PocketBase names those of a batch twice. */
  readonly namings: number
  /** The changes of hooks to the input. */
  readonly changes?: readonly HookChange[]
  /** An account's passwords have to be confirmed. True when left out. */
  readonly isForm?: boolean
  readonly isUnchecked?: boolean
  /** Values of autodate fields, in place of those that come by themselves. */
  readonly autodates?: Readonly<Record<string, string>> | undefined
  /** The draft that hooks have seen, with these changes. */
  readonly begun?: Draft | undefined
}

interface PreparingParts {
  readonly environment: Environment
  /** No password is hashed without it. */
  readonly passwords?: Passwords
}

export async function prepareInput(
  asked: InputToPrepare,
  { environment, passwords }: PreparingParts,
): Promise<PreparedInput> {
  const { definition, isSuperuser, changes = [], isForm = true, isUnchecked = false, autodates, begun } = asked
  const [input, hashes] = await Promise.all([
    withFiles({ ...asked, input: withDrawn(asked, environment) }, environment),
    passwords === undefined ? new Map<string, string>() : hashesOf(asked, passwords),
    ...[...Object.values(asked.input), ...changes.map(([, value]) => value)]
      .flatMap(listOf)
      .map((one) => (one instanceof NewFile ? one.look() : undefined)),
  ])
  const now = dateText(environment.wallClock())
  const prepared = { definition, input, isSuperuser, hashes, now, changes, isForm, isUnchecked, chance: environment }
  return { ...prepared, ...(autodates && { autodates }), ...(begun && { begun, drawn: drawnIn(begun) }) }
}

/** With texts in place of `slug:autogenerate`: however often the record is drafted, they are drawn once. */
function withDrawn({ definition: { fields }, input }: InputToPrepare, chance: Chance): RecordInput {
  const drawn = Object.entries(input).flatMap(([key, value]): [string, unknown][] => {
    const [field, modifier] = meant(fields, key) ?? []
    if (field === undefined || modifier !== 'generate') return []
    return [[field.name, applyChange([field], {}, key, value, chance)![field.name]]]
  })
  if (drawn.length === 0) return input
  const others = Object.entries(input).filter(([key]) => meant(fields, key)?.[1] !== 'generate')
  return Object.fromEntries([...others, ...drawn])
}

/** The hashes of passwords that their fields take. */
async function hashesOf(
  { definition: { fields }, input, changes = [], isUnchecked = false }: InputToPrepare,
  passwords: Passwords,
): Promise<ReadonlyMap<string, string>> {
  const hashes = new Map<string, string>()
  for (const field of fields) {
    if (!typeOfField(field).isHashed) continue
    const [, changed] = changes.findLast(([key]) => key === field.name) ?? []
    const password = newPassword(changed ?? ownValue(input, field.name))
    if (password === undefined) continue
    if (!isUnchecked && checkValue(field, password, { old: undefined }) !== undefined) continue
    const isUnknown = password instanceof UnknownPassword
    hashes.set(field.name, isUnknown ? passwords.unknownHash() : await passwords.hash(password.text))
  }
  return hashes
}

/** With a `NewFile` for each file of a file field. Other files are ignored. */
async function withFiles(
  { definition: { fields }, input, namings }: InputToPrepare,
  chance: Chance,
): Promise<RecordInput> {
  const entries = Object.entries(input)
  if (!entries.some(([, value]) => listOf(value).some(isUpload))) return input
  const named = async (upload: Upload): Promise<NewFile> => {
    // A hook has seen its name.
    if (upload instanceof NewFile) return upload
    let file = await NewFile.from(upload, chance)
    for (let naming = 1; naming < namings; naming++) file = await NewFile.from(file, chance)
    return file
  }
  const prepared: [string, unknown][] = []
  for (const [key, value] of entries) {
    const takesFiles = fileFieldMeant(fields, key) !== undefined
    const kept = listOf(value).filter((one) => takesFiles || !isUpload(one))
    const all = await Promise.all(kept.map((one) => (isUpload(one) ? named(one) : Promise.resolve(one))))
    if (Array.isArray(value)) prepared.push([key, all])
    else if (all.length > 0) prepared.push([key, all[0]])
  }
  return Object.fromEntries(prepared)
}
