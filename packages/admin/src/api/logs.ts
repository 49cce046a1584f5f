/** The logs of the server. */
import { request } from './request.ts'

export interface Log {
  readonly id: string
  /** The time of creation, `2026-11-22 15:04:49.813Z`. */
  readonly created: string
  readonly message: string
  /** The level: -4 debug, 0 info, 4 warning, 8 error. */
  readonly level: number
  readonly data: Readonly<Record<string, unknown>>
}

interface LogPage {
  readonly items: readonly Log[]
  readonly totalItems: number
}

interface LogHour {
  /** The begin of the hour. */
  readonly date: string
  readonly total: number
}

/** Lists logs, the newest first. */
export function listLogs(filter: string, perPage: number, signal?: AbortSignal): Promise<LogPage> {
  const query = { filter, perPage, sort: '-created,-id' }
  return request('GET', '/logs', { query, ...(signal !== undefined && { signal }) })
}

export function viewLog(id: string): Promise<Log> {
  return request('GET', `/logs/${encodeURIComponent(id)}`)
}

/** Hours that have logs, the first one first. */
export function countLogs(filter: string, signal: AbortSignal): Promise<readonly LogHour[]> {
  return request('GET', '/logs/stats', { query: { filter }, signal })
}

export function deleteLogs(): Promise<void> {
  return request('DELETE', '/logs')
}
