/**
 * Lists of the records on this device, in the language of filters. A list is one walk over the collection: it keeps the ids in their order,
 * and reads the records of a page. What changes then is taken in record by record.
 */
import type { ChangedRecords, Client, UntypedCollections } from '@pannier/client'
import type { Environment } from '../../environment.ts'
import { bind, createSchema, evaluate, parse, RuleError } from '@pannier/rules'
import type { BoundRule, CollectionDefinition, RuleRecord } from '@pannier/rules'
import { compareSortValues, sortValues } from '@pannier/rules/compile'
import type { Collection } from '../../api/collections.ts'
import { ApiError } from '../../api/request.ts'
import type { ListQuery, Row, RowPage } from '../../api/records.ts'
import { collections, findCollection } from '../collections.ts'
import { DEVICE } from '../../texts/device.ts'
import { LocalRecords } from './local-records.ts'
import { shownRow } from './local-row.ts'

/** Filters by the names of collections; '' is all records. */
export type KeptNames = Readonly<Record<string, string>>

const BATCH = 1000
const CHANGES_MS = 250
/** The most changes that a kept list follows. More are a walk. */
const CHANGES_MAX = 200
/** The order of creation, which a device does not know: by the date of creation, where there is one. */
const CREATION = '@rowid'
/** The newest time: it is after every date. */
const NEWEST = '9999'

interface KnownList {
  readonly key: string
  list: Promise<LocalList>
}

export class LocalLists {
  private readonly environment: Environment
  private readonly client: Client<UntypedCollections>
  private readonly names: KeptNames
  /** Hears how many records the walk under way has read; undefined: it has ended. */
  private readonly onProgress: (read: number | undefined) => void
  /** The newest list of each collection. */
  private readonly lists = new Map<string, KnownList>()

  constructor(
    environment: Environment,
    client: Client<UntypedCollections>,
    names: KeptNames,
    onProgress: (read: number | undefined) => void = () => undefined,
  ) {
    this.environment = environment
    this.client = client
    this.names = names
    this.onProgress = onProgress
    client.subscribe((changed) => this.takeIn(changed))
  }

  /** Calls back when lists may be others: filters lead to other collections, too. */
  follow(listener: () => void): () => void {
    let cancel: (() => void) | undefined
    const stop = this.client.subscribe(() => {
      cancel ??= this.environment.after(CHANGES_MS, () => {
        cancel = undefined
        listener()
      })
    })
    return () => {
      stop()
      cancel?.()
    }
  }

  /** @throws ApiError 400: no filter, or it can't be answered here */
  async page(name: string, query: ListQuery, signal?: AbortSignal): Promise<RowPage> {
    const { ids } = await this.listOf(name, query)
    signal?.throwIfAborted()
    const { page, perPage, expand = '' } = query
    const records = this.client.collection(name)
    const found = await Promise.all(ids.slice((page - 1) * perPage, page * perPage).map((id) => records.get(id)))
    const rows = found.flatMap((record) => (record === undefined ? [] : [shownRow(record)]))
    return { items: await this.expanded(name, expand, rows), totalItems: ids.length }
  }

  private listOf(name: string, { filter = '', sort = '' }: ListQuery): Promise<LocalList> {
    const key = JSON.stringify([filter, sort])
    const known = this.lists.get(name)
    if (known?.key === key) return known.list
    const made = { key, list: this.walked(name, filter, sort) }
    this.lists.set(name, made)
    // The next try begins again.
    made.list.catch(() => this.forget(name, made))
    return made.list
  }

  private async walked(name: string, filter: string, sort: string): Promise<LocalList> {
    const collection = findCollection(collections.get().list, name)!
    try {
      const list = new LocalList(collection, filter, sort, new Date(this.environment.wallClock()))
      const records = this.recordsOf()
      const source = this.client.collection(name)
      for (let last = ''; ;) {
        const batch = await source
          .find({ _id: { $gt: last } })
          .sort('_id')
          .limit(BATCH)
          .toArray()
        for (const record of batch) await list.add(record, records)
        this.onProgress(list.walked)
        if (batch.length < BATCH) break
        last = String(batch.at(-1)!['_id'])
      }
      list.order()
      return list
    } catch (error) {
      throw error instanceof RuleError ? new ApiError(400, error.message) : error
    } finally {
      this.onProgress(undefined)
    }
  }

  /** The records of whole collections: a part may be incomplete, and nobody knows what it lacks. */
  private recordsOf(): LocalRecords {
    const { incomplete } = this.client.state
    const wholes = Object.keys(this.names).filter((name) => this.names[name] === '' && !incomplete.includes(name))
    return new LocalRecords(this.client, wholes)
  }

  private takeIn(changed: ChangedRecords): void {
    for (const [name, known] of this.lists) {
      const ids = changed.get(name)
      const before = known.list
      known.list = before.then(async (list) => {
        if (list.isJoined) this.forget(name, known)
        else if (changed.has(name) && (ids === undefined || ids.length > CHANGES_MAX)) this.forget(name, known)
        else for (const id of ids ?? []) await this.changed(list, name, id)
        return list
      })
      known.list.catch(() => this.forget(name, known))
    }
  }

