/** The logs of the server. */
import type { LogHour, LogJson, LogPage } from '@pannier/backend'
import { request } from './request.ts'

/** Lists logs, the newest first. */
export function listLogs(filter: string, perPage: number, signal?: AbortSignal): Promise<LogPage> {
  const query = { filter, perPage, sort: '-created,-id' }
  return request('GET', '/logs', { query, ...(signal !== undefined && { signal }) })
}

export function viewLog(id: string): Promise<LogJson> {
  return request('GET', `/logs/${encodeURIComponent(id)}`)
}

/** Hours that have logs, the first one first. */
export function countLogs(filter: string, signal: AbortSignal): Promise<readonly LogHour[]> {
  return request('GET', '/logs/stats', { query: { filter }, signal })
}

export function deleteLogs(): Promise<void> {
  return request('DELETE', '/logs')
}
