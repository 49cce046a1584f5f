/**
 * Authentication as a Fastify plugin: sets `request.principal`, enforces the needs that routes declare, and serves
 * `/_session`. A route that declares no needs is for server admins only.
 */
import { isObject } from 'pannier/internal'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { refuseCrossSite } from '../http/cross-site.ts'
import { isRestUrl } from '../http/declarations.ts'
import { readBody } from '../http/request-body.ts'
import { parseJson } from '../http/strict-json.ts'
import { GUEST } from '@pannier/backend'
import { invalid } from '@pannier/backend/internal'
import type { Auth } from './auth.ts'
import { readCookie, setCookieHeader } from './session-cookie.ts'
import { USER_BYTES_MAX } from './users-guard.ts'

const SESSION_BODY: { readonly bytesMax: number; readonly stallMsMax: number } = {
  bytesMax: 16_384,
  stallMsMax: 10_000,
}
const FORM = 'application/x-www-form-urlencoded'

/** The plugin of logins (auth). Register it after CORS and before the routes. */
export function authPlugin(auth: Auth): FastifyPluginAsync {
  return fastifyPlugin(async (app: FastifyInstance) => {
    app.decorateRequest('principal')
    app.decorateRequest('checkAgain')
    app.decorateRequest('bodyBytesMax')
    app.addHook('onRequest', (request, _reply, done) => {
      request.principal = GUEST
      // It authenticates by itself, and knows no cookie.
      if (isRestUrl(request.url)) done()
      else identify(request).then(() => done(), done)
    })
    const identify = async (request: FastifyRequest): Promise<void> => {
      refuseCrossSite(request, auth.allowedOrigins, readCookie(request.headers.cookie) !== undefined)
      let { version } = auth
      // A new login must be answered even with a wrong password in the request's headers.
      const isLogin = request.routeOptions.url === '/_session' && request.method === 'POST'
      const identity = isLogin ? undefined : await auth.identify(request)
      if (identity !== undefined) request.principal = identity.principal
      const { params } = request as { params?: { db?: string; id?: string } }
      // Not of `/:db/_local/:id` and the like.
      const isDocument = request.routeOptions.url?.startsWith('/:db/:id') === true
      if (request.is404 || request.method === 'OPTIONS') return
      const { needs: declared = 'server-admin' } = request.routeOptions.config
      const isSignUp = auth.isSignUp(request)
      // The write guard decides whether this user may be made.
      const needs = isSignUp ? 'anyone' : declared
      if (isSignUp) request.bodyBytesMax = USER_BYTES_MAX
      const id = isDocument ? params?.id : undefined
      await auth.check(request.principal, needs, params?.db, id)
      if (isLogin) return
      request.checkAgain = async () => {
        if (auth.version === version) return
        version = auth.version
        request.principal = await auth.checkAgain(request, needs, params?.db, id)
      }
    }
    app.addHook('onSend', (request, reply, payload, done) => {
      const identity = auth.identityOf(request)
      if (identity.account !== undefined && auth.isRenewalDue(identity) && !reply.hasHeader('set-cookie'))
        setCookie(auth, request, reply, auth.cookieFor(identity.account, identity.sessionId))
      done(null, payload)
    })
    sessionRoutes(app, auth)
  })
}

function sessionRoutes(app: FastifyInstance, auth: Auth): void {
  app.get('/_session', { config: { needs: 'anyone' } }, async (request, reply) => {
    noStore(reply)
    const { name, roles, by } = auth.identityOf(request).principal
    const authenticated = by === 'session' ? 'cookie' : by === 'password' ? 'default' : undefined
    const info = {
      authentication_handlers: ['cookie', 'default'],
      ...(authenticated !== undefined && { authenticated }),
    }
    return { ok: true, userCtx: { name, roles }, info }
  })
  app.post('/_session', { config: { needs: 'anyone', contentTypes: [FORM] } }, async (request, reply) => {
    noStore(reply)
    const { name, password } = await readCredentials(request)
    try {
      const login = await auth.logIn(request, name, password)
      setCookie(auth, request, reply, login.cookie(), login.cookieSeconds)
      return { ok: true, name: login.name, roles: login.principal.roles }
    } catch (error) {
      setCookie(auth, request, reply, '')
      throw error
    }
  })
  app.delete('/_session', { config: { needs: 'anyone' } }, async (request, reply) => {
    noStore(reply)
    await auth.endSession(auth.identityOf(request))
    setCookie(auth, request, reply, '')
    return { ok: true }
  })
}

async function readCredentials(request: FastifyRequest): Promise<{ readonly name: string; readonly password: string }> {
  const bytes = await readBody(request, SESSION_BODY)
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  const values: unknown = type === FORM ? formOf(Buffer.from(bytes).toString()) : parseJson(bytes)
  const { name, username = name, password } = isObject(values) ? values : {}
  if (typeof username !== 'string' || typeof password !== 'string')
    throw invalid('name and password are strings that have to be given')
  return { name: username, password }
}

function formOf(text: string): Record<string, unknown> {
  const form = new URLSearchParams(text)
  const single = (name: string): string | undefined => (form.getAll(name).length === 1 ? form.get(name)! : undefined)
  return { name: single('name'), password: single('password') }
}

function setCookie(
  auth: Auth,
  request: FastifyRequest,
  reply: FastifyReply,
  value: string,
  seconds = Math.floor(auth.sessionMsMax / 1000),
): void {
  const { secureCookies = false, sameSite = 'Lax' } = auth.options
  const isSecure = secureCookies || sameSite === 'None' || request.protocol === 'https'
  const maxAgeSeconds = value === '' ? 0 : seconds
  reply.header('set-cookie', setCookieHeader(value, { maxAgeSeconds, isSecure, sameSite }))
  noStore(reply)
}

function noStore(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store')
}
