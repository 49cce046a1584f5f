/** What a new collection of each type has before anybody has said anything of it. */
import { randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { FieldDefinition } from '../fields/field-definition.ts'
import type { AuthDefinition, BaseDefinition, Definition, ViewDefinition } from './definition.ts'
import { ALERT_MAIL, MAILS, OTP_MAIL } from './mail-templates.ts'

/** Letters and digits of ids. */
export const LOWER = 'abcdefghijklmnopqrstuvwxyz0123456789'
const LETTERS = `${LOWER}ABCDEFGHIJKLMNOPQRSTUVWXYZ`
const SECRET_LENGTH = 50
const DAY_SECONDS = 86_400

/** Letters and digits that nobody can guess. */
export function randomText(length: number, alphabet: string = LETTERS): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}

/** A name for the indexes of a collection that has no id yet. */
export function randomName(): string {
  return randomText(10, LOWER)
}

/** The id of a collection, made of its type and first name. */
export function idOf(type: string, name: string): string {
  return `pbc_${checksum(type + name)}`
}

/** Decimal digits. */
function checksum(text: string): string {
  return String(crc32(text))
}

/** A definition without a field or index. */
export function scaffoldOf(type: 'auth'): AuthDefinition
export function scaffoldOf(type: Definition['type']): Definition
export function scaffoldOf(type: Definition['type']): Definition {
  const base: BaseDefinition = {
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
  if (type === 'view') return { ...base, type, viewQuery: '' } satisfies ViewDefinition
  return type === 'base' ? base : { ...base, type, ...authOptions() }
}

function authOptions(): Omit<AuthDefinition, keyof BaseDefinition> {
  const token = (duration: number) => ({ duration, secret: randomText(SECRET_LENGTH) })
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

/** What a system field has by default, and what it has in any case. */
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
  return field.type === 'text' && field.primaryKey && field.pattern === '' ? { ...field, pattern: ID_PATTERN } : field
}
