/** Logins and tokens: `/api/collections/{collection}/auth-…`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Backend } from '@pannier/backend'
import { actorOf, checkSuperuser, queryText, tokenOf } from './actor.ts'
import { readValues } from './form.ts'
import { tagged } from './rest-context.ts'
import type { CollectionRoute, RecordRoute, RestRoutes } from './rest-context.ts'
import { shown } from './shown.ts'

const UNREADABLE = 'An error occurred while loading the submitted data.'

export const accountRoutes: RestRoutes = (app, context) => {
  const { backend } = context
  const { accounts } = backend
  app.get<CollectionRoute>('/api/collections/:collection/auth-methods', tagged('listAuthMethods'), async (request) =>
    shown(request, accounts.authMethods(request.params.collection)),
  )
  app.post<CollectionRoute>(
    '/api/collections/:collection/auth-with-password',
    tagged('authWithPassword', 'auth'),
    async (request, reply) => {
      const { collection } = request.params
      accounts.authDefinition(collection)
      const values = await readValues(context, request, UNREADABLE)
      const login = await accounts.authWithPassword(actorOf(request), collection, values)
      return answerLogin(backend, request, reply, login)
    },
  )
  app.post<CollectionRoute>(
    '/api/collections/:collection/auth-with-otp',
    tagged('authWithOTP', 'auth'),
    async (request, reply) => {
      const { collection } = request.params
      accounts.authDefinition(collection)
      const values = await readValues(context, request, UNREADABLE)
      const login = await accounts.authWithOtp(actorOf(request), collection, values)
      return answerLogin(backend, request, reply, login)
    },
  )
  app.post<CollectionRoute>('/api/collections/:collection/auth-refresh', tagged('authRefresh'), async (request) => {
    const { collection } = request.params
    const values = await readValues(context, request, UNREADABLE)
    return answer(backend, request, await accounts.authRefresh(actorOf(request), collection, tokenOf(request), values))
  })
  app.post<RecordRoute>('/api/collections/:collection/impersonate/:id', async (request) => {
    checkSuperuser(request)
    const { collection, id } = request.params
    const { duration } = await readValues(context, request, UNREADABLE)
    return answer(backend, request, await accounts.impersonate(actorOf(request), collection, id, duration))
  })
}

type Login = Awaited<ReturnType<Backend['accounts']['authWithPassword']>>

/** A login that needs another method yet has no record. */
export async function answerLogin(
  backend: Backend,
  request: FastifyRequest,
  reply: FastifyReply,
  login: Login,
): Promise<unknown> {
  return 'mfaId' in login ? reply.code(401).send(login) : answer(backend, request, login)
}

/** The record as it sees itself, and its token. */
async function answer(
  { records }: Backend,
  request: FastifyRequest,
  { definition, principal, token, meta }: Exclude<Login, { readonly mfaId: string }>,
): Promise<unknown> {
  const actor = { ...actorOf(request), principal }
  const [record] = await records.show(actor, definition, [principal.account!.record], {
    expand: queryText(request, 'expand'),
  })
  return shown(request, { ...(meta && { meta }), record, token })
}
