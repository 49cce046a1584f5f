/** What replications need from the server. */
import type { Database } from 'pannier'
import type { Auth } from '../auth/auth.ts'
import type { FilterSource } from '../service/change-filter.ts'
import type { DatabaseUpdates } from '../service/database-updates.ts'
import type { Databases } from '../service/databases.ts'
import type { Gateway } from '../service/gateway.ts'
import type { ServerState } from '../service/state.ts'
import type { ActiveTasks } from '../service/tasks.ts'

export interface ReplicatorContext {
  readonly database: Database
  /** For `_replicator`, which the server itself follows. */
  readonly databases: Databases
  readonly gateway: Gateway
  readonly auth: Pick<Auth, 'accounts' | 'check'>
  readonly state: ServerState
  readonly tasks: ActiveTasks
  readonly updates: DatabaseUpdates
  readonly filterSource: FilterSource
  /** Aborted when the server is being closed. */
  readonly closing: AbortSignal
}
