/**
 * The two sides of a replication as the library wants them. What is local is reached without HTTP, and nevertheless under the rules of
 * HTTP requests: the same permissions, the same guards of writes, the same filters, all with the rights of who has asked.
 */
import type { FastifyRequest } from 'fastify'
import { PannierError } from 'pannier'
import type { Collection, CollectionSide, FetchFunction, ReplicationSide } from 'pannier'
import { isServerAdmin } from '../auth/permissions.ts'
import type { Room } from '../couch/quota.ts'
import type { ServerContext } from '../couch/server-context.ts'
import { passGuards } from '../couch/write-documents.ts'
import { DESIGN_PREFIX } from '../design/design-documents.ts'
import { HttpError } from '../http/http-error.ts'
import type { JsonObject } from '../http/request-body.ts'
import type { ChangeFilter, User } from '../http/seams.ts'
import type { Endpoint, LocalEndpoint, ReplicationSpec } from './replication-spec.ts'

export interface Sides {
  readonly source: ReplicationSide
  readonly target: ReplicationSide
  dispose(): void
}

/** @throws HttpError 401, 403, 404 */
export async function checkAccess({ auth }: ServerContext, spec: ReplicationSpec, user: User): Promise<void> {
  const locals = [spec.source, spec.target].filter((one) => 'database' in one)
  // Others must not use the server as a relay.
  if (locals.length === 0 && !isServerAdmin(user))
    throw new HttpError(403, 'forbidden', 'Only server admins replicate between other servers.')
  for (const endpoint of locals) {
    if (endpoint === spec.target && spec.createTarget && isServerAdmin(user)) continue
    await auth.check(user, 'member', endpoint.database)
  }
}

/** @throws HttpError */
export async function openSides(
  context: ServerContext,
  spec: ReplicationSpec,
  user: User,
  fetch: FetchFunction,
): Promise<Sides> {
  if (spec.createTarget && 'database' in spec.target) await createTarget(context, spec.target, user)
  const filter = await openFilter(context, spec, user)
  try {
    return {
      source: await sideOf(context, spec.source, user, fetch, filter),
      target: await sideOf(context, spec.target, user, fetch, undefined),
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
  user: User,
): Promise<void> {
  const { database } = target
  if ((await databases.names()).includes(database)) return
  await auth.check(user, 'server-admin', database)
  await databases.create(database)
  updates.created(database)
}

async function sideOf(
  context: ServerContext,
  endpoint: Endpoint,
  user: User,
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
      return admit(context, database, collection, admitted, user)
    },
    accept: filter === undefined ? undefined : (documents) => filter.accepts(documents),
  } satisfies CollectionSide
}

async function admit(
  context: ServerContext,
  database: string,
  collection: Collection<JsonObject>,
  documents: readonly JsonObject[],
  user: User,
): Promise<(JsonObject | PannierError)[]> {
  const request = actingAs(user, 'POST', database, '_bulk_docs', {})
  const outcomes = await passGuards(context, { request, database, collection, documents, newEdits: false })
  return outcomes.map((outcome) => (outcome instanceof HttpError ? refusal(outcome) : outcome))
}

async function openFilter(
  context: ServerContext,
  { source, filter, parameters = {} }: ReplicationSpec,
  user: User,
): Promise<ChangeFilter | undefined> {
  if (filter === undefined || 'url' in source) return undefined
  if (filter === '_design') {
    return { accepts: async (documents) => documents.map(isDesign), dispose: () => {} }
  }
  const { database } = source
  const collection = await context.databases.get(database)
  const request = actingAs(user, 'GET', database, '_changes', parameters)
  return context.filterSource({ request, database, collection, filter, view: parameters['view'] })
}

/** What guards and filters see of a request, of one that nobody has sent. */
function actingAs(user: User, method: string, database: string, path: string, query: object): FastifyRequest {
  const url = `/${encodeURIComponent(database)}/${path}`
  return { user, method, url, query, headers: {}, params: { db: database } } as unknown as FastifyRequest
}

function refusal({ status, error, reason }: HttpError): PannierError {
  return new PannierError('PANNIER_PEER_REFUSED', `${error}: ${reason}`, { details: { status, error, reason } })
}

function asPannierError(error: unknown): unknown {
  if (!(error instanceof HttpError)) return error
  const { status, error: word, reason } = error
  if (status < 500) return refusal(error)
  return new PannierError('PANNIER_PEER_UNREACHABLE', `${word}: ${reason}`, { details: { status }, cause: error })
}

function isDesign({ _id }: JsonObject): boolean {
  return typeof _id === 'string' && _id.startsWith(DESIGN_PREFIX)
}
