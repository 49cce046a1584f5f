/** The settings of the server. Secrets are written, and never shown. */
import type { Backend } from '@pannier/backend'
import { request } from './request.ts'

export type RateLimitRule = Backend['settings']['values']['rateLimits']['rules'][number]

/** As the server shows them: objects of numbers, texts, truths and lists. */
export type Settings = Readonly<Record<string, unknown>>

export function readSettings(signal: AbortSignal): Promise<Settings> {
  return request('GET', '/settings', { signal })
}

/** Changes settings; settings that are left out stay. @throws ApiError with the errors in the form of the settings */
export function changeSettings(changes: Settings): Promise<Settings> {
  return request('PATCH', '/settings', { body: changes })
}

interface TestMail {
  readonly email: string
  /** The collection whose templates are used. */
  readonly collection: string
  readonly template: string
}

/** Resolves when the mail server has taken it. @throws ApiError with what the mail server has said */
export function sendTestMail(mail: TestMail): Promise<void> {
  return request('POST', '/settings/test/email', { body: mail })
}

/** Writes a file there and deletes it. @throws ApiError with what the store has said */
export function testBucket(filesystem: 'storage' | 'backups'): Promise<void> {
  return request('POST', '/settings/test/s3', { body: { filesystem } })
}
