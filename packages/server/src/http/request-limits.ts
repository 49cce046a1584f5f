/** Limits of requests in a time, as the settings want them, for every door. */
import type { FastifyRequest } from 'fastify'
import type { Backend, BatchOperation, Definition, Principal, Pusher } from '@pannier/backend'
import { decoded } from './query-parameters.ts'

type CountedWrite = Pick<BatchOperation, 'action' | 'collection'>

/** The properties by which a request is counted. */
interface CountedRequest {
  /** The name or the id of the collection that it is about. */
  readonly collection: string | undefined
  /** The actions on the collection: `list`. */
  readonly tags: readonly string[]
}

/** Counts a request to a route. @throws ServiceError TOO_MANY_REQUESTS */
export function limitRate(
  request: FastifyRequest,
  { definitions, rateLimits }: Pick<Backend, 'definitions' | 'rateLimits'>,
  { collection: name, tags }: CountedRequest,
): void {
  const { method, principal, originalUrl, routeOptions } = request
  if (rateLimits.isUnlimited(principal, tags)) return
  const path = routedPath(originalUrl)
  const paths = [`${method} ${path}`, path]
  const collection = tags.length === 0 || name === undefined ? undefined : definitions.find(name)
  if (collection !== undefined)
    rateLimits.check(principal, `${collection.id} ${routeOptions.url}`, [...labelsOf(collection, tags), ...paths])
  else rateLimits.check(principal, '', [...(name === undefined ? tags.map((tag) => `*:${tag}`) : []), ...paths])
}

/** The path as it is routed: each spelling of it is one path. */
function routedPath(url: string): string {
  const path = url.split(/[?#]/, 1)[0]!
  const parts = path.split('/').filter((part, at) => part !== '' || at === 0)
  return parts.map(decoded).join('/') || '/'
}

/** Counts a write that comes with others, as it would be counted alone. @throws ServiceError TOO_MANY_REQUESTS */
export function limitWrite(backend: Backend, principal: Principal, write: CountedWrite): void {
  const counted = countedAs(backend, write)
  if (counted !== undefined) backend.rateLimits.check(principal, ...counted)
}

/** The limit that such a write counts for. */
export function writeLimitOf(
  backend: Backend,
  principal: Principal,
  write: CountedWrite,
): ReturnType<Pusher['limitOf']> {
  const counted = countedAs(backend, write)
  return counted && backend.rateLimits.ruleOf(principal, counted[1])
}

function countedAs(
  { definitions }: Backend,
  { action, collection }: CountedWrite,
): readonly [what: string, labels: readonly string[]] | undefined {
  const definition = definitions.find(collection)
  if (definition === undefined) return undefined
  const tag = action === 'upsert' ? 'create' : action
  return [`${definition.id} ${tag}`, labelsOf(definition, [tag])]
}

/** By which rules name what is done with a collection. */
function labelsOf({ name }: Pick<Definition, 'name'>, tags: readonly string[]): string[] {
  return [name, '*'].flatMap((collection) => tags.map((tag) => `${collection}:${tag}`))
}
