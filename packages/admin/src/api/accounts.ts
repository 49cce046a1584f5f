/** Logins of superusers, and what links in mails confirm for all accounts. */
import { ApiError, request } from './request.ts'

export interface Account {
  readonly id: string
  readonly email: string
  readonly collectionName: string
}

export interface Login {
  readonly token: string
  readonly record: Account
}

/** The login needs a second factor. */
export interface SecondFactor {
  readonly mfaId: string
}

export interface AuthMethods {
  readonly password: { readonly enabled: boolean }
  readonly otp: { readonly enabled: boolean }
  readonly mfa: { readonly enabled: boolean }
}

const SUPERUSERS = '/collections/_superusers'

export function authMethods(): Promise<AuthMethods> {
  return request('GET', `${SUPERUSERS}/auth-methods`, { token: '' })
}

/** @throws ApiError */
export async function logInWithPassword(
  identity: string,
  password: string,
  mfaId?: string,
): Promise<Login | SecondFactor> {
  const body = { identity, password, ...(mfaId !== undefined && { mfaId }) }
  return orSecondFactor(request('POST', `${SUPERUSERS}/auth-with-password`, { body, token: '' }))
}

/** Sends a code by mail. Returns what the code is for. */
export async function requestCode(email: string): Promise<string> {
  const answer = await request<{ otpId: string }>('POST', `${SUPERUSERS}/request-otp`, { body: { email }, token: '' })
  return answer.otpId
}

export async function logInWithCode(otpId: string, code: string, mfaId?: string): Promise<Login | SecondFactor> {
  const body = { otpId, password: code, ...(mfaId !== undefined && { mfaId }) }
  return orSecondFactor(request('POST', `${SUPERUSERS}/auth-with-otp`, { body, token: '' }))
}

async function orSecondFactor(login: Promise<Login>): Promise<Login | SecondFactor> {
  try {
    return await login
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
    const { mfaId } = error.answer
    if (typeof mfaId !== 'string') throw error
    return { mfaId }
  }
}

/** A new token of the same session. */
export function refreshLogin(token: string): Promise<Login> {
  return request('POST', `${SUPERUSERS}/auth-refresh`, { token })
}

/** `secret`: that of the link which the server has printed. */
export async function makeFirstSuperuser(secret: string, email: string, password: string): Promise<void> {
  await request('POST', `${SUPERUSERS}/records`, {
    body: { email, password, passwordConfirm: password },
    token: secret,
  })
}

export async function requestPasswordReset(email: string): Promise<void> {
  await request('POST', `${SUPERUSERS}/request-password-reset`, { body: { email }, token: '' })
}

export type Confirmation = 'confirm-verification' | 'confirm-password-reset' | 'confirm-email-change'

/** `collection`: its id, as the token of the mail has it. */
export async function confirm(
  what: Confirmation,
  collection: string,
  body: Readonly<Record<string, string>>,
): Promise<void> {
  await request('POST', `/collections/${encodeURIComponent(collection)}/${what}`, { body, token: '' })
}

/** Ends the session of this token. Tokens that other programs hold stay. */
export async function endSession(account: Account, token: string): Promise<void> {
  const { sid } = claimsOf(token)
  if (typeof sid !== 'string') return
  await request('DELETE', `${SUPERUSERS}/records/${account.id}/sessions/${sid}`, { token })
}

/** The claims of a token, which nobody has checked. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    const [, payload = ''] = token.split('.')
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
    return JSON.parse(new TextDecoder().decode(bytes)) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}
