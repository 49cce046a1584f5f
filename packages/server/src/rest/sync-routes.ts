/** Sync by rules: `/api/sync/pull`, `/api/sync/push` and `/api/sync/lease`. docs/internals/ruled-sync.md is the contract. */
import { isObject } from 'pannier/internal'
import { ServiceError } from '@pannier/backend'
import type { Pusher, PushOutcome, SyncHas } from '@pannier/backend'
import { invalid } from '@pannier/backend/internal'
import { PACKED } from '../http/packed-answers.ts'
import { limitWrite, writeLimitOf } from '../http/request-limits.ts'
import { actorOf, checkSession } from './actor.ts'
import { batchBytesMax } from './batch-routes.ts'
import { readValues, withForm } from './form.ts'
import { MALFORMED_PUSH, readAcknowledged, readDevice, readPush } from './read-push.ts'
import { serviceRestError } from './rest-error.ts'
import type { RestRoutes } from './rest-context.ts'

const MALFORMED = 'Send an object: { "collections": { NAME: the token of the last answer, or null } }.'
const MALFORMED_LEASE = 'Send an object: { "device": ID }.'
const MALFORMED_HAS = '"has" must be an object: { NAME: "*", or { ID: the revision that the replica has } }.'
const MALFORMED_FILTERS = '"filters" must be an object: { NAME: a filter, as "done = false" }.'

export const syncRoutes: RestRoutes = (app, context) => {
  app.post('/api/sync/pull', PACKED, async (request) => {
    checkSession(request)
    const values = await readValues(context, request, MALFORMED)
    const { collections, has = {}, filters = {}, device, acknowledged, rules } = values
    if (!isObject(collections)) throw invalid(MALFORMED)
    const tokens = Object.entries(collections).map(([name, token]) => {
      if (token !== null && typeof token !== 'string') throw invalid(MALFORMED)
      return [name, token ?? undefined] as const
    })
    const options = { has: readHas(has), filters: readFilters(filters) }
    const { sync } = context.backend
    // Before the pull, so what is covered is in its state.
    const known = await sync.acknowledged(actorOf(request), ...readAcknowledged(device, acknowledged))
    const pages = await sync.pull(actorOf(request), Object.fromEntries(tokens), options)
    if (typeof rules !== 'string') return { ...known, collections: pages }
    // After the pull, so they are not older than its state.
    return { ...known, collections: pages, rules: await sync.rules(actorOf(request), Object.keys(pages), rules) }
  })
  app.post('/api/sync/lease', async (request) => {
    checkSession(request)
    const shareOf = context.backend.sync.lease(actorOf(request))
    const { device } = await readValues(context, request, MALFORMED_LEASE)
    return { share: shareOf(readDevice(device)) }
  })
  app.post('/api/sync/push', async (request) => {
    checkSession(request)
    const form = { message: MALFORMED_PUSH, bytesMax: batchBytesMax(context.backend.settings) }
    return withForm(context, request, form, async ({ values, files }) => {
      const { device, boot, transactions } = readPush(values)
      const pusher: Pusher = {
        device,
        files: new Map(Array.from(files, ([part, [file]]) => [part, file!])),
        actor: async () => {
          await request.checkAgain?.()
          return actorOf(request)
        },
        count: (principal, write) => limitWrite(context.backend, principal, write),
        limitOf: (principal, write) => writeLimitOf(context.backend, principal, write),
      }
      const { outcomes, ...answer } = await context.backend.sync.push(pusher, transactions, boot)
      return { ...answer, outcomes: outcomes.map(shownOutcome) }
    })
  })
}

function readHas(has: unknown): Readonly<Record<string, SyncHas>> {
  if (!isObject(has) || !Object.values(has).every(isHas)) throw invalid(MALFORMED_HAS)
  return has as Record<string, SyncHas>
}

function readFilters(filters: unknown): Readonly<Record<string, string>> {
  if (!isObject(filters) || !Object.values(filters).every((filter) => typeof filter === 'string'))
    throw invalid(MALFORMED_FILTERS)
  return filters as Record<string, string>
}

function isHas(has: unknown): has is SyncHas {
  return has === '*' || (isObject(has) && Object.values(has).every((rev) => typeof rev === 'string'))
}

/** An outcome with its errors as REST has them. */
function shownOutcome(outcome: PushOutcome): object {
  if (outcome.status === 'ok') return outcome
  const code = outcome.code === 'DEPENDS' ? 'CONFLICT' : outcome.code
  const { message, data } = serviceRestError(
    new ServiceError(code, outcome.message, outcome.data && { data: outcome.data }),
  )
  return { ...outcome, message, ...(outcome.data && { data }) }
}
