/** Applies a pull, in one local commit (R10). */
import type { Database, Transaction } from 'pannier'
import type { Declared } from './declaration.ts'
import { Overlay, received, splitKey } from './overlay.ts'
import {
  queueId,
  REV,
  storedOf,
  Store,
  type CollectionState,
  type Device,
  type Queued,
  type Rules,
  type Staged,
} from './store.ts'
import { keyOf, type Values } from './writes.ts'

type PulledRow =
  | { readonly record: Values & { readonly id: string }; readonly mark?: string }
  | { readonly left: string }
  | { readonly id: string; readonly rev: string; readonly mark: string }
  | { readonly end: string }

interface PulledPage {
  readonly rows: readonly PulledRow[]
  readonly token: string
  readonly isComplete: boolean
  readonly isReset: boolean
}

export interface PullAnswer {
  /** Names this start of the server. */
  readonly boot: string
  readonly collections: Readonly<Record<string, PulledPage>>
  /** Numbers of transactions whose outcome is in the state of these pages. */
  readonly covered: readonly number[]
  /** Numbers of transactions whose outcome is lost: the server was restored from an older backup. */
  readonly unknown: readonly number[]
  /** The server keeps the outcomes of greater numbers only. No backup without these will be restored. */
  readonly forgotten: number
  /** Only if they are others than those that the device has. */
  readonly rules?: Omit<Rules, '_id'>
}

/** Records of the device with their revisions, by collection. `*`: the server may take it that the device has all. */
export type Has = Readonly<Record<string, '*' | Readonly<Record<string, string>>>>

/** The request of a pull. */
export interface PullRequest {
  readonly collections: Readonly<Record<string, string | null>>
  readonly filters: Readonly<Record<string, string>>
  readonly device: string
  readonly acknowledged: readonly number[]
  /** The version of the rules that the device has. */
  readonly rules: string
  readonly has: Has
}

/** The result of an answer. */
export type Pulled =
  /** Nothing is applied: another tab has applied a page meanwhile, or a record without a body is missing. `has` names those that are not. */
  | { readonly isApplied: false; readonly has?: Has }
  /** `isComplete`: all collections are, and the server has said of every transaction whether it is there. */
  | { readonly isApplied: true; readonly isComplete: boolean; readonly rows: number }

/** Undefined: the record that is there stays. */
type Rows = Map<string, Values | null | undefined>

/** How many acknowledged transactions one request may ask about. */
const ACKNOWLEDGED_MAX = 10_000

/** The tokens of collections, and the transactions that the server is asked about. */
export async function nextPull(db: Database, { names, filters }: Declared, has?: Has): Promise<PullRequest> {
  const store = new Store(db)
  const tokens = names.map(async (name) => [name, (await store.state<CollectionState>(name))?.token ?? null] as const)
  const { device, boot } = (await store.state<Device>('$device'))!
  const done = await store.queue.find({ status: 'done' }).sort('_id').toArray()
  // Each start of the server is asked about all: it may be one of an older backup.
  const asked = done.filter((queued) => queued.touches.length > 0 || queued.boot !== boot)
  const acknowledged = asked.slice(0, ACKNOWLEDGED_MAX).map(({ n }) => n)
  const { version = '' } = (await store.state<Rules>('$rules')) ?? {}
  const collections = await Promise.all(tokens)
  const begun = collections.flatMap(([name, token]) => (token === null ? [] : [[name, '*'] as const]))
  return {
    collections: Object.fromEntries(collections),
    filters,
    device,
    acknowledged,
    rules: version,
    has: has ?? Object.fromEntries(begun),
  }
}

/** The request of a device that has applied an answer; undefined: the device has everything. It may be asked before. */
export function requestAfter(request: PullRequest, { collections }: PullAnswer): PullRequest | undefined {
  const pages = Object.entries(collections)
  if (pages.every(([, { isComplete }]) => isComplete)) return undefined
  return {
    ...request,
    collections: Object.fromEntries(pages.map(([name, { token }]) => [name, token])),
    has: Object.fromEntries(pages.map(([name]) => [name, '*'])),
  }
}

