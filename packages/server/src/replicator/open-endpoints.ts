/**
 * The two sides of a replication as the library wants them. What is local is reached without HTTP, and nevertheless under the rules of
 * HTTP requests: the same permissions, the same guards of writes, the same filters, all with the rights of who has asked.
 */
import { PannierError } from 'pannier'
import type { Collection, CollectionSide, FetchFunction, ReplicationSide } from 'pannier'
import type { Room } from '../service/quota.ts'
import type { ServerContext } from '../couch/server-context.ts'
import { passGuards } from '../couch/write-documents.ts'
import { DESIGN_PREFIX } from '../design/design-documents.ts'
import { forbidden, ServiceError } from '../service/service-error.ts'
import type { Endpoint, LocalEndpoint, ReplicationSpec } from './replication-spec.ts'
import type { JsonObject } from '../service/documents.ts'
import { toHttpError } from '../http/http-error.ts'
import type { ChangeFilter, Refusal } from '../service/guards.ts'
import type { Principal } from '../service/principal.ts'

interface OpenEndpoints {
  readonly source: ReplicationSide
  readonly target: ReplicationSide
  dispose(): void
}

/** @throws ServiceError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND */
export async function checkAccess({ auth }: ServerContext, spec: ReplicationSpec, principal: Principal): Promise<void> {
  const locals = [spec.source, spec.target].filter((one) => 'database' in one)
  // Others must not use the server as a relay.
  if (locals.length === 0 && !principal.isAdmin) throw forbidden('Only server admins replicate between other servers.')
  for (const endpoint of locals) {
    if (endpoint === spec.target && spec.createTarget && principal.isAdmin) continue
    await auth.check(principal, 'member', endpoint.database)
  }
}

/** @throws ServiceError */
export async function openEndpoints(
  context: ServerContext,
  spec: ReplicationSpec,
  principal: Principal,
  fetch: FetchFunction,
): Promise<OpenEndpoints> {
  if (spec.createTarget && 'database' in spec.target) await createTarget(context, spec.target, principal)
  const filter = await openFilter(context, spec, principal)
  try {
    return {
      source: await openEndpoint(context, spec.source, principal, fetch, filter),
      target: await openEndpoint(context, spec.target, principal, fetch, undefined),
      dispose: () => filter?.dispose(),
    }
  } catch (error) {
    filter?.dispose()
    throw error
  }
}

async function createTarget(
  { auth, databases, updates }: ServerContext,
  target: LocalEndpoint,
  principal: Principal,
): Promise<void> {
  const { database } = target
  if ((await databases.names()).includes(database)) return
  await auth.check(principal, 'server-admin', database)
  await databases.create(database)
  updates.created(database)
}

async function openEndpoint(
  context: ServerContext,
  endpoint: Endpoint,
  principal: Principal,
  fetch: FetchFunction,
  filter: ChangeFilter | undefined,
): Promise<ReplicationSide> {
  if ('url' in endpoint) return { ...endpoint, fetch }
  const { databases, designs } = context
  const { database } = endpoint
  const collection = await databases.get(database)
  let hasDesigns = false
  let room: Room | undefined
  return {
    collection,
    around: async (write) => {
      try {
        return await databases.write(database, (_, given) => {
          room = given
          return write()
        })
      } catch (error) {
        throw asPannierError(error)
      } finally {
        // What is written next is validated by them.
        if (hasDesigns) designs.changed(collection)
        hasDesigns = false
      }
    },
    admit: async (documents) => {
      hasDesigns = documents.some(isDesign)
      const admitted = (await room?.admit(documents)) ?? documents
      return admit(context, database, collection, admitted, principal)
    },
    accept: filter === undefined ? undefined : (documents) => filter.accepts(documents),
  } satisfies CollectionSide
}

async function admit(
  context: ServerContext,
  database: string,
  collection: Collection<JsonObject>,
  documents: readonly JsonObject[],
  principal: Principal,
): Promise<(JsonObject | PannierError)[]> {
  const outcomes = await passGuards(context, { principal, database, collection, documents, newEdits: false })
  return outcomes.map((outcome) => (outcome instanceof Error ? refusal(outcome) : outcome))
}

async function openFilter(
  context: ServerContext,
  { source, filter, parameters = {} }: ReplicationSpec,
  principal: Principal,
): Promise<ChangeFilter | undefined> {
  if (filter === undefined || 'url' in source) return undefined
  if (filter === '_design') {
    return { accepts: async (documents) => documents.map(isDesign), dispose: () => {} }
  }
  const { database } = source
  const collection = await context.databases.get(database)
  const reader = { method: 'GET', path: [database, '_changes'], query: parameters, headers: {} }
  return context.filterSource({ principal, reader, database, collection, filter, view: parameters['view'] })
}

function refusal(error: Refusal): PannierError {
  const known = toHttpError(error)
  if (known === undefined) throw error
  const { status, error: word, reason, message } = known
  return new PannierError('PANNIER_PEER_REFUSED', message, { details: { status, error: word, reason } })
}

/** What the library sees of a write that is refused as a whole. */
function asPannierError(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error
  const { status, message } = toHttpError(error)!
  if (status < 500) return refusal(error)
  return new PannierError('PANNIER_PEER_UNREACHABLE', message, { details: { status }, cause: error })
}

function isDesign({ _id }: JsonObject): boolean {
  return typeof _id === 'string' && _id.startsWith(DESIGN_PREFIX)
}
