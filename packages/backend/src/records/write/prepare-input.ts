/** What takes time before a record is written: files are looked at, passwords are hashed. */
import type { Passwords } from '../../accounts/passwords.ts'
import type { Definition } from '../../definitions/definition.ts'
import { toText } from '../../fields/cast.ts'
import { checkValue } from '../../fields/field-types.ts'
import { NewFile, type Upload } from '../../fields/new-file.ts'
import { NewPassword } from '../../fields/password-field.ts'
import type { RecordInput } from '../record-types.ts'
import { listOf, type PreparedInput } from './draft.ts'

export interface InputToPrepare {
  readonly definition: Definition
  readonly input: RecordInput
  readonly isSuperuser: boolean
  /** How often a file is named: PocketBase names those of a batch twice. */
  readonly namings: number
}

export async function prepareInput(asked: InputToPrepare, passwords: Passwords): Promise<PreparedInput> {
  const { definition, isSuperuser, namings } = asked
  const [input, hashes] = await Promise.all([withFiles(asked.input, namings), hashesOf(asked, passwords)])
  return { definition, input, isSuperuser, hashes, now: new Date().toISOString().replace('T', ' ') }
}

/** Of the passwords that their fields take. */
async function hashesOf(
  { definition: { fields }, input }: InputToPrepare,
  passwords: Passwords,
): Promise<ReadonlyMap<string, string>> {
  const hashes = new Map<string, string>()
  for (const field of fields) {
    if (field.type !== 'password') continue
    const text = toText(input[field.name])
    if (text === '' || checkValue(field, new NewPassword(text), { old: undefined }) !== undefined) continue
    hashes.set(field.name, await passwords.hash(text))
  }
  return hashes
}

/** With a `NewFile` for each file. */
async function withFiles(input: RecordInput, namings: number): Promise<RecordInput> {
  const entries = Object.entries(input)
  if (!entries.some(([, value]) => listOf(value).some(isUpload))) return input
  const named = async (value: unknown): Promise<unknown> => {
    if (!isUpload(value)) return value
    let file: NewFile = await NewFile.from(value)
    for (let naming = 1; naming < namings; naming++) file = await NewFile.from(file)
    return file
  }
  const prepared = entries.map(async ([key, value]) => [
    key,
    Array.isArray(value) ? await Promise.all(value.map(named)) : await named(value),
  ])
  return Object.fromEntries(await Promise.all(prepared)) as RecordInput
}

/** An input has JSON beside files, and JSON has no functions. */
function isUpload(value: unknown): value is Upload {
  return typeof value === 'object' && value !== null && 'stream' in value && typeof value.stream === 'function'
}
