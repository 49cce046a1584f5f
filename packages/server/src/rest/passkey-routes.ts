/** Passkeys of an account, and logins with them: `…/records/{id}/passkeys`, `…/request-passkey`, `…/auth-with-passkey`. */
import { answerLogin } from './account-routes.ts'
import { actorOf } from './actor.ts'
import { readValues } from './form.ts'
import { tagged } from './rest-context.ts'
import type { CollectionRoute, RecordRoute, RestRoutes } from './rest-context.ts'
import { shown, shownPage } from './shown.ts'

interface PasskeyRoute {
  Params: RecordRoute['Params'] & { readonly passkey: string }
}

const UNREADABLE = 'An error occurred while loading the submitted data.'
const PASSKEYS = '/api/collections/:collection/records/:id/passkeys'

export const passkeyRoutes: RestRoutes = (app, context) => {
  const { accounts } = context.backend
  const { passkeys } = accounts
  app.post<CollectionRoute>('/api/collections/:collection/request-passkey', tagged('requestPasskey'), (request) =>
    passkeys.loginOptions(accounts.authDefinition(request.params.collection)),
  )
  app.post<CollectionRoute>(
    '/api/collections/:collection/auth-with-passkey',
    tagged('authWithPasskey', 'auth'),
    async (request, reply) => {
      const { collection } = request.params
      accounts.authDefinition(collection)
      const values = await readValues(context, request, UNREADABLE)
      const login = await accounts.authWithPasskey(actorOf(request), collection, values)
      return answerLogin(context.backend, request, reply, login)
    },
  )
  app.get<RecordRoute>(PASSKEYS, async (request) => {
    const { collection, id } = request.params
    return shownPage(request, {
      items: await passkeys.list(await accounts.ownAccount(actorOf(request), collection, id)),
    })
  })
  app.post<RecordRoute>(`${PASSKEYS}/options`, async (request) => {
    const { collection, id } = request.params
    return accounts.passkeyOptions(actorOf(request), collection, id)
  })
  app.post<RecordRoute>(PASSKEYS, async (request) => {
    const { collection, id } = request.params
    accounts.itself(actorOf(request), collection, id)
    const values = await readValues(context, request, UNREADABLE)
    return shown(request, await accounts.addPasskey(actorOf(request), collection, id, values))
  })
  app.patch<PasskeyRoute>(`${PASSKEYS}/:passkey`, async (request) => {
    const { collection, id, passkey } = request.params
    const account = await accounts.ownAccount(actorOf(request), collection, id)
    return shown(request, await passkeys.rename(account, passkey, await readValues(context, request, UNREADABLE)))
  })
  app.delete<PasskeyRoute>(`${PASSKEYS}/:passkey`, async (request, reply) => {
    const { collection, id, passkey } = request.params
    await passkeys.delete(await accounts.ownAccount(actorOf(request), collection, id), passkey)
    return reply.code(204).send()
  })
}
