/** The entry of a log about an application. */
import type { JsonObject } from './documents.ts'

/** As PocketBase numbers them. */
export const LOG_LEVELS = { debug: -4, info: 0, warn: 4, error: 8 } as const

/** An entry of the log: something that has happened. */
export interface LogEntry {
  /** A level of `LOG_LEVELS`; `info` when left out. */
  readonly level?: number
  /** The event, in a line. */
  readonly message: string
  /** JSON. It must have no secrets. */
  readonly data?: JsonObject
}

/** A writer of logs, which takes what happens. It never waits and never throws. */
export interface LogWriter {
  /** Logs an entry some time later. */
  write(entry: LogEntry): void
}

/** The text of a thrown value, in a line. */
export function errorText(error: unknown): string {
  return error instanceof Error ? String(error) : `${JSON.stringify(error)} was thrown.`
}

/** A thrown value, and where it was thrown, for the data of an entry. */
export function errorFacts(error: unknown): { readonly error: string; readonly stack?: string } {
  const stack = error instanceof Error && error.stack !== undefined ? { stack: error.stack } : {}
  return { error: errorText(error), ...stack }
}
