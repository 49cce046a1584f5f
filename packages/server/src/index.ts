/** `@pannier/server`: a Pannier database behind PocketBase's REST and CouchDB's HTTP API. */
export { createServer } from './server.ts'
export type { ListenOptions, PannierServer } from './server.ts'
export type {
  ApplicationOptions,
  CouchOptions,
  HttpOptions,
  RestartReason,
  ServerOptions,
  SharedStorage,
} from './server-options.ts'
export type { RequestOptions } from './http/app.ts'
export type { AuthOptions } from './auth/auth.ts'
export type { AcmeOptions, CertificateFiles, HttpsOptions } from './tls/https-options.ts'
export type { Needs } from './http/declarations.ts'
export { DEFAULT_LIMITS } from './http/server-limits.ts'
export type { ServerLimits } from './http/server-limits.ts'
export type { ReplicatorOptions } from './replicator/replicator-options.ts'
export { DatabasePool, GUEST, SYSTEM, ServiceError } from '@pannier/backend'
export type {
  BorrowedDatabase,
  CollectionAdministration,
  DatabasePoolOptions,
  Gateway,
  GuardedChange,
  GuardedCollection,
  GuardedDocuments,
  GuardedWrite,
  Judge,
  Principal,
  Refusal,
  ServiceErrorCode,
  StoredDocuments,
  Write,
  WriteGuard,
} from '@pannier/backend'
export type {
  CollectionInput,
  FieldChanges,
  FieldInput,
  HookApp,
  HookRecord,
  MigrationApp,
  ReportInput,
  ReportParameter,
  UploadedFile,
} from '@pannier/backend'
export type { Hooks, RouteHandler } from './hooks/hook-types.ts'
export type { RouteEvent } from './hooks/route-event.ts'
export { ApiError } from './rest/api-error.ts'
