/** As much of PouchDB's own packages, which have no types, as the adapter uses. */
declare module 'pouchdb-errors' {
  export interface ErrorKind {
    readonly status: number
    readonly name: string
    readonly message: string
    readonly error: true
  }

  export interface PouchError extends Error {
    readonly status: number
    readonly error: true
    reason?: string
    docId?: unknown
    id?: unknown
  }

  export const BAD_ARG: ErrorKind
  export const BAD_REQUEST: ErrorKind
  export const DOC_VALIDATION: ErrorKind
  export const INVALID_REV: ErrorKind
  export const MISSING_BULK_DOCS: ErrorKind
  export const MISSING_DOC: ErrorKind
  export const MISSING_STUB: ErrorKind
  export const NOT_AN_OBJECT: ErrorKind
  export const REV_CONFLICT: ErrorKind
  export const UNKNOWN_ERROR: ErrorKind
  export function createError(kind: ErrorKind, reason?: string): PouchError
}

declare module 'pouchdb-utils' {
  export function clone<T>(value: T): T
  export function filterChange(options: object): (change: object) => boolean | Error
  export function guardedConsole(method: 'error' | 'warn', ...parts: unknown[]): void
  export function invalidIdError(id: unknown): asserts id is string
  export function nextTick(run: () => void): void
  export function rev(document: object, isDeterministic: boolean): string
  export function uuid(): string
}

declare module 'pouchdb-collate' {
  export function collate(left: unknown, right: unknown): number
}

declare module 'pouchdb-selector-core' {
  export function matchesSelector(document: object, selector: object): boolean
  export function parseField(field: string): string[]
}
