/** The account that is signed in, and the token of its session. */
import { ClientError } from './client-error.ts'
import type { Server } from './server.ts'
import type { Values } from './writes.ts'

/** An account as it sees itself. */
export type AccountRecord = Values & { readonly id: string; readonly collectionName: string }

/** What a way to sign in answers. */
export interface SignedIn {
  readonly token: string
  readonly record: AccountRecord
}

export interface Session extends SignedIn {
  /** When the token came. */
  readonly savedAt: number
}

/** 'users/ID' */
export function accountKey({ collectionName, id }: AccountRecord): string {
  return `${collectionName}/${id}`
}

export async function refreshed(server: Server, { token, record }: Session): Promise<Session> {
  const path = `POST /api/collections/${encodeURIComponent(record.collectionName)}/auth-refresh`
  const signedIn = await server.send<SignedIn>(path, undefined, { token })
  return { ...signedIn, savedAt: Date.now() }
}

/** Half of the time of the token is over. */
export function isToBeRefreshed({ token, savedAt }: Session): boolean {
  const { exp = 0 } = claimsOf(token)
  return Date.now() > (savedAt + exp * 1000) / 2
}

/** Ends the session at the server, if it answers. */
export async function endSession(server: Server, { token, record }: Session): Promise<void> {
  const { sid } = claimsOf(token)
  if (sid === undefined) return
  const path = `/api/collections/${encodeURIComponent(record.collectionName)}/records/${record.id}/sessions/${sid}`
  await server.send(`DELETE ${path}`, undefined, { token }).catch((error: unknown) => {
    if (!(error instanceof ClientError)) throw error
  })
}

interface Claims {
  readonly exp?: number
  readonly sid?: string
}

/** They are not checked: the server does that. */
function claimsOf(token: string): Claims {
  try {
    return JSON.parse(atob(token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/'))) as Claims
  } catch {
    return {}
  }
}
