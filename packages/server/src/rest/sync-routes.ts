/** Sync by rules: `/api/sync/pull`. docs/internals/ruled-sync.md is the contract. */
import type { SyncHas } from '@pannier/backend'
import { invalid, isJsonObject } from '@pannier/backend/internal'
import { actorOf } from './actor.ts'
import { readValues } from './form.ts'
import type { RestRoutes } from './rest-context.ts'

const MALFORMED = 'Send an object: { "collections": { NAME: the token of the last answer, or null } }.'
const MALFORMED_HAS = '"has" must be an object: { NAME: "*", or { ID: the revision that the replica has } }.'

export const syncRoutes: RestRoutes = (app, context) => {
  app.post('/api/sync/pull', async (request) => {
    const { collections, has = {} } = await readValues(context, request, MALFORMED)
    if (!isJsonObject(collections)) throw invalid(MALFORMED)
    const tokens = Object.entries(collections).map(([name, token]) => {
      if (token !== null && typeof token !== 'string') throw invalid(MALFORMED)
      return [name, token ?? undefined] as const
    })
    const options = { has: readHas(has) }
    return { collections: await context.backend.sync.pull(actorOf(request), Object.fromEntries(tokens), options) }
  })
}

function readHas(has: unknown): Readonly<Record<string, SyncHas>> {
  if (!isJsonObject(has) || !Object.values(has).every(isHas)) throw invalid(MALFORMED_HAS)
  return has as Record<string, SyncHas>
}

function isHas(has: unknown): has is SyncHas {
  return has === '*' || (isJsonObject(has) && Object.values(has).every((rev) => typeof rev === 'string'))
}
