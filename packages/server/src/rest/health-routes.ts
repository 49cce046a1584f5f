/** `/api/health`: whether the server is there. */
import { ServiceError } from '@pannier/backend'
import type { RestRoutes } from './rest-context.ts'

/** Headers of proxies that people use. */
const PROXY_HEADERS = ['CF-Connecting-IP', 'Fly-Client-IP', 'X-Forwarded-For']

export const healthRoutes: RestRoutes = (app, { backend, isReady }) => {
  app.get('/api/health', async ({ principal, headers }) => {
    if (!(await isReady())) throw new ServiceError('UNAVAILABLE', 'The storage can not be reached.')
    const answer = { message: 'API is healthy.', code: 200, data: {} }
    if (!principal.isAdmin) return answer
    const names = [...backend.settings.values.trustedProxy.headers, ...PROXY_HEADERS]
    const possibleProxyHeader = names.find((name) => headers[name.toLowerCase()] !== undefined) ?? ''
    return {
      ...answer,
      data: { canBackup: backend.backups.canBackUp, possibleProxyHeader, realIP: principal.address ?? '' },
    }
  })
}
