/** The writes of one transaction of the app: shown at once, and sent together. */
import type { Transaction, TransactionCollection } from 'pannier'
import { checkOptions, type OptionNames } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { ClientError } from './client-error.ts'
import type { Merges } from './declaration.ts'
import { Overlay } from './overlay.ts'
import { contentOf, REV, queueId, Store, storedOf, type Device, type Queued } from './store.ts'
import {
  checkId,
  fieldOf,
  keyOf,
  listOf,
  basedOn,
  NEW_FILE,
  shownValues,
  type Base,
  type SentWrite,
  type Values,
} from './writes.ts'

/** The means of a write: parts that a transaction needs besides the database. */
export interface WriteMeans {
  readonly merges: Merges
  readonly environment: Environment
}

/** Options of a write about the record as it is. */
export interface WriteOptions {
  /** Whether to overwrite whatever the server has then. By default it refuses with CONFLICT what others have changed meanwhile. */
  readonly overwrite?: boolean
}

const WRITE_OPTIONS: OptionNames<WriteOptions> = { overwrite: true }
const ID_CHARS = 'abcdefghijklmnopqrstuvwxyz0123456789'
const ID_LENGTH = 15

export class LocalTransaction {
  readonly #tx: Transaction
  readonly #store: Store
  readonly #overlay: Overlay
  readonly #device: Device
  readonly #means: WriteMeans
  readonly #writes: SentWrite[] = []
  readonly #was: (Values | null)[] = []
  /** The end of the last write that was asked for. */
  #last: Promise<unknown> = Promise.resolve()
  #hasEnded = false

  private constructor(tx: Transaction, device: Device, means: WriteMeans) {
    this.#means = means
    this.#tx = tx
    this.#store = new Store(tx)
    this.#overlay = new Overlay(tx)
    this.#device = device
  }

  static async begin(tx: Transaction, means: WriteMeans): Promise<LocalTransaction> {
    const device = await new Store(tx).state<Device>('$device')
    return new LocalTransaction(tx, device!, means)
  }

  /** To read inside the transaction. */
  records(collection: string): TransactionCollection<Record<string, unknown>> {
    return this.#tx.collection<Record<string, unknown>>(collection)
  }