/** An answer has the collections that were asked for, and no others: those of the client's own are not the server's. */
export function answerTo(request: PullRequest, answer: PullAnswer): PullAnswer {
  const asked = Object.entries(answer.collections).filter(([name]) => Object.hasOwn(request.collections, name))
  return { ...answer, collections: Object.fromEntries(asked) }
}

/** Applies a page of each collection with its token, and what the server says about transactions. */
export function applyPull(db: Database, request: PullRequest, answer: PullAnswer): Promise<Pulled> {
  return db.transaction(async (tx) => {
    const store = new Store(tx)
    const before = new Map<string, CollectionState | undefined>()
    for (const [name, token] of Object.entries(request.collections)) {
      const state = await store.state<CollectionState>(name)
      if ((state?.token ?? null) !== token) return { isApplied: false }
      before.set(name, state)
    }
    const pages = Object.entries(answer.collections)
    const pulls = pages.map(([name, page]) => [page, new CollectionPull(tx, name, before.get(name))] as const)
    const found = await Promise.all(pulls.map(([page, pull]) => pull.missing(page)))
    if (found.some((has) => has !== undefined)) {
      const had = pages.map(([name], index) => [name, found[index] ?? request.has[name] ?? {}] as const)
      return { isApplied: false, has: Object.fromEntries(had) }
    }
    for (const [page, pull] of pulls) await pull.apply(page)
    await settle(tx, answer)
    if (answer.rules !== undefined) await store.setState({ _id: '$rules', ...answer.rules })
    const device = (await store.state<Device>('$device'))!
    if (answer.boot !== device.boot) await store.setState({ ...device, boot: answer.boot })
    const unasked = await store.unasked(answer.boot)
    return {
      isApplied: true,
      isComplete: unasked === undefined && pages.every(([, { isComplete }]) => isComplete),
      rows: pages.reduce((sum, [, page]) => sum + page.rows.length, 0),
    }
  })
}

class CollectionPull {
  readonly #store: Store
  readonly #overlay: Overlay
  readonly #name: string
  readonly #state: CollectionState

  constructor(tx: Transaction, name: string, state: CollectionState | undefined) {
    this.#store = new Store(tx)
    this.#overlay = new Overlay(tx)
    this.#name = name
    this.#state = state ?? { _id: name, token: '', isShown: false, isReset: false }
  }

