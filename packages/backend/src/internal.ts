/** What the server puts together: `@pannier/backend/internal`. It may change with every version. */
export type { AskedBy } from './accounts/asked-account.ts'
export { appleClientSecret } from './accounts/oauth2/apple-client-secret.ts'
export { HASH_QUEUE_LIMITS, HashQueue } from './accounts/hash-queue.ts'
export type { HashQueueLimits } from './accounts/hash-queue.ts'
export type { NewOneTimePassword } from './accounts/one-time-passwords.ts'
export { checkNewPassword, PASSWORD_CHARS_MIN, Passwords } from './accounts/passwords.ts'
export type { HalfLoggedIn, LoggedIn } from './accounts/logins.ts'
export type { AuthDefinition } from './definitions/definition.ts'
export { HOOK_DECLARATIONS_MARK } from './definitions/hook-declarations.ts'
export { listProviders } from './definitions/oauth2-providers.ts'
export {
  checkUnused,
  completeRestore,
  DATABASE_FILES,
  isRestoreReady,
  prepareRestore,
  restoreInto,
} from './backups/restore.ts'
export { fileBytes } from './backups/backup-folder.ts'
export type { RestoreOptions } from './backups/restore.ts'
export { presentDefinition } from './definitions/present-definition.ts'
export { toTexts } from './fields/cast.ts'
export { BLANK, fieldError, sentence, tooLong } from './fields/field-errors.ts'
export { aloneIn } from './fleet/fleet.ts'
export type { Fleet } from './fleet/fleet.ts'
export { openFleet } from './fleet/shared-fleet.ts'
export { Windows } from './fleet/windows.ts'
export type { ChangeFilter, FilterRequest, FilterSource } from './gateway/change-filter.ts'
export { DatabaseUpdates } from './gateway/database-updates.ts'
export { collectionName, Databases } from './gateway/databases.ts'
export type { KnownDefinitions } from './access/rule-records.ts'
export { HOOK_NAMES } from './hooks/hook-events.ts'
export type { HookEvents, HookName } from './hooks/hook-events.ts'
export type { PlacedHandler } from './hooks/hook-log.ts'
export type { BoundHook, HookHandler } from './hooks/hooks.ts'
export { recordOfEvent, requestEvent } from './hooks/request-event.ts'
export type { RequestEvent } from './hooks/request-event.ts'
export { Suspended } from './hooks/suspended.ts'
export { migrationApp } from './migrations/migration-app.ts'
export { addMigration, migrationNames } from './migrations/migration-folder.ts'
export { noteApplied } from './migrations/migration-history.ts'
export { blankMigration, changeMigration, snapshotMigration } from './migrations/migration-text.ts'
export {
  applyMigrations,
  forgetMissing,
  lastMigrations,
  pendingMigrations,
  revertMigrations,
} from './migrations/run-migrations.ts'
export type { MigrationFile } from './migrations/run-migrations.ts'
export { changeWhole, isUnfinishedCopy } from './migrations/whole-file.ts'
export { cronProblem } from './schedules/cron-expression.ts'
export { Settings } from './settings/settings.ts'
export { programOfProcess, startThread } from './gateway/programs.ts'
export { isJsonObject, isLocalId } from './gateway/documents.ts'
export type { JsonObject } from './gateway/documents.ts'
export { Gateway } from './gateway/gateway.ts'
export { GuardChain } from './gateway/guard-chain.ts'
export { Quota } from './gateway/quota.ts'
export type { AccessRules } from './gateway/gateway.ts'
export { callAll } from './gateway/listeners.ts'
export { GuardedCollection } from './gateway/guarded-collection.ts'
export type { ReadableView, ReadScope } from './gateway/guarded-collection.ts'
export type { GuardedOutcome } from './gateway/guarded-writer.ts'
export { asInvalid, conflicting, forbidden, invalid, missing } from './gateway/service-error.ts'
export { ServerState, STATE_COLLECTION } from './gateway/state.ts'
export type { StateStore } from './gateway/state.ts'
export { ActiveTasks } from './gateway/tasks.ts'
export type { ActiveTask } from './gateway/tasks.ts'
export type { LogDocument } from './logs/logs.ts'
export { BatchError } from './records/batch-error.ts'
export { randomText } from './gateway/chance.ts'
export { fieldPicker } from './records/read/pick-fields.ts'