  create(collection: string, { id = recordId(this.#means.environment), ...values }: Values): Promise<Values> {
    return this.#afterLast(async () => {
      checkId('create', id)
      if ((await this.#shown(collection, id)) !== undefined)
        throw new ClientError('PANNIER_CONFLICT', `"${collection}" has a record "${id}". Update it, or use another id.`)
      return (await this.#write({ collection, action: 'create', id, values }, undefined))!
    })
  }

  async update(collection: string, id: string, values: Values, options: WriteOptions = {}): Promise<Values> {
    return (await this.#change({ collection, action: 'update', id, base: null, values }, options))!
  }

  async delete(collection: string, id: string, options: WriteOptions = {}): Promise<void> {
    await this.#change({ collection, action: 'delete', id, base: null }, options)
  }

  #change(write: Exclude<SentWrite, { readonly action: 'create' }>, options: WriteOptions): Promise<Values | null> {
    return this.#afterLast(async () => {
      const { action, collection, id } = write
      checkId(action, id)
      checkOptions(`${action}()`, options, WRITE_OPTIONS)
      const shown = await this.#shown(collection, id)
      if (shown === undefined)
        throw new ClientError('PANNIER_NOT_FOUND', `There is no record "${id}" of "${collection}" here.`)
      return await this.#write({ ...write, base: await this.#baseOf(write, shown, options) }, shown)
    })
  }

  /**
   * A write that was refused, based on what is there now. The server judges a write of a missing record. `theirs`: the record as the
   * server has it, which may be newer than what is shown.
   */
  async again(write: SentWrite, theirs?: Values): Promise<void> {
    const { collection, id } = write
    const shown = await this.#shown(collection, id)
    if (write.action === 'create') await this.#write(write, shown)
    else {
      // Not on a write of before that the server has: `theirs` is newer, and the update would conflict again, for ever.
      const rev = theirs?.[REV] as string | undefined
      const own = { ...write, base: shown === undefined ? null : await this.#baseOf(write, shown) }
      const isOnThis = basedOn(own) === this.#device.next
      await this.#write({ ...own, base: isOnThis ? own.base : (rev ?? own.base) }, shown)
    }
  }

  /** Ends a rejected transaction, which is retried or discarded. Only what was said of it stays, for `write.server`. False: it has ended. */
  async endRejected(id: string): Promise<boolean> {
    const { rejected } = this.#store
    const refused = await rejected.get(id)
    if (refused?.isOver !== false) return false
    await rejected.upsert({ ...storedOf(refused), isOver: true, writes: [], was: [], data: {}, current: null })
    return true
  }

  /** Stores what is to be sent. `merges`: the refused transactions that it takes the place of, merged for the n-th time. Returns the number of the transaction; undefined: there is nothing. */
  async end(
    { merges, tries }: Pick<Queued, 'merges' | 'tries'> = { merges: [], tries: 0 },
  ): Promise<number | undefined> {
    // What is shown has to be sent, also if the app does not wait for it.
    for (let last: unknown; last !== this.#last;) await (last = this.#last)
    this.#hasEnded = true
    if (this.#writes.length === 0) return undefined
    const { next: n } = this.#device
    const touches = [...new Set(this.#writes.map(({ collection, id }) => keyOf(collection, id)))]
    await this.#store.queue.insert({
      _id: queueId(n),
      n,
      writes: this.#writes,
      was: this.#was,
      touches,
      status: 'waiting',
      boot: null,
      revs: [],
      merges,
      tries,
    })
    await this.#store.setState({ ...this.#device, next: n + 1 })
    return n
  }

  /** Each write is based on the writes before it, also if the app does not wait for them. */
  #afterLast<T>(write: () => Promise<T>): Promise<T> {
    const done = this.#last.then(() => {
      if (this.#hasEnded) throw new ClientError('PANNIER_CLOSED', 'Await the writes of a transaction inside it.')
      return write()
    })
    this.#last = done.catch(() => {})
    return done
  }

  async #write(asked: SentWrite, shown: Values | undefined): Promise<Values | null> {
    const { collection, id } = asked
    const hasFiles = Object.values(shownValues(asked)).some((value) => listOf(value).some(isFile))
    const made = hasFiles
      ? await (await import('./files.ts')).takeFiles(this.#tx, asked, shown, this.#device.next, this.#means.environment)
      : asked
    const was = shown === undefined || made.action === 'create' ? null : oldValues(shown, made)
    const isMerged = made.action === 'update' && this.#means.merges[collection] === 'fields'
    const write = isMerged && was !== null ? { ...made, was, own: await this.#ownIn(was, keyOf(collection, id)) } : made
    await this.#overlay.keepBase(collection, id)
    const after = await this.#overlay.after(shown ?? null, write)
    await this.#overlay.show(collection, new Map([[id, after]])).catch((error: Error) => {
      error.message = error.message.replace('upsert', asked.action)
      throw error
    })
    this.#writes.push(write)
    this.#was.push(was)
    return after
  }

  /** The writes of this device that have set the fields last. What a modifier makes is the server's. */
  async #ownIn(was: Values, key: string): Promise<NonNullable<Extract<SentWrite, { action: 'update' }>['own']>> {
    const queued = [...(await this.#store.touching(key)), { n: this.#device.next, writes: this.#writes }]
    const own: Record<string, { readonly n: number; readonly at: number }> = {}
    for (const { n, writes } of queued)
      for (const [at, write] of writes.entries())
        if (keyOf(write.collection, write.id) === key)
          for (const name of Object.keys(shownValues(write)))
            if (Object.hasOwn(was, name)) own[name] = { n, at }
            else delete own[fieldOf(name)]
    return own
  }

  async #shown(collection: string, id: string): Promise<Values | undefined> {
    const found = await this.#store.records(collection).get(id)
    return found && contentOf(found)
  }

  /**
   * The last write that the record shows, else the revision of the server, with the write that has made it. For an update that the server
   * merges only the create counts.
   * What an update of this device made may hold fields that were merged at the server and not seen here. With a function that merges, a
   * write may be based on a newer revision than the one shown, or on any. Then the shown one counts, and the next update conflicts.
   */
  async #baseOf({ action, collection, id }: SentWrite, shown: Values, { overwrite }: WriteOptions = {}): Promise<Base> {
    if (overwrite === true) return null
    const merge = this.#means.merges[collection]
    const isMerged = action === 'update' && merge === 'fields'
    const isOf = (write: SentWrite): boolean =>
      write.collection === collection && write.id === id && (!isMerged || write.action === 'create')
    const own = this.#writes.findLastIndex(isOf)
    if (own !== -1) return { n: this.#device.next, at: own }
    const rev = shown[REV] as string | undefined
    const queued = await this.#store.touching(keyOf(collection, id))
    // Revisions of the server begin with a number that counts up. A write of this device, or no revision shown, has no number.
    const isUnseen = (write: SentWrite): boolean =>
      write.action === 'update' &&
      isOf(write) &&
      parseFloat(rev!) < (write.base === null ? Infinity : parseFloat(write.base as string))
    if (typeof merge === 'function' && queued.some(({ writes }) => writes.some(isUnseen))) return rev ?? null
    const last = queued.findLast(({ writes }) => writes.some(isOf))
    // What has made the revision is sent again to a server that is restored, and makes another one.
    const maker = last ?? (rev === undefined ? undefined : await this.#store.maker(rev))
    const at = maker?.writes.findLastIndex(isOf) ?? -1
    const made = maker?.revs[at] ?? undefined
    if (maker === undefined || at < 0 || (last === undefined && made !== rev)) return rev ?? null
    return { n: maker.n, at, ...(made !== undefined && { rev: made }) }
  }
}

/** The values that a write found in the fields that it changes. */
function oldValues(record: Values, write: SentWrite): Values {
  if (write.action !== 'update') return record
  const names = Object.keys(shownValues(write)).map(fieldOf)
  return Object.fromEntries(names.map((name) => [name, Object.hasOwn(record, name) ? record[name] : null]))
}

/** Content, or the name of what waits. */
function isFile(value: unknown): boolean {
  return value instanceof Blob || (typeof value === 'string' && NEW_FILE.test(value))
}

/** An id of a record, as those that the server makes. */
function recordId(environment: Environment): string {
  return Array.from(environment.randomBytes(ID_LENGTH), (byte) => ID_CHARS[byte % ID_CHARS.length]).join('')
}
