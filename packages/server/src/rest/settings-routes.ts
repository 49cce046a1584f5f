/** What superusers set: `/api/settings`. */
import { checkSuperuser } from './actor.ts'
import { withForm } from './form.ts'
import type { RestRoutes } from './rest-context.ts'
import { shown } from './shown.ts'

const UNREADABLE = 'An error occurred while loading the submitted data.'

export const settingsRoutes: RestRoutes = (app, context) => {
  const { settings } = context.backend
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
}
