/** What takes time before a record is written: files are looked at, passwords are hashed. */
import type { Passwords } from '../../accounts/passwords.ts'
import type { Definition } from '../../definitions/definition.ts'
import { dateText } from '../../fields/date-text.ts'
import { checkValue } from '../../fields/field-types.ts'
import { NewFile, type Upload } from '../../fields/new-file.ts'
import { newPassword, UnknownPassword } from '../../fields/password-field.ts'
import type { HookChange } from '../../hooks/hook-record.ts'
import type { RecordInput } from '../record-types.ts'
import { listOf, type PreparedInput } from './draft.ts'

interface InputToPrepare {
  readonly definition: Definition
  readonly input: RecordInput
  readonly isSuperuser: boolean
  /** How often a file is named: PocketBase names those of a batch twice. */
  readonly namings: number
  /** What hooks have made of the input. */
  readonly changes?: readonly HookChange[]
  /** An account's passwords have to be confirmed. True when left out. */
  readonly isForm?: boolean
  /** Values of autodate fields, in place of those that come by themselves. */
  readonly autodates?: Readonly<Record<string, string>> | undefined
}

/** Without `passwords` no password is hashed. */
export async function prepareInput(asked: InputToPrepare, passwords?: Passwords): Promise<PreparedInput> {
  const { definition, isSuperuser, changes = [], isForm = true, autodates } = asked
  const [input, hashes] = await Promise.all([
    withFiles(asked),
    passwords === undefined ? new Map<string, string>() : hashesOf(asked, passwords),
  ])
  const prepared = { definition, input, isSuperuser, hashes, now: dateText(Date.now()), changes, isForm }
  return autodates === undefined ? prepared : { ...prepared, autodates }
}

/** The hashes of passwords that their fields take. */
async function hashesOf(
  { definition: { fields }, input, changes = [] }: InputToPrepare,
  passwords: Passwords,
): Promise<ReadonlyMap<string, string>> {
  const hashes = new Map<string, string>()
  for (const field of fields) {
    if (field.type !== 'password') continue
    const [, changed] = changes.findLast(([key]) => key === field.name) ?? []
    const password = newPassword(changed ?? input[field.name])
    if (password === undefined || checkValue(field, password, { old: undefined }) !== undefined) continue
    const isUnknown = password instanceof UnknownPassword
    hashes.set(field.name, isUnknown ? passwords.unknownHash() : await passwords.hash(password.text))
  }
  return hashes
}

/** With a `NewFile` for each file of a file field. Other files are ignored. */
async function withFiles({ definition: { fields }, input, namings }: InputToPrepare): Promise<RecordInput> {
  const entries = Object.entries(input)
  if (!entries.some(([, value]) => listOf(value).some(isUpload))) return input
  const named = async (upload: Upload): Promise<NewFile> => {
    // A hook has seen its name.
    if (upload instanceof NewFile) return upload
    let file = await NewFile.from(upload)
    for (let naming = 1; naming < namings; naming++) file = await NewFile.from(file)
    return file
  }
  const files = fields.filter(({ type }) => type === 'file')
  const keys = new Set(files.flatMap(({ name }) => [name, `${name}+`, `+${name}`]))
  const prepared: [string, unknown][] = []
  for (const [key, value] of entries) {
    const kept = listOf(value).filter((one) => keys.has(key) || !isUpload(one))
    const all = await Promise.all(kept.map((one) => (isUpload(one) ? named(one) : Promise.resolve(one))))
    if (Array.isArray(value)) prepared.push([key, all])
    else if (all.length > 0) prepared.push([key, all[0]])
  }
  return Object.fromEntries(prepared)
}

/** An input has JSON beside files, and JSON has no functions. */
function isUpload(value: unknown): value is Upload {
  return typeof value === 'object' && value !== null && 'stream' in value && typeof value.stream === 'function'
}
