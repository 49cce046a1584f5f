/** Sync by rules: `/api/sync/pull`. docs/internals/ruled-sync.md is the contract. */
import { invalid, isJsonObject } from '@pannier/backend/internal'
import { actorOf } from './actor.ts'
import { readValues } from './form.ts'
import type { RestRoutes } from './rest-context.ts'

const MALFORMED = 'Send an object: { "collections": { NAME: the token of the last answer, or null } }.'

export const syncRoutes: RestRoutes = (app, context) => {
  app.post('/api/sync/pull', async (request) => {
    const { collections } = await readValues(context, request, MALFORMED)
    if (!isJsonObject(collections)) throw invalid(MALFORMED)
    const tokens = Object.entries(collections).map(([name, token]) => {
      if (token !== null && typeof token !== 'string') throw invalid(MALFORMED)
      return [name, token ?? undefined] as const
    })
    return { collections: await context.backend.sync.pull(actorOf(request), Object.fromEntries(tokens)) }
  })
}
