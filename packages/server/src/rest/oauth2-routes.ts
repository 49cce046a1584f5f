/** Logins by other services: `…/auth-with-oauth2`, and where their providers send users back to. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { appleClientSecret } from '@pannier/backend/internal'
import type { JsonObject } from '@pannier/backend/internal'
import { answerLogin } from './account-routes.ts'
import { actorOf, checkSuperuser } from './actor.ts'
import { readValues } from './form.ts'
import { tagged } from './rest-context.ts'
import type { CollectionRoute, RestRoutes } from './rest-context.ts'

const UNREADABLE = 'An error occurred while loading the submitted data.'
/** The pages, relative to where the provider sends users. */
const PAGES = '../_/#/auth/oauth2-redirect-'

export const oauth2Routes: RestRoutes = (app, context) => {
  const { accounts, oauth2 } = context.backend
  app.post<CollectionRoute>(
    '/api/collections/:collection/auth-with-oauth2',
    tagged('authWithOAuth2', 'auth'),
    async (request, reply) => {
      const definition = accounts.authDefinition(request.params.collection)
      const input = (): Promise<JsonObject> => readValues(context, request, UNREADABLE)
      const login = await oauth2.logIn(actorOf(request), definition, input)
      return answerLogin(context.backend, request, reply, login)
    },
  )
  const redirect = async (request: FastifyRequest, reply: FastifyReply, sent: JsonObject): Promise<FastifyReply> => {
    const text = (name: string): string => {
      const [first] = [sent[name]].flat()
      return typeof first === 'string' ? first : ''
    }
    const values = { state: text('state'), code: text('code'), error: text('error'), user: text('user') }
    const page = (await oauth2.redirected(values, request.principal.address)) ? 'success' : 'failure'
    return reply
      .code(request.method === 'GET' ? 307 : 303)
      .header('location', PAGES + page)
      .send()
  }
  app.get('/api/oauth2-redirect', { exposeHeadRoute: false }, (request, reply) =>
    redirect(request, reply, request.query as JsonObject),
  )
  app.post('/api/oauth2-redirect', async (request, reply) =>
    redirect(request, reply, await readValues(context, request, '').catch(() => ({}))),
  )
  app.post('/api/settings/apple/generate-client-secret', async (request) => {
    checkSuperuser(request)
    const input = await readValues(context, request, UNREADABLE)
    return { secret: await appleClientSecret(request.principal, input, app.environment.wallClock()) }
  })
}
