/** `@pannier/server`: CouchDB's HTTP API on a Pannier database. */
export { createServer } from './server.ts'
export type { PannierServer } from './server.ts'
export { DEFAULT_LIMITS } from './http/server-options.ts'
export type { ServerLimits, ServerOptions } from './http/server-options.ts'
export { HttpError } from './http/http-error.ts'
export type { ChangeFilter, FilterRequest, FilterSource, GuardedWrite, Needs, User, WriteGuard } from './http/seams.ts'
export type { ServerContext } from './couch/server-context.ts'
