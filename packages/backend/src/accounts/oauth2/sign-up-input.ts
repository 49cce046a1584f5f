/** The values of a new account: what the client sends, and what the provider tells for the fields that a collection maps. */
import { programInput } from '../../fields/program-value.ts'
import type { Environment } from 'pannier/types'
import type { AuthDefinition } from '../../definitions/definition.ts'
import type { Definitions } from '../../definitions/definitions.ts'
import { castValue, checkValue, holdsFiles } from '../../fields/field-types.ts'
import { NewFile } from '../../fields/new-file.ts'
import type { Upload } from '../../fields/new-file.ts'
import type { FieldDefinition } from '../../fields/field-definition.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import { withTimeLimit } from '../../gateway/time-limit.ts'
import { LOG_LEVELS } from '../../gateway/log-entry.ts'
import type { LogWriter } from '../../gateway/log-entry.ts'
import { findAccount } from '../find-account.ts'
import type { ExternalUser } from './external-user.ts'
import type { PublicFetch } from './oauth2-host.ts'

interface SignUp {
  readonly definition: AuthDefinition
  readonly definitions: Definitions
  readonly environment: Environment
  readonly user: ExternalUser
  /** Values for a new account from the client; nothing replaces them. */
  readonly createData: JsonObject
  readonly fetchPublic: PublicFetch | undefined
  readonly logs: LogWriter
}

const AVATAR_MS_MAX = 10_000
const FILE_BYTES_MAX: number = 5 * 1024 * 1024

export async function signUpInput(signUp: SignUp): Promise<JsonObject> {
  const { definition, user, environment } = signUp
  const { id, name, username, avatarURL } = definition.oauth2.mappedFields
  const place = { call: 'createData', chance: environment }
  const input: JsonObject = programInput(definition.fields, signUp.createData, place)
  if (typeof input['email'] !== 'string' || input['email'] === '') input['email'] = user.email
  const map = (field: string, value: unknown): void => {
    if (field !== '' && !Object.hasOwn(input, field) && value !== undefined) input[field] = value
  }
  map(id, user.id)
  map(name, user.name)
  const has = (field: string): boolean => field === '' || Object.hasOwn(input, field)
  if (!has(username) && (await isFree(signUp, username))) map(username, user.username)
  if (!has(avatarURL) && user.avatarURL !== '') map(avatarURL, await avatarOf(signUp, avatarURL))
  return input
}

/** A name that the field refuses, or that somebody has, is left out. */
async function isFree({ definition, definitions, user: { username } }: SignUp, fieldName: string): Promise<boolean> {
  const field = fieldOf(definition, fieldName)
  if (checkValue(field, castValue(field, username), { old: undefined }) !== undefined) return false
  return (await findAccount(definitions, definition, fieldName, username)) === undefined
}

/** A picture for a file field, otherwise its URL. A picture that can't be had, or that the field refuses, is left out. */
async function avatarOf(signUp: SignUp, fieldName: string): Promise<unknown> {
  const { definition, environment, user, fetchPublic, logs } = signUp
  const field = fieldOf(definition, fieldName)
  if (!holdsFiles(field)) return user.avatarURL
  if (fetchPublic === undefined) return undefined
  try {
    const bytesMax = field.maxSize || FILE_BYTES_MAX
    const upload = await withTimeLimit(environment, AVATAR_MS_MAX, (signal) =>
      download(fetchPublic, user.avatarURL, bytesMax, signal),
    )
    const file = await NewFile.from(upload, environment)
    const wrong = checkValue(field, field.maxSelect > 1 ? [file] : file, { old: undefined })
    if (wrong !== undefined) throw new Error(wrong.message)
    return upload
  } catch (error) {
    const data = { url: user.avatarURL, error: (error as Error).message }
    logs.write({ level: LOG_LEVELS.warn, message: 'Failed to fetch the picture of an OAuth2 user.', data })
    return undefined
  }
}

async function download(fetchPublic: PublicFetch, url: string, bytesMax: number, signal: AbortSignal): Promise<Upload> {
  const response = await fetchPublic(url, signal)
  if (!response.ok) {
    await response.body?.cancel()
    throw new Error(`The answer is ${response.status}.`)
  }
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > bytesMax) throw new Error(`It has more than ${bytesMax} bytes.`)
    chunks.push(chunk)
  }
  const name = new URL(url).pathname.split('/').at(-1)!
  const content = new Blob(chunks)
  return { name, size, stream: () => content.stream() }
}

/** Definitions map fields that they have. */
function fieldOf({ fields }: AuthDefinition, name: string): FieldDefinition {
  return fields.find((field) => field.name === name)!
}
