/** A collection: what `init` and `get` give. */
import { isObject } from 'pannier/internal'
import { defaultInvoke, loadDocuments, pushDocument } from './adapter.ts'
import type { AdapterOptions, InvokeProcedure } from './adapter.ts'
import { call, callbacksOf, notify, report } from './call.ts'
import type { CallbackOptions } from './call.ts'
import type { CodeName } from './codes.ts'
import { parseQueries, parseQueryParts } from './conditions.ts'
import type { SearchQuery } from './conditions.ts'
import { CODES } from './codes.ts'
import { countDirty, dirtyDocuments, isDirty, markClean, parseClean } from './dirty.ts'
import type { CleanDocument } from './dirty.ts'
import { failure, JSONStoreError, toJSONStoreError } from './errors.ts'
import { countDocuments, findDocuments, findKeys } from './find.ts'
import { parseFindOptions, resultOf } from './find-options.ts'
import type { FindOptions } from './find-options.ts'
import type { CollectionConfig, CollectionDeclaration } from './init-options.ts'
import type { JSONStorePromise } from './promise.ts'
import type { QueryConditions, QueryPartConditions, QueryValue } from './query-part.ts'
import type { SearchSchema } from './search-fields.ts'
import type { Access, Session } from './session.ts'
import { idKey, isId, toDocument } from './stored-document.ts'
import type { DirtyDocument, JsonObject, JSONStoreDocument } from './stored-document.ts'
import { toArray } from './values.ts'
import { addDocuments, changeDocuments, parseCriteria, removeDocuments, replaceDocuments, toJson } from './writes.ts'
import type { NewDocument, Replacement, Target } from './writes.ts'

/** Values by search fields, as `find` takes them. */
export type SearchCriteria = Readonly<Record<string, QueryValue>>

/** Options of writes. */
export interface WriteOptions extends CallbackOptions {
  /** False: the change is not pushed. True by default, except for `change`. */
  readonly markDirty?: boolean | undefined
  /** Another name of `markDirty`, deprecated by JSONStore. */
  readonly push?: boolean | undefined
}

/** Options of `add`. */
export interface AddOptions extends WriteOptions {
  /** Values of additional search fields, for all documents of this call. */
  readonly additionalSearchFields?: Readonly<Record<string, unknown>> | undefined
}

/** Options of `remove`. */
export interface RemoveOptions extends WriteOptions {
  /** Whether it is exact, as for `find`. */
  readonly exact?: boolean | undefined
}

/** Options of `change`. */
export interface ChangeOptions extends CallbackOptions {
  /** Adds what replaces nothing. False when left out. */
  readonly addNew?: boolean | undefined
  /** False: the changes are not marked as dirty. */
  readonly markDirty?: boolean | undefined
  /** The search fields in which a document equals the one that it replaces. */
  readonly replaceCriteria?: readonly string[] | undefined
}

/** A collection of the store that is open. */
export interface OpenCollection {
  readonly session: Session
  /** As the collection is stored; another user's may have other search fields than an accessor of before. */
  readonly schema: SearchSchema
}

/** The part of a store that its collections need. */
export interface CollectionHost {
  /** Throws PERSISTENT_STORE_NOT_OPEN if no store, or no collection of that name, is open. */
  open(name: string): OpenCollection
  readonly events: EventTarget | undefined
  readonly invokeProcedure: InvokeProcedure | undefined
  readonly log: (text: string) => void
  readonly fetch: typeof fetch | undefined
  clear(name: string): Promise<void>
  remove(name: string): Promise<void>
}

/** The result of `toString`. */
export interface CollectionListing<T extends object = JsonObject> {
  /** The collection and its first documents. */
  readonly collection: {
    readonly name: string
    readonly username: string
    readonly searchFields: Readonly<Record<string, string>>
    readonly additionalSearchFields: SearchSchema['additionalSearchFields']
  }
  /** Missing with a limit of 0. */
  readonly docs?: JSONStoreDocument<T>[]
}

/** The argument of `push`: documents or their ids. */
export type PushTarget<T extends object = JsonObject> =
  | JSONStoreDocument<T>
  | number
  | readonly (JSONStoreDocument<T> | number)[]

const TO_STRING_LIMIT = 100