  private async changed(list: LocalList, name: string, id: string): Promise<void> {
    const record = await this.client.collection(name).get(id)
    list.remove(id)
    if (record !== undefined) await list.add(record, this.recordsOf(), true)
  }

  private forget(name: string, known: KnownList): void {
    if (this.lists.get(name) === known) this.lists.delete(name)
  }

  /** With related records, as far as they are here. */
  private async expanded(name: string, expand: string, rows: readonly Row[]): Promise<readonly Row[]> {
    const { list } = collections.get()
    const wanted = expand.split(',')
    const targets = (findCollection(list, name)?.fields ?? []).flatMap((field) => {
      const target = findCollection(list, field.collectionId ?? '')?.name
      const isHere = wanted.includes(field.name) && target !== undefined && Object.hasOwn(this.names, target)
      return isHere ? [{ field: field.name, target }] : []
    })
    const found = new Map<string, Row>()
    for (const { field, target } of targets)
      for (const id of new Set(rows.flatMap((row) => textsOf(row[field])))) {
        const record = await this.client.collection(target).get(id)
        if (record !== undefined) found.set(`${field} ${id}`, shownRow(record))
      }
    return rows.map((row) => {
      const related = targets.map(({ field }) => [
        field,
        textsOf(row[field]).flatMap((id) => found.get(`${field} ${id}`) ?? []),
      ])
      return { ...row, expand: Object.fromEntries(related) as unknown }
    })
  }
}

interface ListEntry {
  readonly id: string
  readonly values: readonly unknown[]
}

/** The ids of one list, in their order. */
class LocalList {
  /** How many records it has looked at. */
  walked = 0
  private readonly bound: BoundRule
  private readonly keys: readonly SortKey[]
  private readonly descending: readonly boolean[]
  private entries: ListEntry[] = []

  /** @throws RuleError */
  constructor(collection: Collection, filter: string, sort: string, now: Date) {
    this.keys = orderOf(collection, sort)
    this.descending = this.keys.map(({ isDescending }) => isDescending)
    this.bound = bind({
      schema: createSchema(collections.get().list as unknown as readonly CollectionDefinition[]),
      collection: collection.id,
      filter: filter === '' ? undefined : parse(filter),
      sort: this.keys.map(({ path }) => path),
      trusted: true,
      now,
    })
  }

  get ids(): readonly string[] {
    return this.entries.map(({ id }) => id)
  }

  /** True if the condition reads other records, too. */
  get isJoined(): boolean {
    return this.bound.isJoined
  }

  /** Takes a record in if it is of the list. `inOrder`: at its place. @throws ApiError 400: that can't be known here */
  async add(record: RuleRecord, records: LocalRecords, inOrder: boolean = false): Promise<void> {
    this.walked++
    const { bound } = this
    const { answer: isIn } = await records.ask((known) => evaluate(bound, record, known))
    if (isIn === false) return
    const { answer: values, isKnown } = await records.ask((known) => sortValues(bound, record, known))
    if (isIn === undefined || !isKnown) throw new ApiError(400, DEVICE.away.notHere)
    // What was made here has no date until the server has it: it is the newest.
    const dated = values.map((value, key) =>
      this.keys[key]!.isCreation && (value === '' || value === null) ? NEWEST : value,
    )
    const entry = { id: String(record['id']), values: dated }
    if (!inOrder) this.entries.push(entry)
    else {
      const at = this.entries.findIndex((other) => this.compare(entry, other) < 0)
      this.entries.splice(at < 0 ? this.entries.length : at, 0, entry)
    }
  }

  remove(id: string): void {
    const at = this.entries.findIndex((entry) => entry.id === id)
    if (at >= 0) this.entries.splice(at, 1)
  }

  order(): void {
    this.entries.sort((one, other) => this.compare(one, other))
  }

  /** Equal ones by their ids, in the direction of the last key. */
  private compare(one: ListEntry, other: ListEntry): number {
    const sign = compareSortValues(one.values, other.values, this.descending)
    return sign === 0 ? (one.id < other.id !== (this.descending.at(-1) ?? false) ? -1 : 1) : sign
  }
}

interface SortKey {
  readonly path: string
  readonly isCreation: boolean
  readonly isDescending: boolean
}

function orderOf({ fields }: Collection, sort: string): readonly SortKey[] {
  const created = fields.find(({ onCreate, onUpdate }) => onCreate === true && onUpdate !== true)
  return sort.split(',').flatMap((part) => {
    const path = part.trim().replace(/^[+-]/, '')
    const isDescending = part.trim().startsWith('-')
    if (path === '') return []
    const isCreation = path === CREATION
    return [{ path: isCreation ? (created?.name ?? 'id') : path, isCreation, isDescending }]
  })
}

function textsOf(value: unknown): readonly string[] {
  return [value].flat().filter((one): one is string => typeof one === 'string' && one !== '')
}
