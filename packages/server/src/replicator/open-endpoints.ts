/**
 * Opens the two peers of a replication for the library. Local databases are reached through the gateway, without HTTP,
 * with the rights of the replication's user.
 */
import { PannierError } from 'pannier'
import type { WriteOutcome } from 'pannier'
import type { FetchFunction, ReplicationSide } from 'pannier/types'
import { DESIGN_PREFIX } from '../design/design-documents.ts'
import { toHttpError, toReplicaError } from '../http/http-error.ts'
import { ServiceError } from '@pannier/backend'
import type { Principal } from '@pannier/backend'
import { forbidden } from '@pannier/backend/internal'
import type { ChangeFilter, GuardedOutcome, JsonObject } from '@pannier/backend/internal'
import type { Endpoint, LocalEndpoint, ReplicationSpec } from './replication-spec.ts'
import type { ReplicatorContext } from './replicator-context.ts'

interface OpenEndpoints {
  readonly source: ReplicationSide
  readonly target: ReplicationSide
  dispose(): void
}

/** @throws ServiceError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND */
export async function checkAccess(
  { auth }: ReplicatorContext,
  spec: ReplicationSpec,
  principal: Principal,
): Promise<void> {
  const locals = [spec.source, spec.target].filter((one) => 'database' in one)
  // Others must not use the server as a relay.
  if (locals.length === 0 && !principal.isAdmin) throw forbidden('Only server admins replicate between other servers.')
  for (const endpoint of locals) {
    if (endpoint === spec.target && spec.createTarget && principal.isAdmin) continue
    await auth.check(principal, 'member', endpoint.database)
  }
}

/** `current`: the principal as of now. @throws ServiceError */
export async function openEndpoints(
  context: ReplicatorContext,
  spec: ReplicationSpec,
  current: () => Principal,
  fetch: FetchFunction,
): Promise<OpenEndpoints> {
  if (spec.createTarget && 'database' in spec.target) await createTarget(context, spec.target, current())
  const filter = await openFilter(context, spec, current())
  try {
    return {
      source: await openEndpoint(context, spec.source, current, fetch, filter),
      target: await openEndpoint(context, spec.target, current, fetch, undefined),
      dispose: () => filter?.dispose(),
    }
  } catch (error) {
    filter?.dispose()
    throw error
  }
}

async function createTarget(
  { auth, gateway, updates }: ReplicatorContext,
  { database }: LocalEndpoint,
  principal: Principal,
): Promise<void> {
  if (await gateway.exists(database)) return
  await auth.check(principal, 'server-admin', database)
  await gateway.create(principal, database)
  updates.created(database)
}

async function openEndpoint(
  { gateway }: ReplicatorContext,
  endpoint: Endpoint,
  principal: () => Principal,
  fetch: FetchFunction,
  filter: ChangeFilter | undefined,
): Promise<ReplicationSide> {
  if ('url' in endpoint) return { ...endpoint, fetch }
  return gateway.replicationEnd({ principal, database: endpoint.database, filter, asOutcome, asError })
}

async function openFilter(
  context: ReplicatorContext,
  { source, filter, parameters = {} }: ReplicationSpec,
  principal: Principal,
): Promise<ChangeFilter | undefined> {
  if (filter === undefined || 'url' in source) return undefined
  if (filter === '_design') return { accepts: async (documents) => documents.map(isDesign), dispose: () => {} }
  const { database } = source
  const collection = await context.gateway.collection(principal, database)
  const reader = { method: 'GET', path: [database, '_changes'], query: parameters, headers: {} }
  return context.filterSource({ principal, reader, database, collection, filter, view: parameters['view'] })
}

/** A refusal has the same words as over HTTP. */
function asOutcome(outcome: GuardedOutcome): WriteOutcome {
  if (!('error' in outcome)) return outcome
  const { id, error } = outcome
  return { id, error: error instanceof ServiceError ? refusal(error) : error }
}

function refusal(cause: ServiceError): PannierError {
  const { status, error, reason, message } = toReplicaError(cause)
  return new PannierError('PANNIER_PEER_REFUSED', message, { details: { status, error, reason }, cause })
}

/** The library's error for a write that is refused as a whole. */
function asError(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error
  const { status, message } = toHttpError(error)!
  if (status < 500) return refusal(error)
  return new PannierError('PANNIER_PEER_UNREACHABLE', message, { details: { status }, cause: error })
}

function isDesign({ _id }: JsonObject): boolean {
  return typeof _id === 'string' && _id.startsWith(DESIGN_PREFIX)
}
