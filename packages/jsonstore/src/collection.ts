/** A collection: what `init` and `get` give. */
import { defaultInvoke, loadDocuments, pushDocument } from './adapter.ts'
import type { AdapterOptions, InvokeProcedure } from './adapter.ts'
import { call } from './call.ts'
import type { CallbackOptions } from './call.ts'
import type { CodeName } from './codes.ts'
import { parseQueries, parseQueryParts } from './conditions.ts'
import type { SearchQuery } from './conditions.ts'
import { CODES } from './codes.ts'
import { countDirty, dirtyDocuments, isDirty, markClean, parseClean } from './dirty.ts'
import type { CleanDocument } from './dirty.ts'
import { failure, toJSONStoreError } from './errors.ts'
import type { JSONStoreError } from './errors.ts'
import { countDocuments, findDocuments, findKeys } from './find.ts'
import { parseFindOptions, resultOf } from './find-options.ts'
import type { FindOptions } from './find-options.ts'
import type { CollectionConfig } from './init-options.ts'
import type { JSONStorePromise } from './promise.ts'
import type { QueryConditions, QueryPartConditions, QueryValue } from './query-part.ts'
import type { SearchSchema } from './search-fields.ts'
import type { Access, Session } from './session.ts'
import { idKey, isId, toDocument } from './stored-document.ts'
import type { DirtyDocument, JsonObject, JSONStoreDocument } from './stored-document.ts'
import { isObject, toArray } from './values.ts'
import { addDocuments, changeDocuments, parseCriteria, removeDocuments, replaceDocuments, toJson } from './writes.ts'
import type { NewDocument, Target } from './writes.ts'

/** Values by search fields, as `find` takes them. */
export type SearchCriteria = Readonly<Record<string, QueryValue>>

export interface WriteOptions extends CallbackOptions {
  /** False: the change is not to be pushed. True when left out, but for `change`. */
  readonly markDirty?: boolean | undefined
  /** Another name of `markDirty`, deprecated by JSONStore. */
  readonly push?: boolean | undefined
}

export interface AddOptions extends WriteOptions {
  readonly additionalSearchFields?: Readonly<Record<string, unknown>> | undefined
}

export interface RemoveOptions extends WriteOptions {
  /** As for `find`. */
  readonly exact?: boolean | undefined
}

export interface ChangeOptions extends CallbackOptions {
  /** Adds what replaces nothing. False when left out. */
  readonly addNew?: boolean | undefined
  readonly markDirty?: boolean | undefined
  /** The search fields in which a document equals the one that it replaces. */
  readonly replaceCriteria?: readonly string[] | undefined
}

/** What a collection needs of its store. */
export interface CollectionHost {
  /** Throws PERSISTENT_STORE_NOT_OPEN if the store, or the collection, is not open. */
  session(collection: JSONStoreCollection): Session
  readonly username: string
  readonly events: EventTarget | undefined
  readonly invokeProcedure: InvokeProcedure | undefined
  readonly log: (text: string) => void
  readonly fetch: typeof fetch | undefined
  clear(collection: JSONStoreCollection): Promise<void>
  remove(collection: JSONStoreCollection): Promise<void>
}

const TO_STRING_LIMIT = 100

export class JSONStoreCollection<T extends object = JsonObject> {
  readonly name: string
  readonly #schema: SearchSchema
  readonly #config: CollectionConfig
  readonly #host: CollectionHost

  /** @internal Use `init` or `get`. */
  constructor(name: string, schema: SearchSchema, config: CollectionConfig, host: CollectionHost) {
    this.name = name
    this.#schema = schema
    this.#config = config
    this.#host = host
  }

  /** The search fields, by lower-case names. */
  get searchFields(): SearchSchema['searchFields'] {
    return this.#schema.searchFields
  }

  get additionalSearchFields(): SearchSchema['additionalSearchFields'] {
    return this.#schema.additionalSearchFields
  }