/** A collection of a store. */
export class JSONStoreCollection<T extends object = JsonObject> {
  /** The name of the collection. */
  readonly name: string
  /** The user whose store it was opened in. */
  readonly username: string
  /** Resolves once the collection is open: with 0 if it was made, with 1 if it was there. */
  promise: JSONStorePromise<number>
  #schema: SearchSchema
  #config: CollectionConfig
  readonly #host: CollectionHost

  /** @internal Use `init` or `get`. */
  constructor(
    { name, schema, config }: CollectionDeclaration,
    username: string,
    host: CollectionHost,
    promise: JSONStorePromise<number>,
  ) {
    this.name = name
    this.username = username
    this.promise = promise
    this.#schema = schema
    this.#config = config
    this.#host = host
  }

  /** @internal Declares it again: it is opened once more, with another adapter perhaps. */
  redeclare({ schema, config }: CollectionDeclaration, promise: JSONStorePromise<number>): void {
    this.#schema = schema
    this.#config = config
    this.promise = promise
  }

  /** The adapter as it was declared. */
  get adapter(): AdapterOptions | undefined {
    return this.#config.adapter
  }

  /** The search fields, by lower-case names. */
  get searchFields(): SearchSchema['searchFields'] {
    return this.#schema.searchFields
  }

  /** Search fields that are not part of the documents, with their types. */
  get additionalSearchFields(): SearchSchema['additionalSearchFields'] {
    return this.#schema.additionalSearchFields
  }

  /**
   * Adds one document or several, all or nothing. Resolves with their number.
   *
   * @example
   * await JSONStore.get('people')!.add({ name: 'Ann', age: 31 }, { additionalSearchFields: { team: 'blue' } })
   */
  add(data: T | readonly T[], options?: AddOptions | null): JSONStorePromise<number> {
    return this.#add(data, options, isMarked(options, true))
  }

