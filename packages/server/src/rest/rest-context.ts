/** The context that the routes of PocketBase's API share. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Backend } from '@pannier/backend'
import type { BodyStore } from '../http/body-store.ts'
import type { ServerLimits } from '../http/server-limits.ts'

/** Routes and middlewares of the operator. */
export interface RequestRoutes {
  /** Whether a route of the operator answers the request. */
  has(request: FastifyRequest): boolean
  /** Runs what is around a request as far as the request. True: it has been answered. */
  enter(request: FastifyRequest, reply: FastifyReply): boolean | Promise<boolean>
  /** Whether something runs around a request, and waits for its end. */
  isAround(request: FastifyRequest): boolean
  /** Runs the rest of that. */
  leave(request: FastifyRequest): void | Promise<void>
  /** Answers a request that no route of the API is about. False: no route of the operator either. */
  handle(request: FastifyRequest, reply: FastifyReply): Promise<boolean>
}

export interface RestContext {
  readonly backend: Backend
  /** Where uploaded files wait. */
  readonly bodies: BodyStore
  readonly limits: ServerLimits
  /** Origins whose pages may call; any if the list is empty. */
  readonly corsOrigins: readonly string[]
  readonly routes: RequestRoutes
  /** Whether the server is ready: a balancer may send requests here. */
  readonly isReady: () => Promise<boolean>
}

/** A file of routes. Their URLs begin with `/api`. */
export type RestRoutes = (app: FastifyInstance, context: RestContext) => void

/** The parameters of routes of a collection. */
export interface CollectionRoute {
  Params: { readonly collection: string }
}

/** The parameters of routes of a record. */
export interface RecordRoute {
  Params: { readonly collection: string; readonly id: string }
}

/** The options of a route that does this with a collection. */
export function tagged(...tags: readonly string[]): { readonly config: { readonly tags: readonly string[] } } {
  return { config: { tags } }
}
