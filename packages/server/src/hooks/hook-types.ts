/** Types for hook files: the functions that they register with, typed by the collections. */
import type { AnyCollectionTypes, AnyRecordTypes, CollectionTypes, HookApp, HookRecord } from '@pannier/backend'
import type { HookEvents, HookHandler } from '@pannier/backend/internal'
import type { ApiError } from '../rest/api-error.ts'
import type { RecordRequestEventName, RequestEventName } from './request-events.ts'
import type { RouteEvent } from './route-event.ts'

/** A handler of a request. */
export type RouteHandler<App = HookApp> = (event: RouteEvent<App>) => unknown

/** A handler of a request that is about a record. */
type RecordRouteHandler<App> = (event: RouteEvent<App> & { readonly record: HookRecord }) => unknown

/** A record of one of these collections; of any of them if no name is given. */
type NamedRecord<All extends CollectionTypes, Name extends keyof All, More> = [Name] extends [never]
  ? HookRecord
  : HookRecord<{ readonly values: All[Name]['values']; readonly changes: All[Name]['changes'] & More }>

/** `onRecordEnrich` may show more than fields: what was set under other names. */
type CustomData<Name> = Name extends 'onRecordEnrich' ? AnyRecordTypes['changes'] : unknown

/** An event of these collections. */
type EventOf<Event, All extends CollectionTypes, Name extends keyof All, More> = {
  [Key in keyof Event]: Key extends 'app'
    ? HookApp<All>
    : Key extends 'record'
      ? NamedRecord<All, Name, More> | Extract<Event[Key], undefined>
      : Event[Key]
}

/** Names at the end choose collections. */
export type Binders<All extends CollectionTypes = AnyCollectionTypes> = {
  readonly [Name in keyof HookEvents]: <Tags extends readonly (keyof All & string)[]>(
    handler: HookHandler<EventOf<HookEvents[Name], All, Tags[number], CustomData<Name>>>,
    ...tags: Tags
  ) => void
}

/** The functions that bind handlers of requests. */
export type RequestBinders<All extends CollectionTypes = AnyCollectionTypes> = {
  readonly [Name in RequestEventName]: (
    handler: Name extends RecordRequestEventName ? RecordRouteHandler<HookApp<All>> : RouteHandler<HookApp<All>>,
    ...tags: readonly (keyof All & string)[]
  ) => void
}

/** Checks of routes: handlers that let some requests pass. */
export interface RouteChecks<App = HookApp> {
  /** Somebody has logged in: an account of one of these collections, or of any. */
  requireAuth(...collections: readonly string[]): RouteHandler<App>
  requireGuestOnly(): RouteHandler<App>
  requireSuperuserAuth(): RouteHandler<App>
}

/**
 * The argument of the function that a hook file exports. Names are those of PocketBase. `All`: the types of the
 * collections, which the server writes into `types.d.ts` beside the files.
 *
 * @example
 * import type { Hooks } from '@pannier/server'
 *
 * export default ({ onRecordCreate, routerAdd }: Hooks): void => {
 *   onRecordCreate(async (e) => {
 *     e.record.set('slug', e.record.getString('title').toLowerCase())
 *     await e.next()
 *   }, 'posts')
 *   routerAdd('GET', '/hello/{name}', (e) => e.json(200, { hello: e.request.pathValue('name') }))
 * }
 */
export interface Hooks<All extends CollectionTypes = AnyCollectionTypes> extends Binders<All>, RequestBinders<All> {
  /** Reads and writes without rules. */
  readonly app: HookApp<All>
  /** Middlewares that let some requests pass. */
  readonly apis: RouteChecks<HookApp<All>>
  /** An error with a status of its own. */
  readonly ApiError: typeof ApiError
  /** Paths as in Go: `/files/{id}`, `/assets/{path...}`. Middlewares run before the handler. */
  routerAdd(
    method: string,
    path: string,
    handler: RouteHandler<HookApp<All>>,
    ...middlewares: readonly RouteHandler<HookApp<All>>[]
  ): void
  /** Runs around every request of the API and of custom routes. */
  routerUse(handler: RouteHandler<HookApp<All>>): void
  /** `expression`: five segments, in UTC, or a macro such as `@daily`. */
  cronAdd(id: string, expression: string, run: () => unknown): void
}
