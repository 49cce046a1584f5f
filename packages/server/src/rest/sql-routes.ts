/** Statements of SQL, for superusers: `/api/sql`. */
import { ServiceError } from '@pannier/backend'
import { checkSuperuser } from './actor.ts'
import { readValues } from './form.ts'
import type { RestRoutes } from './rest-context.ts'

const UNREADABLE = 'An error occurred while loading the submitted data.'

export const sqlRoutes: RestRoutes = (app, context) => {
  app.post('/api/sql', async (request) => {
    checkSuperuser(request)
    const { query } = await readValues(context, request, UNREADABLE)
    const statements = query ?? ''
    if (typeof statements !== 'string') throw new ServiceError('INVALID', UNREADABLE)
    return context.backend.sql.run(request.principal, statements)
  })
}
