/** The account that is signed in, and the token of its session. */
import { ClientError } from './client-error.ts'
import { routeOf, type Server } from './server.ts'
import type { Values } from './writes.ts'

/** An account as it sees itself. */
export type AccountRecord = Values & { readonly id: string; readonly collectionName: string }

/** The answer of a way to sign in. */
export interface SignedIn {
  readonly token: string
  readonly record: AccountRecord
  /** The session began elsewhere, and is not ended from here. */
  readonly isTakenUp?: boolean
}

export interface Session extends SignedIn {
  /** When the token came, by the clock of the device, and for how long it was valid then. */
  readonly savedAt: number
  readonly lifetimeMs: number
}

/** The part of an answer of a sign-in that the device keeps. Its other facts, such as tokens of another service, are not for the disk. */
export function sessionOf(server: Server, { token, record, isTakenUp = false }: SignedIn): Session {
  const { exp = 0 } = claimsOf(token)
  return {
    token,
    record,
    isTakenUp,
    savedAt: server.environment.wallClock(),
    lifetimeMs: exp * 1000 - server.serverNow(),
  }
}

/** 'users/ID' */
export function accountKey({ collectionName, id }: AccountRecord): string {
  return `${collectionName}/${id}`
}

export async function refreshed(server: Server, { token, record, isTakenUp = false }: Session): Promise<Session> {
  const path = routeOf('POST', record.collectionName, 'auth-refresh')
  return sessionOf(server, { ...(await server.send<SignedIn>(path, undefined, { token })), isTakenUp })
}

/** Half of the time of the token is over, or the clock was set back, so that nobody knows. */
export function isToBeRefreshed({ savedAt, lifetimeMs }: Session, nowMs: number): boolean {
  const age = nowMs - savedAt
  return age < 0 || age > lifetimeMs / 2
}

/** Ends the session at the server, if it answers. */
export async function endSession(server: Server, { token, record }: Session): Promise<void> {
  const { sid } = claimsOf(token)
  if (sid === undefined) return
  const path = routeOf('DELETE', record.collectionName, `records/${record.id}/sessions/${sid}`)
  await server.send(path, undefined, { token }).catch((error: unknown) => {
    if (!(error instanceof ClientError)) throw error
  })
}

interface Claims {
  readonly exp?: number
  readonly sid?: string
}

/** The claims of a token, unchecked: the server checks them. */
function claimsOf(token: string): Claims {
  try {
    return JSON.parse(atob(token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/'))) as Claims
  } catch {
    return {}
  }
}
