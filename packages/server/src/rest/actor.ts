/** The sender of a request, the address, and what rules can read of it. */
import type { FastifyRequest } from 'fastify'
import { budgetOf } from './answer-budget.ts'
import { isIP } from 'node:net'
import { andThen, type MaybePromise } from 'pannier/internal'
import { GUEST, ServiceError } from '@pannier/backend'
import { askedInsteadFrom } from '@pannier/backend/internal'
import type { Actor, Backend, RequestInfo } from '@pannier/backend'

const BEARER = /^bearer /i

/** The token of a request; empty if it has none. */
export function tokenOf({ headers: { authorization = '' } }: FastifyRequest): string {
  return authorization.replace(BEARER, '')
}

/** Sets the principal of a request. A token that is not valid makes a guest. @throws ServiceError FORBIDDEN */
export function identify(request: FastifyRequest, { accounts, settings }: Backend): MaybePromise<void> {
  const address = addressOf(request, settings.values.trustedProxy)
  askedInsteadFrom(address)
  const token = tokenOf(request)
  return andThen(token === '' ? undefined : accounts.bearerOf(token), (principal) => {
    request.principal = { ...(principal ?? GUEST), address }
    if (principal === undefined) return
    if (principal.isAdmin && !settings.allowsSuperuserAt(address)) throw new ServiceError('FORBIDDEN', '')
    request.checkAgain = async () => {
      const now = await accounts.bearerOf(token)
      if (now === undefined) throw new ServiceError('UNAUTHENTICATED', '')
      request.principal = { ...now, address }
    }
  })
}

export function actorOf(request: FastifyRequest): Actor {
  const { principal, method, query, headers } = request
  let asQuery: Record<string, string> | undefined
  let asHeaders: Record<string, string> | undefined
  const info: RequestInfo = {
    context: 'default',
    method,
    // Few rules read them.
    get query() {
      return (asQuery ??= firstOf(query as object))
    },
    get headers() {
      return (asHeaders ??= snakeCased(headers))
    },
  }
  const budget = budgetOf(request)
  return { principal, request: info, ...(budget && { budget }) }
}

/** A parameter of the URL; empty if it is not there. */
export function queryText({ query }: FastifyRequest, name: string): string {
  const value = (query as Readonly<Record<string, unknown>>)[name] ?? ''
  return String(Array.isArray(value) ? value[0] : value)
}

/** @throws ServiceError UNAUTHENTICATED, FORBIDDEN */
export function checkSuperuser({ principal }: FastifyRequest): void {
  if (principal.isAdmin) return
  if (principal.account === undefined)
    throw new ServiceError('UNAUTHENTICATED', 'The request requires valid record authorization token.')
  throw new ServiceError('FORBIDDEN', 'The authorized record is not allowed to perform this action.')
}

/** For replicas: what an account has must not become a guest's when its session ends. @throws ServiceError UNAUTHENTICATED */
export function checkSession(request: FastifyRequest): void {
  if (tokenOf(request) !== '' && request.principal.account === undefined)
    throw new ServiceError('UNAUTHENTICATED', 'The session has ended. Sign in again.')
}

/** Headers as rules name them: `x_token`. */
export function snakeCased(headers: object): Record<string, string> {
  const entries = Object.entries(firstOf(headers))
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase().replaceAll('-', '_'), value]))
}

/** The first of what comes several times. */
function firstOf(values: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]: [string, unknown]) => [
      name,
      String(Array.isArray(value) ? value[0] : value),
    ]),
  )
}

interface TrustedProxy {
  readonly headers: readonly string[]
  readonly useLeftmostIP: boolean
}

/** As the first of the trusted headers says it. Otherwise that of the connection. */
function addressOf({ headers, ip }: FastifyRequest, { headers: trusted, useLeftmostIP }: TrustedProxy): string {
  for (const name of trusted) {
    const value = headers[name.toLowerCase()]
    const last = Array.isArray(value) ? value.at(-1) : value
    if (last === undefined || last === '') continue
    const addresses = last.split(',').map((text) => text.trim())
    const found = (useLeftmostIP ? addresses : addresses.toReversed()).find((text) => isIP(text) !== 0)
    if (found !== undefined) return found
  }
  return ip
}
