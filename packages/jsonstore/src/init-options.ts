/** The options of `init`, checked. */
import { isObject } from 'pannier/internal'
import { failure, toJSONStoreError, USERNAME_DEFAULT } from './errors.ts'
import { parseSearchSchema } from './search-fields.ts'
import type { SearchFieldType, SearchSchema } from './search-fields.ts'
import type { AdapterOptions } from './adapter.ts'
import type { SyncOptions } from './sync.ts'
import type { CallbackOptions } from './call.ts'

/** The declaration of a collection: its search fields and its adapter. */
export interface CollectionConfig {
  /** The fields of queries: paths (`address.city`, also through arrays) and types. */
  readonly searchFields?: Readonly<Record<string, SearchFieldType>> | undefined
  /** Fields whose values are not in the documents, but are given with them to `add`. */
  readonly additionalSearchFields?: Readonly<Record<string, SearchFieldType>> | undefined
  /** For `push` and `load`. */
  readonly adapter?: AdapterOptions | undefined
  /** For `sync`. */
  readonly sync?: SyncOptions | undefined
  /** Empties the collection first; its search fields may then be others. */
  readonly dropCollection?: boolean | undefined
}

/** Options of `init`. */
export interface InitOptions extends CallbackOptions {
  /** Each user has a store of their own; `jsonstore` when left out. */
  readonly username?: string | undefined
  /** Encrypts the whole store. */
  readonly password?: string | undefined
  /** False: the store is not made before the app's `secureRandom` has answered. */
  readonly localKeyGen?: boolean | undefined
  /** Forgets the accessors that there are; documents stay. */
  readonly clear?: boolean | undefined
  /** As in `CollectionConfig`, of all collections that are named. */
  readonly dropCollection?: boolean | undefined
  /** The iterations of PBKDF2, without effect: Pannier chooses, and raises it with time. */
  readonly pbkdf2Iterations?: number | undefined
  /** Analytics, without effect. */
  readonly analytics?: boolean | undefined
  /** Whether FIPS is enabled, without effect; deprecated by JSONStore. */
  readonly fipsEnabled?: boolean | undefined
}

/** A collection as it was declared, checked. */
export interface CollectionDeclaration {
  readonly name: string
  readonly schema: SearchSchema
  readonly config: CollectionConfig
}

export interface ParsedCollection extends CollectionDeclaration {
  readonly drop: boolean
}

const USERNAMES_RESERVED = /^(?:jsonstore|jsonstorekey|dpk)/i

/** The collections of `init`. A value that is no object has no collections. */
export function parseCollections(collections: unknown, options: InitOptions): readonly ParsedCollection[] {
  if (!isObject(collections)) return []
  return Object.entries(collections).map(([name, given]) => parseCollection(name, given, options))
}

/** Failures have the name of the collection. */
export function parseCollection(name: unknown, given: unknown, options: InitOptions): ParsedCollection {
  if (typeof name !== 'string' || !/^[a-z][a-z0-9]*$/i.test(name))
    throw failure('BAD_PARAMETER_EXPECTED_ALPHANUMERIC_STRING', { given: name, col: String(name) })
  if (!isObject(given)) throw failure('BAD_PARAMETER_EXPECTED_OBJECT', { col: name })
  const config = given as CollectionConfig
  try {
    const schema = parseSearchSchema(config.searchFields ?? {}, config.additionalSearchFields ?? {})
    return { name, schema, config, drop: config.dropCollection === true || options.dropCollection === true }
  } catch (error) {
    throw toJSONStoreError(error, { col: name }, 'UNKNOWN_FAILURE')
  }
}

/** The name of a user who opens a store; that of the store without a name is no user's. */
export function parseUsername(username: unknown): string {
  if (username === undefined || username === null) return USERNAME_DEFAULT
  if (typeof username !== 'string' || !/^[a-z0-9]+$/i.test(username) || USERNAMES_RESERVED.test(username))
    throw failure('INVALID_USERNAME')
  return username
}

/** Any text that is not empty: that it be alphanumeric was never enforced by devices. */
export function parsePassword(password: unknown): string {
  if (typeof password !== 'string' || password === '')
    throw failure('INVALID_PASSWORD_EXPECTED_ALPHANUMERIC_STRING_WITH_LENGTH_GREATER_THAN_ZERO')
  return password
}
