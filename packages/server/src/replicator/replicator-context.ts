/** The parts of the server that replications need. */
import type { Database } from 'pannier'
import type { Environment } from 'pannier/types'
import type { Auth } from '../auth/auth.ts'
import type { DatabaseUpdates, Databases, FilterSource, Fleet, ServerState } from '@pannier/backend/internal'
import type { ActiveTasks } from './tasks.ts'
import type { Gateway } from '@pannier/backend'

export interface ReplicatorContext {
  readonly environment: Environment
  readonly database: Database
  readonly fleet: Fleet
  /** For `_replicator`, which the server itself follows. */
  readonly databases: Databases
  readonly gateway: Gateway
  readonly auth: Pick<Auth, 'delegated' | 'check'>
  readonly state: ServerState
  readonly tasks: ActiveTasks
  readonly updates: DatabaseUpdates
  readonly filterSource: FilterSource
  /** Aborted when the server is being closed. */
  readonly closing: AbortSignal
}
