/** A server with a superuser, for tests of PocketBase's API. */
import PocketBase, { ClientResponseError } from 'pocketbase'
import { SYSTEM } from '@pannier/backend'
import type { Actor } from '@pannier/backend'
import { send, startServer, STRANGER } from '../test-server.ts'
import type { Answer, TestServer } from '../test-server.ts'

export interface RestServer extends TestServer {
  /** The token of the superuser. */
  readonly token: string
  /** A request of the superuser, or of another token; '' is a guest's. */
  call(request: string, body?: unknown, token?: string): Promise<Answer>
}

export const EMAIL = 'root@example.com'
export const PASSWORD = 'the password of root'

/** The server itself. */
export const ITSELF: Actor = {
  principal: SYSTEM,
  request: { context: 'default', method: 'POST', query: {}, headers: {} },
}

export async function startRest(options: Parameters<typeof startServer>[0] = {}): Promise<RestServer> {
  const server = await startServer(options)
  const { records } = server.server.backend
  await records.create(ITSELF, '_superusers', { email: EMAIL, password: PASSWORD, passwordConfirm: PASSWORD })
  const token = await tokenFor(server.url, '_superusers', EMAIL, PASSWORD)
  return { ...server, token, call: (request, body, by = token) => call(server.url, request, body, by) }
}

export function call(url: string, request: string, body: unknown, token: string): Promise<Answer> {
  return send(url, request.replace(' ', ' /api'), body, token === '' ? STRANGER : { authorization: token })
}

export async function tokenFor(url: string, collection: string, identity: string, password: string): Promise<string> {
  const request = `POST /collections/${collection}/auth-with-password`
  const { json, text } = await call(url, request, { identity, password }, '')
  if (typeof json['token'] !== 'string') throw new Error(text)
  return json['token']
}

/** PocketBase's own client, which cancels no request by itself. */
export function sdkClient(url: string): PocketBase {
  const made = new PocketBase(url)
  made.autoCancellation(false)
  return made
}

/** What a request of that client has failed with. */
export async function failure(work: Promise<unknown>): Promise<ClientResponseError> {
  const error: unknown = await work.catch((reason: unknown) => reason)
  if (!(error instanceof ClientResponseError)) throw new Error('It has not failed.')
  return error
}
