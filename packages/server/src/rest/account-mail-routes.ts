/** Mails for accounts, and what comes back from them: `/api/collections/{collection}/request-…` and `…/confirm-…`. */
import type { JsonObject } from '@pannier/backend/internal'
import type { Actor } from '@pannier/backend'
import { actorOf } from './actor.ts'
import { readValues } from './form.ts'
import { tagged } from './rest-context.ts'
import type { CollectionRoute, RestRoutes } from './rest-context.ts'
import { shown } from './shown.ts'

const UNREADABLE = 'An error occurred while loading the submitted data.'

export const accountMailRoutes: RestRoutes = (app, context) => {
  const { accounts } = context.backend
  const { verification, passwordReset, emailChange, oneTimePasswords } = accounts
  /** A request without an answer. */
  const add = (
    name: string,
    tag: string,
    run: (definition: ReturnType<typeof accounts.authDefinition>, input: JsonObject, actor: Actor) => Promise<void>,
  ): void => {
    app.post<CollectionRoute>(`/api/collections/:collection/${name}`, tagged(tag), async (request, reply) => {
      const definition = accounts.authDefinition(request.params.collection)
      await run(definition, await readValues(context, request, UNREADABLE), actorOf(request))
      return reply.code(204).send()
    })
  }
  add('request-verification', 'requestVerification', (definition, input) => verification.request(definition, input))
  add('confirm-verification', 'confirmVerification', (definition, input) => verification.confirm(definition, input))
  add('request-password-reset', 'requestPasswordReset', (definition, input) => passwordReset.request(definition, input))
  add('confirm-password-reset', 'confirmPasswordReset', (definition, input) => passwordReset.confirm(definition, input))
  add('confirm-email-change', 'confirmEmailChange', (definition, input, actor) =>
    emailChange.confirm(actor, definition, input),
  )
  app.post<CollectionRoute>(
    '/api/collections/:collection/request-email-change',
    tagged('requestEmailChange'),
    async (request, reply) => {
      const account = accounts.accountOf(actorOf(request), request.params.collection)
      await emailChange.request(account, await readValues(context, request, UNREADABLE))
      return reply.code(204).send()
    },
  )
  app.post<CollectionRoute>('/api/collections/:collection/request-otp', tagged('requestOTP'), async (request) => {
    const definition = accounts.authDefinition(request.params.collection)
    const values = await readValues(context, request, UNREADABLE)
    return shown(request, { otpId: await oneTimePasswords.request(definition, values) })
  })
}
