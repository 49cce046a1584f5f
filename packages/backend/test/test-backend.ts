/** A backend in memory. Its clock stands still until a test moves it. */
import { open, type Database } from 'pannier'
import { memory } from 'pannier/memory'
import { virtualEnvironment, type VirtualEnvironment } from 'pannier/testing'
import { Passwords } from '../src/accounts/passwords.ts'
import { openBackend, type Backend, type BackendOptions } from '../src/backend.ts'
import type { LogEntry } from '../src/gateway/log-entry.ts'
import { IN_THREAD } from './test-model.ts'

export interface TestBackend extends AsyncDisposable {
  readonly environment: VirtualEnvironment
  readonly database: Database
  readonly backend: Backend
  /** What an operator was shown. */
  readonly printed: LogEntry[]
  /** Closes both. */
  close(): Promise<void>
}

/** What its wall clock shows at first. */
export const START_MS: number = Date.UTC(2026, 10, 22, 12)

/** Makes hashes as a backend does. */
export const passwords: Passwords = new Passwords(virtualEnvironment())

export async function openTestBackend(options: BackendOptions = {}): Promise<TestBackend> {
  const environment = virtualEnvironment({ startMs: START_MS })
  const database = await open('test', { storage: memory(), environment })
  const printed: LogEntry[] = []
  const print = (entry: LogEntry): void => void printed.push(entry)
  const backend = await openBackend(database, { print, modelHome: IN_THREAD, ...options })
  const close = async (): Promise<void> => {
    await backend.close()
    await database.close()
  }
  return { environment, database, backend, printed, close, [Symbol.asyncDispose]: close }
}
