/** Credentials that open the server: API tokens of programs, and sessions of accounts. */
import type { Backend } from '@pannier/backend'
import type { Row } from './records.ts'
import { listRecords, quoted } from './records.ts'
import { request } from './request.ts'

export type ApiToken = Awaited<ReturnType<Backend['accounts']['apiTokens']>>[number]

/** Actions by the names of collections. */
export type Scopes = ApiToken['scopes']
export type Action = Scopes[string][number]

export const ACTIONS: readonly Action[] = ['list', 'view', 'create', 'update', 'delete']

type NewApiToken = Pick<ApiToken, 'name' | 'collection' | 'record' | 'scopes' | 'expires'>

export async function listApiTokens(signal: AbortSignal): Promise<readonly ApiToken[]> {
  const { items } = await request<{ items: readonly ApiToken[] }>('GET', '/tokens', { signal })
  return items
}

/** The answer has the token, this once. @throws ApiError with what is wrong */
export function makeApiToken(token: NewApiToken): Promise<ApiToken & { readonly token: string }> {
  return request('POST', '/tokens', { body: token })
}

export function deleteApiToken(id: string): Promise<void> {
  return request('DELETE', `/tokens/${encodeURIComponent(id)}`)
}

export type AccountSession = Awaited<ReturnType<Backend['accounts']['sessions']>>[number]

export async function listSessions(
  collection: string,
  account: string,
  signal: AbortSignal,
): Promise<readonly AccountSession[]> {
  const path = sessionsOf(collection, account)
  const { items } = await request<{ items: readonly AccountSession[] }>('GET', path, { signal })
  return items
}

export function endAccountSession(collection: string, account: string, session: string): Promise<void> {
  return request('DELETE', `${sessionsOf(collection, account)}/${encodeURIComponent(session)}`)
}

/** Ends all sessions of the account except the session of this page. */
export function endAccountSessions(collection: string, account: string): Promise<void> {
  return request('DELETE', sessionsOf(collection, account))
}

function sessionsOf(collection: string, account: string): string {
  return `/collections/${encodeURIComponent(collection)}/records/${encodeURIComponent(account)}/sessions`
}

/** A token of the account. `seconds`: how long it is valid; 0 as long as after a login. @throws ApiError */
export async function impersonate(collection: string, account: string, seconds: number): Promise<string> {
  const path = `/collections/${encodeURIComponent(collection)}/impersonate/${encodeURIComponent(account)}`
  return (await request<{ token: string }>('POST', path, { body: { duration: seconds } })).token
}

export function sendVerification(collection: string, email: string): Promise<void> {
  return request('POST', `/collections/${encodeURIComponent(collection)}/request-verification`, { body: { email } })
}

export function sendPasswordReset(collection: string, email: string): Promise<void> {
  return request('POST', `/collections/${encodeURIComponent(collection)}/request-password-reset`, { body: { email } })
}

/** A service that an account logs in by. */
export interface AccountProvider {
  readonly id: string
  readonly provider: string
  /** The account's id at the provider. */
  readonly providerId: string
  readonly created: string
}

export async function listProviders(
  collectionId: string,
  account: string,
  signal: AbortSignal,
): Promise<readonly AccountProvider[]> {
  const filter = `collectionRef = ${quoted(collectionId)} && recordRef = ${quoted(account)}`
  const { items } = await listRecords('_externalAuths', { page: 1, perPage: 100, filter, skipTotal: true }, signal)
  return items as readonly Row[] as readonly (Row & AccountProvider)[]
}
