/** Default parts of a new collection of each type. */
import { crc32 } from 'node:zlib'
import type { FieldDefinition } from '../fields/field-definition.ts'
import { LOWER, randomText, type Chance } from '../gateway/chance.ts'
import type { AuthDefinition, BaseDefinition, Definition, ViewDefinition } from './definition.ts'
import { ALERT_MAIL, MAILS, OTP_MAIL } from './mail-templates.ts'

const SECRET_LENGTH = 50
const DAY_SECONDS = 86_400

/** A name for the indexes of a collection that has no id yet. */
export function randomName(chance: Chance): string {
  return randomText(chance, 10, LOWER)
}

/** The id of a collection, derived from its type and first name. */
export function idOf(type: string, name: string): string {
  return `pbc_${checksum(type + name)}`
}

/** The checksum of a text, in decimal digits. */
function checksum(text: string): string {
  return String(crc32(text))
}

/** Definitions without a field or index. */
export const BASE_SCAFFOLD: BaseDefinition = {
  id: '',
  listRule: null,
  viewRule: null,
  createRule: null,
  updateRule: null,
  deleteRule: null,
  name: '',
  type: 'base',
  fields: [],
  indexes: [],
  created: '',
  updated: '',
  system: false,
}
export const VIEW_SCAFFOLD: ViewDefinition = { ...BASE_SCAFFOLD, type: 'view', viewQuery: '' }

/** The default definition of an auth collection, with secrets of its own. */
export function authScaffold(chance: Chance): AuthDefinition {
  return { ...BASE_SCAFFOLD, type: 'auth', ...authOptions(chance) }
}

export function scaffoldOf(type: Definition['type'], chance: Chance): Definition {
  if (type === 'auth') return authScaffold(chance)
  return type === 'view' ? VIEW_SCAFFOLD : BASE_SCAFFOLD
}

function authOptions(chance: Chance): Omit<AuthDefinition, keyof BaseDefinition> {
  const token = (duration: number) => ({ duration, secret: newSecret(chance) })
  return {
    authRule: '',
    manageRule: null,
    authAlert: { enabled: true, emailTemplate: ALERT_MAIL },
    oauth2: { providers: [], mappedFields: { id: '', name: '', username: '', avatarURL: '' }, enabled: false },
    passwordAuth: { enabled: true, identityFields: ['email'] },
    mfa: { enabled: false, duration: 600, rule: '' },
    otp: { enabled: false, duration: 180, length: 8, emailTemplate: OTP_MAIL },
    authToken: token(5 * DAY_SECONDS),
    passwordResetToken: token(1800),
    emailChangeToken: token(1800),
    verificationToken: token(DAY_SECONDS),
    fileToken: token(180),
    ...MAILS,
  }
}

/** A secret that signs tokens. */
export function newSecret(chance: Chance): string {
  return randomText(chance, SECRET_LENGTH)
}

/** The defaults of a system field, and the options that are fixed. */
export interface SystemField {
  readonly defaults: Readonly<Record<string, unknown>> & Pick<FieldDefinition, 'name' | 'type'>
  readonly always: Readonly<Record<string, unknown>>
}

const ID_PATTERN = '^[a-z0-9]+$'

export const ID_FIELD: SystemField = {
  defaults: {
    type: 'text',
    name: 'id',
    min: 15,
    max: 15,
    pattern: ID_PATTERN,
    autogeneratePattern: '[a-z0-9]{15}',
  },
  always: { system: true, required: true, primaryKey: true, hidden: false },
}

const SECRET = { system: true, hidden: true, required: true }

/** Fields of accounts, in their order. */
export const ACCOUNT_FIELDS: readonly SystemField[] = [
  { defaults: { type: 'password', name: 'password', min: 8 }, always: SECRET },
  {
    defaults: { type: 'text', name: 'tokenKey', min: 30, max: 60, autogeneratePattern: '[a-zA-Z0-9]{50}' },
    always: SECRET,
  },
  { defaults: { type: 'email', name: 'email', required: true }, always: { system: true, hidden: false } },
  { defaults: { type: 'bool', name: 'emailVisibility' }, always: { system: true } },
  { defaults: { type: 'bool', name: 'verified' }, always: { system: true } },
]

/** The id field's pattern if it has none. */
export function withIdPattern(field: FieldDefinition): FieldDefinition {
  return 'primaryKey' in field && field.primaryKey && field.pattern === '' ? { ...field, pattern: ID_PATTERN } : field
}
