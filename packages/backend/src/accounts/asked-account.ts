/** Which account a request is about, before it has proven anything: hooks around the request see it. */
import type { AuthDefinition } from '../definitions/definition.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { AccountsHost } from './accounts-host.ts'
import { findAccount } from './find-account.ts'
import type { OneTimePasswords } from './one-time-passwords.ts'
import type { PasswordLogin } from './password-login.ts'
import { holderOf, type TokenType } from './tokens.ts'

/** The name of an account in a request: an identity, the address or the token of a mail, or the id of a one-time password. */
export type AskedBy = 'identity' | 'email' | 'otpId' | Exclude<TokenType, 'auth' | 'file'>

interface AskedParts {
  readonly host: AccountsHost
  readonly passwordLogin: PasswordLogin
  readonly oneTimePasswords: OneTimePasswords
}

/** Undefined if no account is meant. A token has to be valid. `form`: of the request. */
export async function askedAccount(
  { host, passwordLogin, oneTimePasswords }: AskedParts,
  definition: AuthDefinition,
  by: AskedBy,
  form: JsonObject,
): Promise<JsonObject | undefined> {
  const text = (name: string): string => (typeof form[name] === 'string' ? form[name] : '')
  if (by === 'identity') return passwordLogin.find(definition, text('identity'), text('identityField'))
  if (by === 'email') return findAccount(host.definitions, definition, 'email', text('email'))
  if (by === 'otpId') return oneTimePasswords.accountOf(definition, text('otpId'))
  const holder = await holderOf(host.definitions, by, text('token'), host.environment.wallClock())
  return holder?.definition.id === definition.id ? holder.record : undefined
}