  /**
   * Documents that match all fields of the query, or of one of several; none of no queries. A value matches where it is contained, whatever
   * its case; with `exact` where it is equal.
   */
  find(
    query: SearchCriteria | readonly SearchCriteria[],
    options?: FindOptions | null,
  ): JSONStorePromise<JSONStoreDocument<T>[]> {
    return this.#find('find', options, (exact) => {
      const parsed = parseQueries(this.#schema, query, exact)
      return parsed.length === 0 ? undefined : parsed
    })
  }

  /** All documents. */
  findAll(options?: FindOptions | null): JSONStorePromise<JSONStoreDocument<T>[]> {
    return this.#find('find', options, () => [])
  }

  /** Finds the documents that have these ids, in the order of ids. */
  findById(
    ids: number | readonly number[],
    options?: CallbackOptions | null,
  ): JSONStorePromise<JSONStoreDocument<T>[]> {
    return this.#call('findById', options, () => {
      const wanted = toArray(ids)
      if (wanted.length === 0 || !wanted.every((id) => Number.isSafeInteger(id)))
        throw failure('INVALID_PARAMETER_FOR_FIND_BY_ID', { given: ids })
      const keys = [...new Set(wanted)]
        .filter(isId)
        .sort((left, right) => left - right)
        .map(idKey)
      return this.#read(async (access) => {
        const found = await access(this.name).get(keys)
        return found.flatMap((one) => (one === undefined ? [] : toDocument(one))) as JSONStoreDocument<T>[]
      })
    })
  }

  /**
   * Documents that match one of the query parts.
   *
   * @example
   * await JSONStore.get('people')!.advancedFind([JSONStore.QueryPart().like('name', 'ann').lessThan('age', 30)], { sort: [{ age: 'desc' }] })
   */
  advancedFind(
    parts: QueryPartConditions | QueryConditions | readonly (QueryPartConditions | QueryConditions)[],
    options?: FindOptions | null,
  ): JSONStorePromise<JSONStoreDocument<T>[]> {
    return this.#find('advancedFind', options, () => parseQueryParts(this.#schema, parts))
  }

  /**
   * The number of all documents, or of those that `find` would give. It may have callbacks, as `count({ onSuccess })`.
   */
  count(
    query?: SearchCriteria | readonly SearchCriteria[] | CallbackOptions | null,
    options?: (Pick<FindOptions, 'exact'> & CallbackOptions) | null,
  ): JSONStorePromise<number> {
    const callbacks = callbacksOf(query)
    return this.#call('count', { ...callbacks, ...options }, () => {
      const asked = isObject(query)
        ? Object.fromEntries(Object.entries(query).filter(([name]) => !Object.hasOwn(callbacks, name)))
        : (query ?? {})
      const parsed = parseQueries(this.#schema, asked, options?.exact === true)
      return this.#read((access) => countDocuments(access(this.name), parsed))
    })
  }

  /**
   * Replaces documents by those with the same `_id`, all or nothing. Additional search fields keep their values. Resolves with the
   * number of documents; a failure (-11) has those that are not there as `doc`.
   */
  replace(
    documents: JSONStoreDocument<T> | readonly JSONStoreDocument<T>[],
    options?: WriteOptions | null,
  ): JSONStorePromise<number> {
    return this.#replace(documents, options, isMarked(options, true))
  }

  /** Removes documents, given by themselves, by their ids or by queries. Resolves with the number of those that were there. */
  remove(
    target: RemoveTarget<T> | readonly RemoveTarget<T>[],
    options?: RemoveOptions | null,
  ): JSONStorePromise<number> {
    return this.#remove(target, options, isMarked(options, true))
  }

  /** As `add`, and not to be pushed. */
  store(data: T | readonly T[], options?: AddOptions | null): JSONStorePromise<number> {
    return this.#add(data, options, false)
  }

  /** As `replace`, and not to be pushed. */
  refresh(
    documents: JSONStoreDocument<T> | readonly JSONStoreDocument<T>[],
    options?: WriteOptions | null,
  ): JSONStorePromise<number> {
    return this.#replace(documents, options, false)
  }

  /** As `remove`, and not to be pushed. */
  erase(
    target: RemoveTarget<T> | readonly RemoveTarget<T>[],
    options?: RemoveOptions | null,
  ): JSONStorePromise<number> {
    return this.#remove(target, options, false)
  }

  /** Replaces documents by those that equal them in all criteria, and adds others if wanted. Resolves with the number of both. */
  change(data: readonly T[], options?: ChangeOptions | null): JSONStorePromise<number> {
    return this.#call('change', options, () => {
      if (!Array.isArray(data) || !data.every(isObject))
        throw failure('BAD_PARAMETER_EXPECTED_ARRAY_OF_OBJECTS', { doc: data })
      const { addNew = false, markDirty = false, replaceCriteria } = options ?? {}
      const criteria = parseCriteria(this.#schema, replaceCriteria)
      const json = data.map(toJson)
      return this.#write((access, target) => changeDocuments(access, target, json, { addNew, markDirty, criteria }))
    })
  }

  /** Documents that were added, replaced and removed and are not pushed yet, in that order. */
  getAllDirty(options?: CallbackOptions | null): JSONStorePromise<DirtyDocument<T>[]> {
    return this.getPushRequired(options)
  }

  /** Another name of `getAllDirty`. */
  getPushRequired(options?: CallbackOptions | null): JSONStorePromise<DirtyDocument<T>[]> {
    return this.#call('getPushRequired', options, () => this.#dirty())
  }

  /** Whether the document has changes that were not pushed. */
  isDirty(document: JSONStoreDocument<T> | number, options?: CallbackOptions | null): JSONStorePromise<boolean> {
    return this.isPushRequired(document, options)
  }

  /** Another name of `isDirty`. */
  isPushRequired(document: JSONStoreDocument<T> | number, options?: CallbackOptions | null): JSONStorePromise<boolean> {
    return this.#call('isPushRequired', options, () => {
      const id = isObject(document) ? document['_id'] : document
      if (!isId(id)) throw failure('BAD_PARAMETER_EXPECTED_DOCUMENT_OR_ARRAY_OF_DOCUMENTS', { doc: document })
      return this.#read((access) => isDirty(access, this.name, id))
    })
  }

  /** How many documents are dirty. */
  countAllDirty(options?: CallbackOptions | null): JSONStorePromise<number> {
    return this.pushRequiredCount(options)
  }

  /** Another name of `countAllDirty`. */
  pushRequiredCount(options?: CallbackOptions | null): JSONStorePromise<number> {
    return this.#call('pushRequiredCount', options, () => this.#read((access) => countDirty(access, this.name)))
  }

  /** Marks documents of `getAllDirty` as pushed, unless they were changed since. Resolves with their number. */
  markClean(documents: readonly CleanDocument[], options?: CallbackOptions | null): JSONStorePromise<number> {
    return this.#call('markClean', options, () => {
      const clean = parseClean(documents)
      return this.#write((access) => markClean(access, this.name, clean))
    })
  }

  /**
   * Hands dirty documents to the adapter, one by one: all, or the given documents or ids. Resolves with the failures.
   * Calls `onSuccess` with 0 for each pushed document, or once if nothing was dirty, and `onFailure` with the code of
   * each failure.
   */
  push(
    target?: PushTarget<T> | CallbackOptions | null,
    options?: CallbackOptions | null,
  ): JSONStorePromise<JSONStoreError[]> {
    const isTarget = Array.isArray(target) || typeof target === 'number' || isDocument(target)
    return this.#push(isTarget ? toArray(target as PushTarget<T>) : undefined, isTarget ? options : target)
  }

  /** As `push`, for these documents alone; those that are not dirty are ignored. */
  pushSelected(
    documents: JSONStoreDocument<T> | readonly JSONStoreDocument<T>[],
    options?: CallbackOptions | null,
  ): JSONStorePromise<JSONStoreError[]> {
    return this.#push(isObject(documents) || Array.isArray(documents) ? toArray(documents) : [documents], options)
  }

  /** Stores what the adapter has, not to be pushed. Resolves with the number of documents. */
  load(options?: CallbackOptions | null): JSONStorePromise<number> {
    return this.#call('load', options, async () => {
      this.#host.open(this.name)
      const loaded = await loadDocuments(this.#adapter(), this.#invoke)
      const added = loaded.map((json): NewDocument => ({ json: toJson(json), additional: {} }))
      return this.#write((access, target) => addDocuments(access, target, added, false))
    })
  }

  /**
   * Exchanges changes with a CouchDB database, as `sync` in the collection's configuration says. Resolves with the numbers of documents
   * that came and went.
   */
  sync(options?: CallbackOptions | null): JSONStorePromise<{ readonly received: number; readonly sent: number }> {
    return this.#call('sync', options, async () => {
      const { synchronise } = await import('./sync.ts')
      const opened = this.#host.open(this.name)
      return synchronise(opened.session, this.#target(opened), this.#config.sync, this.#host.fetch)
    })
  }

  /** Removes all documents; new ids continue after the old ones. */
  clear(options?: CallbackOptions | null): JSONStorePromise<number> {
    return this.#call(
      'clear',
      options,
      async () => {
        await this.#host.clear(this.name)
        return CODES.SUCCESS
      },
      'ERROR_CLEARING_COLLECTION',
    )
  }

  /** Takes the collection with its search fields; `init` makes it again. */
  removeCollection(options?: CallbackOptions | null): JSONStorePromise<number> {
    return this.#call('removeCollection', options, async () => {
      await this.#host.remove(this.name)
      return CODES.SUCCESS
    })
  }

  /**
   * Gives this collection a further function, for which `this` is the collection.
   *
   * @returns 0, or a code: 2 and 3 for wrong arguments, 14 if JSONStore has a function of that name.
   */
  enhance(name: string, enhancement: (this: JSONStoreCollection<T>, ...parameters: never[]) => unknown): number {
    if (typeof name !== 'string') return CODES.BAD_PARAMETER_EXPECTED_STRING
    if (typeof enhancement !== 'function') return CODES.BAD_PARAMETER_EXPECTED_FUNCTION
    if (name in JSONStoreCollection.prototype || OWN_PROPERTIES.has(name))
      return CODES.CAN_NOT_REPLACE_DEFAULT_FUNCTIONS
    Object.defineProperty(this, name, { value: enhancement, configurable: true, enumerable: true })
    return CODES.SUCCESS
  }

  /**
   * Logs the collection and documents of it, and resolves with both: the first 100, or `limit` after `offset`. A
   * negative limit means the newest. A wrong limit or offset is ignored. It never rejects: it resolves with an error.
   */
  toString(limit?: number, offset?: number): JSONStorePromise<CollectionListing<T>> {
    return this.#call('toString', undefined, async () => {
      const { name, username, searchFields, additionalSearchFields } = this
      const collection = { name, username, searchFields: { ...searchFields, _id: 'number' }, additionalSearchFields }
      if (limit === 0 && offset === undefined) return { collection }
      const isGiven = limit !== undefined || offset !== undefined
      const found = await this.findAll(isGiven ? listingOptions(limit, offset) : { limit: TO_STRING_LIMIT })
      this.#host.log(`${name}: ${JSON.stringify(found)}`)
      return { collection, docs: found }
    }).then(undefined, (error: unknown) => {
      this.#host.log(`${this.name}: ${String(error)}`)
      return error as CollectionListing<T>
    })
  }

  #call<R>(src: string, options: unknown, work: () => R | Promise<R>, storageFailure?: CodeName): JSONStorePromise<R> {
    const { events } = this.#host
    const site = { src, col: this.name, usr: this.username, events, ...(storageFailure && { storageFailure }) }
    return call(site, options, work)
  }

  #read<R>(read: (access: Access) => Promise<R>): Promise<R> {
    return this.#host.open(this.name).session.read(read)
  }

  #write<R>(write: (access: Access, target: Target) => Promise<R>): Promise<R> {
    const opened = this.#host.open(this.name)
    const target = this.#target(opened)
    return opened.session.write((access) => write(access, target))
  }

  #target({ session, schema }: OpenCollection): Target {
    return { name: this.name, schema, dirtyNow: () => session.dirtyNow() }
  }

  /** `parse` gives undefined for a query that nothing can match. */
  #find(
    src: string,
    options: unknown,
    parse: (exact: boolean) => SearchQuery | undefined,
  ): JSONStorePromise<JSONStoreDocument<T>[]> {
    return this.#call(src, options, () => {
      const parsed = parseFindOptions(this.#schema, options)
      const query = parse(parsed.exact)
      if (query === undefined) return []
      return this.#read(async (access) => {
        const found = await findDocuments(access(this.name), query, parsed)
        return found.map((one) => resultOf(parsed, one)) as JSONStoreDocument<T>[]
      })
    })
  }

  #add(data: unknown, options: AddOptions | null | undefined, markDirty: boolean): JSONStorePromise<number> {
    return this.#call('store', options, () => {
      const additional = this.#additionalOf(options?.additionalSearchFields)
      const added = toArray(data).map((one): NewDocument => {
        if (!isObject(one)) throw failure('BAD_PARAMETER_EXPECTED_DOCUMENT_OR_ARRAY_OF_DOCUMENTS', { doc: one })
        return { json: toJson(one), additional }
      })
      return this.#write((access, target) => addDocuments(access, target, added, markDirty))
    })
  }

  #replace(documents: unknown, options: unknown, markDirty: boolean): JSONStorePromise<number> {
    const work = (): Promise<number> => {
      const list = toArray(documents)
      if (!list.every(isDocument))
        throw failure('BAD_PARAMETER_EXPECTED_DOCUMENT_OR_ARRAY_OF_DOCUMENTS', { doc: documents })
      const replacements = list.map(({ _id, json }) => ({ _id, json: toJson(json) }))
      return this.#write((access, target) => replaceDocuments(access, target, replacements, markDirty))
    }
    return this.#call('replace', options, work, 'JSON_STORE_REPLACE_DOCUMENTS_FAILURE')
  }

  #remove(target: unknown, options: RemoveOptions | null | undefined, markDirty: boolean): JSONStorePromise<number> {
    const work = (): Promise<number> => {
      const parse = (one: unknown): number | SearchQuery => {
        const id = isObject(one) && ('json' in one || Object.keys(one).length === 1) ? (one['_id'] ?? one) : one
        if (isId(id)) return id
        if (!isObject(one) || 'json' in one)
          throw failure('BAD_PARAMETER_EXPECTED_DOCUMENT_OR_ARRAY_OF_DOCUMENTS', { doc: one })
        return parseQueries(this.#schema, one, options?.exact === true)
      }
      const targets = toArray(target).map(parse)
      return this.#write(async (access, written) => {
        const keys: string[] = []
        for (const one of targets)
          if (typeof one === 'number') keys.push(idKey(one))
          else keys.push(...(await findKeys(access(this.name), one)))
        return removeDocuments(access, written, keys, markDirty)
      })
    }
    return this.#call('remove', options, work, 'JSON_STORE_REMOVE_WITH_QUERIES_FAILURE')
  }

  #dirty(): Promise<DirtyDocument<T>[]> {
    return this.#read((access) => dirtyDocuments(access, this.name)) as Promise<DirtyDocument<T>[]>
  }

  #adapter(): AdapterOptions {
    const { adapter } = this.#config
    if (!isObject(adapter) || typeof adapter['name'] !== 'string') throw failure('NO_ADAPTER_LINKED_TO_COLLECTION')
    return adapter as unknown as AdapterOptions
  }

  get #invoke(): InvokeProcedure {
    return this.#host.invokeProcedure ?? defaultInvoke
  }

  /** The dirty documents; all of them without targets. */
  #push(targets: readonly unknown[] | undefined, options: unknown): JSONStorePromise<JSONStoreError[]> {
    const { onSuccess, onFailure } = callbacksOf(options)
    const promise = this.#call('push', undefined, async () => {
      const adapter = this.#adapter()
      const ids = targets === undefined ? undefined : pushedIds(targets)
      const dirty = await this.#dirty().catch((cause: unknown) => {
        throw cause instanceof JSONStoreError ? cause : failure('FAILED_TO_GET_UNPUSHED_DOCUMENTS_FROM_DB', { cause })
      })
      const chosen = ids === undefined ? dirty : dirty.filter(({ _id }) => ids.has(_id))
      const failures: JSONStoreError[] = []
      for (const document of chosen) {
        const error = await this.#pushOne(adapter, document)
        if (error !== undefined) failures.push(error)
        notify(() => (error === undefined ? onSuccess?.(CODES.SUCCESS) : onFailure?.(error.err, error)))
      }
      if (chosen.length === 0) notify(() => onSuccess?.(CODES.SUCCESS))
      return failures
    })
    if (onFailure !== undefined) void promise.fail((error) => report(onFailure, error as JSONStoreError))
    return promise
  }

  async #pushOne(adapter: AdapterOptions, document: DirtyDocument<T>): Promise<JSONStoreError | undefined> {
    try {
      await pushDocument(adapter, this.#invoke, document as unknown as DirtyDocument)
      await this.#write((access) => markClean(access, this.name, [document])).catch((cause: unknown) => {
        throw failure('COULD_NOT_MARK_DOCUMENT_PUSHED', { doc: document, cause })
      })
      return undefined
    } catch (error) {
      const facts = { src: 'push', col: this.name, usr: this.username }
      return toJSONStoreError(error, facts, 'PERSISTENT_STORE_FAILURE')
    }
  }

  #additionalOf(given: unknown): Readonly<Record<string, unknown>> {
    if (given === undefined) return {}
    if (!isObject(given)) throw failure('BAD_PARAMETER_EXPECTED_OBJECT', { given })
    return Object.fromEntries(
      Object.entries(given).map(([name, value]) => {
        const field = name.toLowerCase()
        if (!Object.hasOwn(this.#schema.additionalSearchFields, field))
          throw failure('INVALID_ADD_INDEX_KEY', { given: name })
        return [field, value]
      }),
    )
  }
}

