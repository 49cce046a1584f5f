/**
 * What JSONStore is made of, row by row, and what stands for each row: cases name the rows that they are about, and the codes that
 * they bring about. A row or a code that no case names fails the suite.
 */
import { CheckError } from 'pannier/testing'
import type { DatabaseStorage } from 'pannier'
import { createJSONStore, JSONStoreError } from '../src/index.ts'
import type { JSONStoreApi, JSONStoreCollection, JSONStoreSettings } from '../src/index.ts'

/** Functions of the store, and `syncOptions`. */
const FUNCTIONS = [
  'init',
  'get',
  'closeAll',
  'destroy',
  'changePassword',
  'startTransaction',
  'commitTransaction',
  'rollbackTransaction',
  'fileInfo',
  'getErrorMessage',
  'QueryPart',
  'documentify',
  'initCollection',
  'usePassword',
  'clearPassword',
  'syncOptions',
]

/** What `init` is told. */
const INIT_INPUTS = [
  'init: collection name',
  'init: searchFields',
  'init: additionalSearchFields',
  'init: searchFields through arrays',
  'init: changed searchFields',
  'init: username',
  'init: password',
  'init: localKeyGen',
  'init: pbkdf2Iterations',
  'init: clear',
  'init: dropCollection',
  'init: analytics',
  'init: fipsEnabled',
  'init: adapter',
  'init: sync',
]

/** Of a collection. */
export const METHODS: readonly string[] = [
  'add',
  'find',
  'findAll',
  'findById',
  'advancedFind',
  'count',
  'replace',
  'remove',
  'change',
  'getAllDirty',
  'getPushRequired',
  'isDirty',
  'isPushRequired',
  'countAllDirty',
  'pushRequiredCount',
  'markClean',
  'push',
  'pushSelected',
  'load',
  'sync',
  'clear',
  'removeCollection',
  'enhance',
  'store',
  'erase',
  'refresh',
  'toString',
]

export const QUERY_PARTS: readonly string[] = [
  'like',
  'notLike',
  'leftLike',
  'notLeftLike',
  'rightLike',
  'notRightLike',
  'equal',
  'notEqual',
  'lessThan',
  'lessOrEqualThan',
  'greaterThan',
  'greaterOrEqualThan',
  'between',
  'notBetween',
  'inside',
  'notInside',
]

const OTHERS = [
  'option exact',
  'option limit',
  'option offset',
  'option filter',
  'option sort',
  'booleans are 1 and 0',
  'error object',
  'events',
  'promises: then, done, fail, always',
  'callbacks: onSuccess, onFailure',
  'quirk: ids of findById and removed documents',
  'quirk: ERROR_CLEARING_COLLECTION is 26',
  'quirk: change does not pair rows by position',
]

export const ROWS: readonly string[] = [...FUNCTIONS, ...INIT_INPUTS, ...METHODS, ...QUERY_PARTS, ...OTHERS]

/** Codes that nothing here can fail with, and why. */
export const NEVER_GIVEN: ReadonlyMap<number, string> = new Map([
  [-48, 'rolling back forgets what was only in memory'],
  [-40, 'there is no FIPS mode to be switched on'],
  [-4, 'keys are in the database, and go with it'],
  [13, 'its functions give 10, as JSONStore does'],
])

export interface Case {
  readonly name: string
  readonly rows: readonly string[]
  /** Those that the case has to bring about. */
  readonly codes?: readonly number[]
  readonly run: (lab: Lab) => Promise<void>
}

/** What a case works with: stores over one storage, which can be made to fail. */
export class Lab {
  /** Codes that were seen. */
  readonly codes: Set<number> = new Set()
  readonly faults: Faults
  readonly #name: string
  readonly #stores: JSONStoreApi[] = []

  constructor(storage: DatabaseStorage, name: string) {
    this.faults = new Faults(storage)
    this.#name = name
  }

  /** A store as another start of the app has it. */
  store(settings: JSONStoreSettings = {}): JSONStoreApi {
    const store = createJSONStore({ name: this.#name, storage: this.faults, ...settings })
    this.#stores.push(store)
    return store
  }

  /** The name of a user's database; without a user that of the list of users. */
  databaseName(username?: string): string {
    return username === undefined ? this.#name : `${this.#name}-${username}`
  }

  /** Waits for the failure, which has to have this code. */
  async fails(work: PromiseLike<unknown>, code: number): Promise<JSONStoreError> {
    try {
      await work
    } catch (error) {
      return this.failed(error, code)
    }
    throw new CheckError(`expected a failure with code ${code}, but nothing failed`)
  }

  failed(error: unknown, code: number): JSONStoreError {
    if (!(error instanceof JSONStoreError)) throw error
    if (error.err !== code) throw new CheckError(`expected code ${code}, got ${error.err} (${error.msg})`)
    this.codes.add(code)
    return error
  }

  /** What `initCollection` gives if its arguments are right. */
  accessor<T extends object>(given: JSONStoreCollection<T> | number): JSONStoreCollection<T> {
    if (typeof given === 'number') throw new CheckError(`expected an accessor, got code ${given}`)
    return given
  }

  /** A code that is given back. */
  gives(actual: unknown, code: number): void {
    if (actual !== code) throw new CheckError(`expected code ${code}, got ${String(actual)}`)
    this.codes.add(code)
  }

  async end(): Promise<void> {
    this.faults.fails = undefined
    for (const store of this.#stores) {
      await store.rollbackTransaction().catch(() => {})
      await store.closeAll().catch(() => {})
    }
    await this.store().destroy()
  }
}

/** A storage that passes everything on until it is told to fail. */
export class Faults implements DatabaseStorage {
  readonly kind: string
  readonly scope: DatabaseStorage['scope']
  /** Throws for the calls that are to fail. */
  fails: ((call: string, database: string) => void) | undefined
  readonly #inner: DatabaseStorage

  constructor(inner: DatabaseStorage) {
    this.#inner = inner
    this.kind = inner.kind
    this.scope = inner.scope
  }

  identify(name: string): string {
    return this.#inner.identify(name)
  }

  has(name: string): Promise<boolean | undefined> {
    return this.#inner.has(name)
  }

  async open(name: string): Promise<Awaited<ReturnType<DatabaseStorage['open']>>> {
    this.fails?.('open', name)
    const store = await this.#inner.open(name)
    return new Proxy(store, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property)
        if (typeof value !== 'function') return value
        return (...parameters: unknown[]): unknown => {
          this.fails?.(String(property), name)
          return Reflect.apply(value, target, parameters)
        }
      },
    })
  }

  async destroy(name: string): Promise<void> {
    this.fails?.('destroy', name)
    await this.#inner.destroy(name)
  }
}
