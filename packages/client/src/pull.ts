/** What a pull brings, in one local commit (R10). docs/internals/client.md is the contract. */
import type { Database, Transaction } from 'pannier'
import type { Declared } from './declaration.ts'
import { Overlay, received, splitKey } from './overlay.ts'
import { storedOf, Store, type CollectionState, type Device, type Queued, type Rules, type Staged } from './store.ts'
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
  /** Their outcome stands in the state of these pages. */
  readonly covered: readonly number[]
  /** Their outcome is not there: the server was restored from an older backup. */
  readonly unknown: readonly number[]
  /** Only if they are others than those that the device was told. */
  readonly rules?: Omit<Rules, '_id'>
}

/** What was asked. */
interface PullRequest {
  readonly collections: Readonly<Record<string, string | null>>
  readonly filters: Readonly<Record<string, string>>
  readonly device: string
  readonly acknowledged: readonly number[]
  /** The version of the rules that the device was told. */
  readonly rules: string
}

/** What became of an answer. */
export type Pulled =
  /** Another tab has applied a page meanwhile. Nothing of this one is applied. */
  | { readonly isApplied: false }
  /** `isComplete`: all collections are, and the server has said of every transaction whether it is there. */
  | { readonly isApplied: true; readonly isComplete: boolean; readonly rows: number }

/** Undefined: the record that is there stays. */
type Rows = Map<string, Values | null | undefined>

/** How many transactions one request may ask about. */
const ACKNOWLEDGED_MAX = 10_000

/** The tokens of collections, and the transactions that the server is asked about. */
export async function nextPull(db: Database, { names, filters }: Declared): Promise<PullRequest> {
  const store = new Store(db)
  const tokens = names.map(async (name) => [name, (await store.state<CollectionState>(name))?.token ?? null] as const)
  const { device, boot } = (await store.state<Device>('$device'))!
  const done = await store.queue.find({ status: 'done' }).sort('_id').toArray()
  // Each start of the server is asked about all: it may be one of an older backup.
  const asked = done.filter((queued) => queued.touches.length > 0 || queued.boot !== boot)
  const acknowledged = asked.slice(0, ACKNOWLEDGED_MAX).map(({ n }) => n)
  const { version = '' } = (await store.state<Rules>('$rules')) ?? {}
  return { collections: Object.fromEntries(await Promise.all(tokens)), filters, device, acknowledged, rules: version }
}

/** Applies a page of each collection with its token, and what the server says about transactions. */
export function applyPull(db: Database, request: PullRequest, answer: PullAnswer, nowMs: number): Promise<Pulled> {
  return db.transaction(async (tx) => {
    const store = new Store(tx)
    const before = new Map<string, CollectionState | undefined>()
    for (const [name, token] of Object.entries(request.collections)) {
      const state = await store.state<CollectionState>(name)
      if ((state?.token ?? null) !== token) return { isApplied: false }
      before.set(name, state)
    }
    for (const [name, page] of Object.entries(answer.collections))
      await new CollectionPull(tx, name, before.get(name)).apply(page)
    await settle(tx, answer, nowMs)
    if (answer.rules !== undefined) await store.setState({ _id: '$rules', ...answer.rules })
    const device = (await store.state<Device>('$device'))!
    if (answer.boot !== device.boot) await store.setState({ ...device, boot: answer.boot })
    const pages = Object.values(answer.collections)
    const unasked = await store.queue.find({ status: 'done', boot: { $ne: answer.boot } }).first()
    return {
      isApplied: true,
      isComplete: unasked === undefined && pages.every(({ isComplete }) => isComplete),
      rows: pages.reduce((sum, page) => sum + page.rows.length, 0),
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

  /** Pages are shown when the sweep is complete, except those of the first sync. */
  async apply({ rows, token, isComplete, isReset }: PulledPage): Promise<void> {
    let state: CollectionState = { ...this.#state, token, ...(isReset && { isReset: true }) }
    if (isReset) await this.#forgetStaged()
    const read = readRows(rows)
    if (!state.isShown || isComplete) {
      await this.#show(new Map([...(state.isShown ? await this.#takeStaged() : []), ...read]), {
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

  async #stage(rows: Rows): Promise<void> {
    const staged = [...rows].map(([id, record]): Staged => {
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

function readRows(rows: readonly PulledRow[]): Rows {
  const read: Rows = new Map()
  for (const row of rows)
    if ('record' in row) read.set(row.record.id, received(row.record))
    else if ('left' in row) read.set(row.left, null)
    else if ('rev' in row) read.set(row.id, undefined)
  return read
}

/** Keys of a collection: '0' comes after '/'. */
function within(name: string): { readonly _id: { readonly $gte: string; readonly $lt: string } } {
  return { _id: { $gte: `${name}/`, $lt: `${name}0` } }
}

/** What the server says about transactions that it has taken: in the pull, or not known after a restore. */
async function settle(tx: Transaction, answer: PullAnswer, nowMs: number): Promise<void> {
  const { queue } = new Store(tx)
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
      await queue.upsert({ ...entry, status: 'waiting', touches: [...new Set(keys)] })
      await overlay.compute(keys)
    } else if (covered.has(entry.n)) {
      const touches = entry.touches.filter((key) => !isShown(key))
      if (touches.length === entry.touches.length && entry.boot === boot) continue
      await queue.upsert({ ...entry, boot, touches })
      await overlay.compute(entry.touches)
    } else if (entry.touches.length === 0 && entry.boot === boot && entry.keptUntil < nowMs)
      await queue.purge(entry._id)
  }
}
