/** Routes of the settings, for superusers: `/api/settings`. */
import { actorOf, checkSuperuser } from './actor.ts'
import { readValues, withForm } from './form.ts'
import type { RestRoutes } from './rest-context.ts'
import { shown } from './shown.ts'

const UNREADABLE = 'An error occurred while loading the submitted data.'

export const settingsRoutes: RestRoutes = (app, context) => {
  const { accounts, files, settings } = context.backend
  app.get('/api/settings', async (request) => {
    checkSuperuser(request)
    return shown(request, settings.show(request.principal))
  })
  app.patch('/api/settings', (request) => {
    checkSuperuser(request)
    return withForm(context, request, { message: UNREADABLE }, async ({ values }) =>
      shown(request, await settings.update(request.principal, values)),
    )
  })
  app.post('/api/settings/test/email', async (request, reply) => {
    checkSuperuser(request)
    await accounts.sendTestMail(actorOf(request), await readValues(context, request, UNREADABLE))
    return reply.code(204).send()
  })
  app.post('/api/settings/test/s3', async (request, reply) => {
    checkSuperuser(request)
    const { filesystem } = await readValues(context, request, UNREADABLE)
    await files.test(actorOf(request), filesystem)
    return reply.code(204).send()
  })
}
