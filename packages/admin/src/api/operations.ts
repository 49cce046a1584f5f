/** Backups, scheduled jobs, and what the server says of itself. */
import type { BackupInfo, Schedule } from '@pannier/backend'
import { fileToken } from './files.ts'
import { apiUrl, request } from './request.ts'

interface Health {
  /** False while a backup is made or restored, and where the server has no folder. */
  readonly canBackup: boolean
  /** The address that the server sees the page at. */
  readonly realIP: string
  /** A header that a proxy seems to send. */
  readonly possibleProxyHeader: string
}

export function listBackups(signal: AbortSignal): Promise<readonly BackupInfo[]> {
  return request('GET', '/backups', { signal })
}

/** Makes a backup. Resolves when it is complete. An empty name: the server makes one. @throws ApiError */
export function makeBackup(name: string): Promise<void> {
  return request('POST', '/backups', { body: { name } })
}

export function uploadBackup(file: File): Promise<void> {
  const form = new FormData()
  form.set('file', file)
  return request('POST', '/backups/upload', { body: form })
}

export async function backupUrl(key: string): Promise<string> {
  return apiUrl(`/backups/${encodeURIComponent(key)}`, { token: await fileToken() })
}

/** Resolves when the backup was checked. The server starts again then. */
export function restoreBackup(key: string): Promise<void> {
  return request('POST', `/backups/${encodeURIComponent(key)}/restore`)
}

export function deleteBackup(key: string): Promise<void> {
  return request('DELETE', `/backups/${encodeURIComponent(key)}`)
}

export function listJobs(signal: AbortSignal): Promise<readonly Schedule[]> {
  return request('GET', '/crons', { signal })
}

/** Starts a job, and does not wait for its end. */
export function runJob(id: string): Promise<void> {
  return request('POST', `/crons/${encodeURIComponent(id)}`)
}

export async function health(signal?: AbortSignal): Promise<Health> {
  const answer = await request<{ data: Health }>('GET', '/health', signal === undefined ? {} : { signal })
  return answer.data
}