/** A document, an id, or a query. */
export type RemoveTarget<T extends object = JsonObject> =
  | JSONStoreDocument<T>
  | { readonly _id: number }
  | SearchCriteria
  | number

/** Properties of the class's objects that are not on its prototype. */
const OWN_PROPERTIES: ReadonlySet<string> = new Set(['name', 'username', 'promise'])

function isMarked(options: WriteOptions | null | undefined, otherwise: boolean): boolean {
  return options?.markDirty ?? options?.push ?? otherwise
}

function isDocument(one: unknown): one is Replacement {
  return isObject(one) && isId(Number(one['_id'] ?? NaN)) && isObject(one['json'])
}

function pushedIds(targets: readonly unknown[]): ReadonlySet<number> {
  return new Set(
    targets.map((one) => {
      if (isId(one)) return one
      if (isDocument(one)) return Number(one._id)
      const name = isObject(one)
        ? 'BAD_PARAMETER_EXPECTED_DOCUMENT'
        : 'BAD_PARAMETER_EXPECTED_DOCUMENT_OR_ARRAY_OF_DOCUMENTS'
      throw failure(name, { doc: one })
    }),
  )
}

function listingOptions(limit: unknown, offset: unknown): FindOptions {
  if (!Number.isSafeInteger(limit)) return {}
  const isOffset = Number.isSafeInteger(offset) && (offset as number) >= 0 && (limit as number) > 0
  return { limit: limit as number, ...(isOffset && { offset: offset as number }) }
}
