/** `@pannier/server`: CouchDB's HTTP API on a Pannier database. */
export { createServer } from './server.ts'
export type { ListenOptions, PannierServer } from './server.ts'
export type { ServerOptions } from './server-options.ts'
export type { AuthOptions } from './auth/auth.ts'
export type { NewAdmin } from './auth/bootstrap.ts'
export type { Needs } from './http/declarations.ts'
export { DEFAULT_LIMITS } from './http/server-limits.ts'
export type { ServerLimits } from './http/server-limits.ts'
export type { ReplicatorOptions } from './replicator/replicator-options.ts'
export type { CollectionAdministration } from './service/collection-administration.ts'
export type { Gateway } from './service/gateway.ts'
export type { GuardedCollection } from './service/guarded-collection.ts'
export type {
  GuardedChange,
  GuardedDocuments,
  GuardedWrite,
  Judge,
  Refusal,
  StoredDocuments,
  Write,
  WriteGuard,
} from './service/guards.ts'
export { GUEST, SYSTEM } from './service/principal.ts'
export type { Principal } from './service/principal.ts'
export { ServiceError } from './service/service-error.ts'
export type { ServiceErrorCode } from './service/service-error.ts'