  /**
   * Adds one document or several, all or nothing. Resolves with their number.
   *
   * @example
   * await people.add({ name: 'Ann', age: 31 }, { additionalSearchFields: { team: 'blue' } })
   */
  add(data: T | readonly T[], options: AddOptions = {}): JSONStorePromise<number> {
    return this.#call('add', options, () => {
      const additional = this.#additionalOf(options.additionalSearchFields)
      const added = toArray(data).map((one): NewDocument => {
        if (!isObject(one)) throw failure('BAD_PARAMETER_EXPECTED_DOCUMENT_OR_ARRAY_OF_DOCUMENTS', { doc: one })
        return { json: toJson(one), additional }
      })
      return this.#write((access, target) => addDocuments(access, target, added, isMarked(options, true)))
    })
  }

  /**
   * Documents that match all fields of the query, or of one of several. A value matches where it is contained, whatever its case;
   * with `exact` where it is equal.
   */
  find(
    query?: SearchCriteria | readonly SearchCriteria[],
    options?: FindOptions,
  ): JSONStorePromise<JSONStoreDocument<T>[]> {
    return this.#find('find', options, (exact) => parseQueries(this.#schema, query, exact))
  }

  findAll(options?: FindOptions): JSONStorePromise<JSONStoreDocument<T>[]> {
    return this.#find('findAll', options, () => [])
  }

  /** Those of the ids that there are, in the order of ids. */
  findById(ids: number | readonly number[], options: CallbackOptions = {}): JSONStorePromise<JSONStoreDocument<T>[]> {
    return this.#call('findById', options, () => {
      const wanted = toArray(ids)
      if (!wanted.every((id) => Number.isSafeInteger(id)))
        throw failure('INVALID_PARAMETER_FOR_FIND_BY_ID', { doc: ids })
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
   * await people.advancedFind([QueryPart().like('name', 'ann').lessThan('age', 30)], { sort: [{ age: 'desc' }] })
   */
  advancedFind(
    parts: QueryPartConditions | QueryConditions | readonly (QueryPartConditions | QueryConditions)[],
    options?: FindOptions,
  ): JSONStorePromise<JSONStoreDocument<T>[]> {
    return this.#find('advancedFind', options, () => parseQueryParts(this.#schema, parts))
  }

  /** Of all documents, or of those that `find` would give. */
  count(
    query?: SearchCriteria | readonly SearchCriteria[],
    options: Pick<FindOptions, 'exact'> & CallbackOptions = {},
  ): JSONStorePromise<number> {
    return this.#call('count', options, () => {
      const parsed = parseQueries(this.#schema, query, options.exact === true)
      return this.#read((access) => countDocuments(access(this.name), parsed))
    })
  }

  /**
   * Replaces documents by those with the same `_id`, all or nothing. Additional search fields keep their values. Resolves with the
   * number of documents; a failure (-11) has those that are not there as `doc`.
   */
  replace(
    documents: JSONStoreDocument<T> | readonly JSONStoreDocument<T>[],
    options: WriteOptions = {},
  ): JSONStorePromise<number> {
    return this.#replace('replace', documents, options, isMarked(options, true))
  }

  /** Removes documents, given by themselves, by their ids or by queries. Resolves with the number of those that were there. */
  remove(target: RemoveTarget<T> | readonly RemoveTarget<T>[], options: RemoveOptions = {}): JSONStorePromise<number> {
    return this.#remove('remove', target, options, isMarked(options, true))
  }

  /** As `add`, and not to be pushed. */
  store(data: T | readonly T[], options: AddOptions = {}): JSONStorePromise<number> {
    return this.add(data, { ...options, markDirty: false })
  }

  /** As `replace`, and not to be pushed. */
  refresh(
    documents: JSONStoreDocument<T> | readonly JSONStoreDocument<T>[],
    options: WriteOptions = {},
  ): JSONStorePromise<number> {
    return this.#replace('refresh', documents, options, false)
  }

  /** As `remove`, and not to be pushed. */
  erase(target: RemoveTarget<T> | readonly RemoveTarget<T>[], options: RemoveOptions = {}): JSONStorePromise<number> {
    return this.#remove('erase', target, options, false)
  }

  /** Replaces documents by those that equal them in all criteria, and adds others if wanted. Resolves with the number of both. */
  change(data: readonly T[], options: ChangeOptions = {}): JSONStorePromise<number> {
    return this.#call('change', options, () => {
      if (!Array.isArray(data) || !data.every(isObject))
        throw failure('BAD_PARAMETER_EXPECTED_ARRAY_OF_OBJECTS', { doc: data })
      const { addNew = false, markDirty = false, replaceCriteria } = options
      const criteria = parseCriteria(this.#schema, replaceCriteria)
      const json = data.map(toJson)
      return this.#write((access, target) => changeDocuments(access, target, json, { addNew, markDirty, criteria }))
    })
  }

  /** What was added, replaced and removed and is not pushed yet, in that order. */
  getAllDirty(options: CallbackOptions = {}): JSONStorePromise<DirtyDocument<T>[]> {
    return this.#call('getAllDirty', options, () => this.#dirty())
  }

  /** Another name of `getAllDirty`. */
  getPushRequired(options: CallbackOptions = {}): JSONStorePromise<DirtyDocument<T>[]> {
    return this.#call('getPushRequired', options, () => this.#dirty())
  }

  isDirty(document: JSONStoreDocument<T> | number, options: CallbackOptions = {}): JSONStorePromise<boolean> {
    return this.#isDirty('isDirty', document, options)
  }

  /** Another name of `isDirty`. */
  isPushRequired(document: JSONStoreDocument<T> | number, options: CallbackOptions = {}): JSONStorePromise<boolean> {
    return this.#isDirty('isPushRequired', document, options)
  }

  countAllDirty(options: CallbackOptions = {}): JSONStorePromise<number> {
    return this.#call('countAllDirty', options, () => this.#read((access) => countDirty(access, this.name)))
  }

  /** Another name of `countAllDirty`. */
  pushRequiredCount(options: CallbackOptions = {}): JSONStorePromise<number> {
    return this.#call('pushRequiredCount', options, () => this.#read((access) => countDirty(access, this.name)))
  }

  /** Of documents that `getAllDirty` gave: unless they were changed since, they are pushed. Resolves with their number. */
  markClean(documents: readonly CleanDocument[], options: CallbackOptions = {}): JSONStorePromise<number> {
    return this.#call('markClean', options, () => {
      const clean = parseClean(documents)
      return this.#write((access) => markClean(access, this.name, clean))
    })
  }

  /** Hands each dirty document to the adapter, one after the other. Resolves with what went wrong: nothing if all went well. */
  push(options: CallbackOptions = {}): JSONStorePromise<JSONStoreError[]> {
    const facts = { src: 'push', col: this.name }
    return this.#call('push', options, async () => {
      const adapter = this.#adapter()
      const dirty = await this.#dirty().catch((error: unknown) => {
        const { err } = toJSONStoreError(error, facts, 'FAILED_TO_GET_UNPUSHED_DOCUMENTS_FROM_DB')
        throw err === CODES.PERSISTENT_STORE_NOT_OPEN
          ? error
          : failure('FAILED_TO_GET_UNPUSHED_DOCUMENTS_FROM_DB', { cause: error })
      })
      return this.#push('push', adapter, dirty)
    })
  }

  /** As `push`, of these documents alone; those that are not dirty are passed over. */
  pushSelected(
    documents: JSONStoreDocument<T> | readonly JSONStoreDocument<T>[],
    options: CallbackOptions = {},
  ): JSONStorePromise<JSONStoreError[]> {
    return this.#call('pushSelected', options, async () => {
      const adapter = this.#adapter()
      const ids = new Set(documentsOf(documents).map(({ _id }) => _id))
      const dirty = await this.#dirty()
      return this.#push(
        'pushSelected',
        adapter,
        dirty.filter(({ _id }) => ids.has(_id)),
      )
    })
  }

  /** Stores what the adapter has, not to be pushed. Resolves with the number of documents. */
  load(options: CallbackOptions = {}): JSONStorePromise<number> {
    return this.#call('load', options, async () => {
      this.#host.session(this as unknown as JSONStoreCollection)
      const loaded = await loadDocuments(this.#adapter(), this.#invoke)
      const added = loaded.map((json): NewDocument => ({ json: toJson(json), additional: {} }))
      return this.#write((access, target) => addDocuments(access, target, added, false))
    })
  }

  /**
   * Exchanges changes with a CouchDB database, as `sync` in the collection's configuration says. Resolves with the numbers of documents
   * that came and went.
   */
  sync(options: CallbackOptions = {}): JSONStorePromise<{ readonly received: number; readonly sent: number }> {
    return this.#call('sync', options, async () => {
      const { synchronise } = await import('./sync.ts')
      const session = this.#session()
      return synchronise(session, this.#target(session), this.#config.sync, this.#host.fetch)
    })
  }

  /** Takes all documents; ids go on. */
  clear(options: CallbackOptions = {}): JSONStorePromise<number> {
    return this.#call(
      'clear',
      options,
      async () => {
        await this.#host.clear(this as unknown as JSONStoreCollection)
        return CODES.SUCCESS
      },
      'ERROR_CLEARING_COLLECTION',
    )
  }

  /** Takes the collection with its search fields; `init` makes it anew. */
  removeCollection(options: CallbackOptions = {}): JSONStorePromise<number> {
    return this.#call('removeCollection', options, async () => {
      await this.#host.remove(this as unknown as JSONStoreCollection)
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
    if (name in JSONStoreCollection.prototype || name === 'name') return CODES.CAN_NOT_REPLACE_DEFAULT_FUNCTIONS
    Object.defineProperty(this, name, { value: enhancement, configurable: true, enumerable: true })
    return CODES.SUCCESS
  }

  /** Logs documents, and resolves with them. */
  toString(limit: number = TO_STRING_LIMIT, offset: number = 0): JSONStorePromise<JSONStoreDocument<T>[]> {
    return this.#call('toString', undefined, async () => {
      if (!Number.isSafeInteger(limit) || !Number.isSafeInteger(offset)) throw failure('BAD_PARAMETER_EXPECTED_INT')
      const options = parseFindOptions(this.#schema, { limit, ...(limit >= 0 && { offset }) })
      const found = await this.#read((access) => findDocuments(access(this.name), [], options))
      const documents = found.map(toDocument) as JSONStoreDocument<T>[]
      this.#host.log(`${this.name}: ${JSON.stringify(documents)}`)
      return documents
    })
  }

  #call<R>(src: string, options: unknown, work: () => R | Promise<R>, storageFailure?: CodeName): JSONStorePromise<R> {
    const { username, events } = this.#host
    const site = { src, col: this.name, usr: username, events, ...(storageFailure !== undefined && { storageFailure }) }
    return call(site, options, work)
  }

  #session(): Session {
    return this.#host.session(this as unknown as JSONStoreCollection)
  }

  #read<R>(read: (access: Access) => Promise<R>): Promise<R> {
    return this.#session().read(read)
  }

  #write<R>(write: (access: Access, target: Target) => Promise<R>): Promise<R> {
    const session = this.#session()
    const target = this.#target(session)
    return session.write((access) => write(access, target))
  }

  #target(session: Session): Target {
    return { name: this.name, schema: this.#schema, dirtyNow: () => session.dirtyNow() }
  }

  #find(
    src: string,
    options: unknown,
    parse: (exact: boolean) => SearchQuery,
  ): JSONStorePromise<JSONStoreDocument<T>[]> {
    return this.#call(src, options, () => {
      const parsed = parseFindOptions(this.#schema, options)
      const query = parse(parsed.exact)
      return this.#read(async (access) => {
        const found = await findDocuments(access(this.name), query, parsed)
        return found.map((one) => resultOf(parsed, one)) as JSONStoreDocument<T>[]
      })
    })
  }

  #replace(src: string, documents: unknown, options: unknown, markDirty: boolean): JSONStorePromise<number> {
    const work = (): Promise<number> => {
      const replacements = documentsOf(documents).map(({ _id, json }) => ({ _id, json: toJson(json) }))
      return this.#write((access, target) => replaceDocuments(access, target, replacements, markDirty))
    }
    return this.#call(src, options, work, 'JSON_STORE_REPLACE_DOCUMENTS_FAILURE')
  }

  #remove(src: string, target: unknown, options: RemoveOptions, markDirty: boolean): JSONStorePromise<number> {
    const work = (): Promise<number> => {
      const parse = (one: unknown): number | SearchQuery => {
        const id = isObject(one) && ('json' in one || Object.keys(one).length === 1) ? (one['_id'] ?? one) : one
        if (isId(id)) return id
        if (!isObject(one) || 'json' in one) throw failure('BAD_PARAMETER_EXPECTED_DOCUMENT_OR_ID', { doc: one })
        return parseQueries(this.#schema, one, options.exact === true)
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
    return this.#call(src, options, work, 'JSON_STORE_REMOVE_WITH_QUERIES_FAILURE')
  }

  #dirty(): Promise<DirtyDocument<T>[]> {
    return this.#read((access) => dirtyDocuments(access, this.name)) as Promise<DirtyDocument<T>[]>
  }

  #isDirty(src: string, document: unknown, options: unknown): JSONStorePromise<boolean> {
    return this.#call(src, options, () => {
      const id = isObject(document) ? document['_id'] : document
      if (!isId(id)) throw failure('BAD_PARAMETER_EXPECTED_DOCUMENT_OR_ID', { doc: document })
      return this.#read((access) => isDirty(access, this.name, id))
    })
  }

  #adapter(): AdapterOptions {
    const { adapter } = this.#config
    if (!isObject(adapter) || typeof adapter['name'] !== 'string') throw failure('NO_ADAPTER_LINKED_TO_COLLECTION')
    return adapter as unknown as AdapterOptions
  }

  get #invoke(): InvokeProcedure {
    return this.#host.invokeProcedure ?? defaultInvoke
  }

  async #push(src: string, adapter: AdapterOptions, dirty: readonly DirtyDocument<T>[]): Promise<JSONStoreError[]> {
    const facts = { src, col: this.name, usr: this.#host.username }
    const failures: JSONStoreError[] = []
    for (const document of dirty) {
      try {
        await pushDocument(adapter, this.#invoke, document as unknown as DirtyDocument)
        await this.#write((access) => markClean(access, this.name, [document])).catch((cause: unknown) => {
          throw failure('COULD_NOT_MARK_DOCUMENT_PUSHED', { doc: document, cause })
        })
      } catch (error) {
        failures.push(toJSONStoreError(error, facts, 'PERSISTENT_STORE_FAILURE'))
      }
    }
    return failures
  }

  #additionalOf(given: unknown): Readonly<Record<string, unknown>> {
    if (given === undefined) return {}
    if (!isObject(given)) throw failure('BAD_PARAMETER_EXPECTED_OBJECT', { doc: given })
    return Object.fromEntries(
      Object.entries(given).map(([name, value]) => {
        const field = name.toLowerCase()
        if (!Object.hasOwn(this.#schema.additionalSearchFields, field))
          throw failure('INVALID_ADD_INDEX_KEY', { doc: name })
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

function isMarked({ markDirty, push }: WriteOptions, otherwise: boolean): boolean {
  return markDirty ?? push ?? otherwise
}

function documentsOf(documents: unknown): readonly JSONStoreDocument[] {
  const list = toArray(documents)
  const isDocument = (one: unknown): one is JSONStoreDocument =>
    isObject(one) && isId(one['_id']) && isObject(one['json'])
  if (!list.every(isDocument))
    throw failure('BAD_PARAMETER_EXPECTED_DOCUMENT_OR_ARRAY_OF_DOCUMENTS', { doc: documents })
  return list
}
