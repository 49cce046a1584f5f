/** Questions of superusers about the database: its figures, a check of it, statements of SQL, plans of lists. */
import type { CheckState, SqlResult } from '@pannier/backend'
import type { Plan } from './couchdb.ts'
import { couchText, request } from './request.ts'

export function checkState(signal: AbortSignal): Promise<CheckState> {
  return request('GET', '/check', { signal })
}

/** Starts a check, and does not wait for its end. */
export function startCheck(): Promise<void> {
  return request('POST', '/check')
}

export function cancelCheck(): Promise<void> {
  return request('DELETE', '/check')
}

/** Runs SQL: one statement or several. @throws ApiError with what SQLite has said */
export function runSql(query: string): Promise<SqlResult> {
  return request('POST', '/sql', { body: { query } })
}

interface ListPlan {
  readonly isExact: boolean
  readonly plan: Plan
}

export function explainList(collection: string, filter: string, sort: string): Promise<ListPlan> {
  return request('GET', `/collections/${encodeURIComponent(collection)}/explain`, { query: { filter, sort } })
}

/** The figures of this moment, in the format of Prometheus. */
export function readMetrics(signal: AbortSignal): Promise<string> {
  return couchText('GET', '/metrics', { signal })
}