  /** If the page names records without a body that are not here: those that are, with their revisions. */
  async missing({ rows }: PulledPage): Promise<Readonly<Record<string, string>> | undefined> {
    const named = rows.flatMap((row) => ('rev' in row ? [row] : []))
    if (named.length === 0) return undefined
    const had = await Promise.all(named.map(async ({ id, rev }) => (await this.#revOf(id)) === rev))
    if (!had.includes(false)) return undefined
    return Object.fromEntries(named.flatMap(({ id, rev }, index) => (had[index] === true ? [[id, rev]] : [])))
  }

  /** The server's revision of a record. A page before this one may have brought another body. */
  async #revOf(id: string): Promise<unknown> {
    const staged = await this.#store.staged.get(keyOf(this.#name, id))
    const record = staged?.record === undefined ? await this.#store.baseOf(this.#name, id) : staged.record
    return record?.[REV]
  }

  /** Pages are shown when the sweep is complete, except those of the first sync. */
  async apply({ rows, token, isComplete, isReset }: PulledPage): Promise<void> {
    let state: CollectionState = { ...this.#state, token, ...(isReset && { isReset: true }) }
    if (isReset) await this.#forgetStaged()
    const read = readRows(rows)
    if (!state.isShown || isComplete) {
      const staged = state.isShown ? await this.#takeStaged() : []
      await this.#show(new Map([...staged, ...withBodies(read, new Map(staged))]), {
        isAll: state.isReset && (state.isShown || isReset),
      })
      state = { ...state, isShown: state.isShown || isComplete, isReset: state.isReset && !isComplete }
    } else await this.#stage(read)
    await this.#store.setState(state)
  }

  /** `isAll`: what is not in `rows` goes. */
  async #show(rows: Rows, { isAll }: { readonly isAll: boolean }): Promise<void> {
    if (isAll) for (const id of await this.#ids()) if (!rows.has(id)) rows.set(id, null)
    const { bases } = this.#store
    const plain = new Map<string, Values | null>()
    const based: string[] = []
    const pending = new Set((await this.#baseIds()).map((id) => keyOf(this.#name, id)))
    for (const [id, record] of rows) {
      const key = keyOf(this.#name, id)
      if (record === undefined) continue
      if (!pending.has(key)) plain.set(id, record)
      else {
        await bases.upsert({ _id: key, record })
        based.push(key)
      }
    }
    await this.#overlay.show(this.#name, plain)
    await this.#overlay.compute(based)
  }

  async #ids(): Promise<readonly string[]> {
    const shown = await this.#store.records(this.#name).find().fields('_id').toArray()
    return [...shown.map(({ _id }) => String(_id)), ...(await this.#baseIds())]
  }

  async #baseIds(): Promise<readonly string[]> {
    const bases = await this.#store.bases.find(within(this.#name)).fields('_id').toArray()
    return bases.map(({ _id }) => splitKey(String(_id))[1])
  }

  async #stage(read: Rows): Promise<void> {
    const { staged: stored } = this.#store
    const before = await Promise.all(
      [...read].map(async ([id]) => [id, (await stored.get(keyOf(this.#name, id)))?.record] as const),
    )
    const staged = [...withBodies(read, new Map(before))].map(([id, record]): Staged => {
      return { _id: keyOf(this.#name, id), ...(record !== undefined && { record }) }
    })
    if (staged.length > 0) await this.#store.staged.upsert(staged)
  }

  async #takeStaged(): Promise<Rows> {
    const staged = await this.#store.staged.find(within(this.#name)).toArray()
    await this.#forgetStaged()
    return new Map(staged.map(({ _id, record }) => [splitKey(_id)[1], record]))
  }

  async #forgetStaged(): Promise<void> {
    const { staged } = this.#store
    for (const { _id } of await staged.find(within(this.#name)).fields('_id').toArray()) await staged.purge(String(_id))
  }
}

/** A row without a body names the one that came before, if there is one. */
function withBodies(rows: Rows, before: Rows): Rows {
  return new Map(Array.from(rows, ([id, record]) => [id, record === undefined ? before.get(id) : record]))
}

function readRows(rows: readonly PulledRow[]): Rows {
  const read: Rows = new Map()
  for (const row of rows)
    if ('record' in row) read.set(row.record.id, received(row.record))
    else if ('left' in row) read.set(row.left, null)
    else if ('rev' in row && !read.has(row.id)) read.set(row.id, undefined)
  return read
}

/** Keys of a collection: '0' comes after '/'. */
function within(name: string): { readonly _id: { readonly $gte: string; readonly $lt: string } } {
  return { _id: { $gte: `${name}/`, $lt: `${name}0` } }
}

/** Settles transactions that the server has taken: their outcome is in the pull, or lost by a restore. */
async function settle(tx: Transaction, answer: PullAnswer): Promise<void> {
  const { queue, rejected } = new Store(tx)
  const overlay = new Overlay(tx)
  const { boot, collections } = answer
  /** Whether its collection is shown without the rest of a sweep, or not synced any more. */
  const isShown = (key: string): boolean => collections[splitKey(key)[0]]?.isComplete !== false
  const [covered, unknown] = [new Set(answer.covered), new Set(answer.unknown)]
  for (const queued of await queue.find({ status: 'done' }).sort('_id').toArray()) {
    const entry = storedOf<Queued>(queued)
    if (unknown.has(entry.n)) {
      const keys = entry.writes.map(({ collection, id }) => keyOf(collection, id))
      for (const { collection, id } of entry.writes) await overlay.keepBase(collection, id)
      await queue.upsert({ ...entry, status: 'waiting', revs: [], touches: [...new Set(keys)] })
      await overlay.compute(keys)
    } else if (covered.has(entry.n)) {
      const touches = entry.touches.filter((key) => !isShown(key))
      if (touches.length === entry.touches.length && entry.boot === boot) continue
      await queue.upsert({ ...entry, boot, touches })
      await overlay.compute(entry.touches)
    } else if (entry.touches.length === 0 && entry.n <= answer.forgotten) await queue.purge(entry._id)
  }
  for (const { _id } of await rejected.find({ isOver: true, _id: { $lte: queueId(answer.forgotten) } }).toArray())
    await rejected.purge(_id)
}
