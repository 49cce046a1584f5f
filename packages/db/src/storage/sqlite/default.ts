/** Where `open` puts a database in Node unless told otherwise; chosen by `imports` of package.json as `#default-storage`. */
import type { Storage } from '../page-store.ts'
import { sqlite } from './sqlite.ts'

export function defaultStorage(): Storage {
  return sqlite()
}
