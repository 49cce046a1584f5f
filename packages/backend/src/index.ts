/** `@pannier/backend`: the domain of the server, without HTTP. */
export type { Actor, RequestInfo } from './access/actor.ts'
export { openBackend } from './backend.ts'
export type { Backend, BackendOptions, Records } from './backend.ts'
export type { BackupHost, BackupInfo, Backups } from './backups/backups.ts'
export type { Definition } from './definitions/definition.ts'
export type { Download, DownloadOptions, Files } from './files/files.ts'
export { DatabasePool } from './fleet/database-pool.ts'
export type { BorrowedDatabase, DatabasePoolOptions } from './fleet/database-pool.ts'
export type { CollectionAdministration } from './gateway/collection-administration.ts'
export type { Gateway } from './gateway/gateway.ts'
export type { GuardedCollection } from './gateway/guarded-collection.ts'
export type {
  GuardedChange,
  GuardedDocuments,
  GuardedWrite,
  Judge,
  Refusal,
  StoredDocuments,
  Write,
  WriteGuard,
} from './gateway/guards.ts'
export type { ImportedRow, ImportedRows, ImportProblem, Imports } from './imports/imports.ts'
export type { Realtime } from './events/realtime.ts'
export type { Channel, RealtimeMessage, Subscriber } from './events/subscriber.ts'
export { LOG_LEVELS } from './gateway/log-entry.ts'
export type { LogEntry, LogWriter } from './gateway/log-entry.ts'
export { GUEST, SYSTEM } from './gateway/principal.ts'
export type { Principal } from './gateway/principal.ts'
export type { AnyCollectionTypes, CollectionTypes, FilterParameters, HookApp, HookMail } from './hooks/hook-app.ts'
export type { AnyRecordTypes, HookRecord, RecordTypes } from './hooks/hook-record.ts'
export type { CollectionInput, FieldInput } from './definitions/definition-input.ts'
export type { FieldChanges, MigrationApp } from './migrations/migration-app.ts'
export { ServiceError } from './gateway/service-error.ts'
export type { ErrorData, FieldError, ServiceErrorCode } from './gateway/service-error.ts'
export type { LogHour, LogJson, LogPage, LogReads } from './logs/log-reads.ts'
export type { Logs } from './logs/logs.ts'
export type { Schedule, Schedules } from './schedules/schedules.ts'
export type { Report, ReportInput, ReportParameter } from './definitions/report.ts'
export type { Reports, ReportResult } from './sql/reports.ts'
export type { SqlConsole, SqlResult } from './sql/sql-console.ts'
export type { CheckState, DatabaseCheck } from './upkeep/database-check.ts'
export type { CostForAccounts, ExplainedRule, ExplainedRules, RuleProblem } from './sync/rules/explain-rules.ts'
export type { PageLimits } from './sync/feed/feed-page.ts'
export type { Pusher } from './sync/push/push.ts'
export type {
  Acknowledged,
  OwnWrite,
  PushBase,
  PushCode,
  Pushed,
  PushFiles,
  PushOutcome,
  PushTransaction,
  PushWrite,
  StoredOutcome,
} from './sync/push/push-format.ts'
export type { DeviceCollection, DeviceField, DeviceRules } from './sync/rules/device-rules.ts'
export type { PullOptions, Sync, SyncHas, SyncPage, SyncRow } from './sync/sync.ts'
export type {
  ListOptions,
  RecordInput,
  RecordJson,
  RecordPage,
  ShowOptions,
  UploadedFile,
} from './records/record-types.ts'
export type { BatchOperation } from './records/record-writes.ts'
export type { AnsweredCondition, PreviewedRecord, RulePreview, RulePreviews } from './records/rule-preview.ts'
