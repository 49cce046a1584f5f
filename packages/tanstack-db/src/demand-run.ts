/** The run of a collection of TanStack DB that has the rows that its queries ask for. Each of them stays up to date while one asks for it. */
import type { LoadSubsetOptions } from '@tanstack/db'
import { isPannierError, type LiveQuery } from 'pannier'
import { tellListener } from 'pannier/internal'
import { allOf, selectorOf, type Selector } from './subset.ts'
import { rowOf, SyncRun, type Change, type Place, type StoredRow, type Target } from './sync-run.ts'

/** A subset that a query of TanStack DB asks for. */
interface Demand {
  selector?: Selector
  /** Undefined: no rows come. */
  live?: LiveQuery<StoredRow>
  readonly rows: Map<string, StoredRow>
}

export class DemandRun extends SyncRun {
  readonly #stop: (() => void) | undefined
  readonly #demands = new Map<LoadSubsetOptions, Demand>()
  /** The demands that have a row; the last one has the newest. */
  readonly #holders = new Map<string, Set<Demand>>()
  /** The ids of rows that TanStack DB has not got yet as they are. */
  readonly #changed = new Set<string>()
  #receipt: true | Promise<void> = true
  #account: string | undefined
  /** The rows of the account that was signed in are gone. */
  #isOther = false
  #isClosed = false
  #hasEnded = false

  constructor(place: Place, name: string, target: Target) {
    super(place, name, target)
    this.#account = place.account?.()
    this.#stop = place.onAccount?.(() => {
      if (this.#isClosed || place.account?.() !== this.#account) this.#replace()
    })
    tellListener(target.markReady)
  }

  end(): void {
    this.#hasEnded = true
    this.#stop?.()
    this.#forget()
    this.tell()
  }

  /** Loads a subset, and keeps it up to date. */
  readonly load = async (options: LoadSubsetOptions): Promise<void> => {
    const demand: Demand = { rows: new Map() }
    this.#demands.set(options, demand)
    try {
      const rows = this.place.rows(this.name)
      demand.selector = await selectorOf(rows, options)
      if (this.#demands.get(options) !== demand) return
      await this.#follow(demand, (demand.live = rows.find(demand.selector).live()))
    } catch (error) {
      if (this.#demands.get(options) !== demand) return
      this.#isClosed = isPannierError(error, 'PANNIER_CLOSED')
      if (this.#isClosed && this.#isOther) return
      this.unload(options)
      throw error
    }
    const receipt = this.#flush()
    if (receipt !== true) await receipt
  }

  /** Lets the rows go that no other demand has. */
  readonly unload = (options: LoadSubsetOptions): void => {
    const demand = this.#demands.get(options)
    if (demand === undefined) return
    const { live } = demand
    this.#demands.delete(options)
    delete demand.live
    live?.close()
    for (const id of demand.rows.keys()) this.#release(demand, id)
    void this.#flush()
    this.tell()
  }

  protected get isAtWork(): boolean {
    return !this.#hasEnded
  }

  protected async stored(ids: readonly string[]): Promise<(string | undefined)[]> {
    const rows = this.place.rows(this.name)
    const asking = [...this.#demands.values()].filter(({ live }) => live !== undefined)
    const found = asking.map(({ selector }) => rows.find(allOf(selector!, { _id: { $in: ids } })).toArray())
    const revisions = new Map((await Promise.all(found)).flat().map(({ _id, _rev }) => [_id, _rev]))
    return ids.map((id) => revisions.get(id))
  }

  /** Resolves when the first rows are there. */
  async #follow(demand: Demand, live: LiveQuery<StoredRow>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    let isLoaded = false
    const update = ({ changes }: { readonly changes: readonly Change[] }): void => {
      isLoaded = true
      // A live query that is closed may have news on its way.
      if (demand.live === live) for (const change of changes) this.#take(demand, ...rowOf(change))
      resolve()
    }
    const onEnd = (error: unknown): void => {
      resolve()
      if (demand.live !== live) return
      delete demand.live
      if (isLoaded) this.#ended(error)
    }
    live.subscribe(update, { onEnd })
    await live.ready
    await promise
  }

  #take(demand: Demand, id: string, row: StoredRow | undefined): void {
    this.#release(demand, id)
    if (row !== undefined) {
      demand.rows.set(id, row)
      this.#holders.set(id, (this.#holders.get(id) ?? new Set()).add(demand))
    }
    // One commit may change the rows of several demands.
    if (this.#changed.size === 1) queueMicrotask(() => void this.#flush())
  }

  #release(demand: Demand, id: string): void {
    demand.rows.delete(id)
    const holders = this.#holders.get(id)
    holders?.delete(demand)
    if (holders?.size === 0) this.#holders.delete(id)
    this.#changed.add(id)
  }

  /** Gives what has changed. The receipt is that of all rows so far. */
  #flush(): true | Promise<void> {
    const rows = Array.from(
      this.#changed,
      (id) => [id, [...(this.#holders.get(id) ?? [])].at(-1)?.rows.get(id)] as const,
    )
    this.#changed.clear()
    const changed = rows.filter(([id, row]) => row?._rev !== this.revisions.get(id))
    if (changed.length > 0 && !this.#hasEnded) this.#receipt = this.give(changed)
    return this.#receipt
  }

  /** A live query has ended. When its database is closed, the rows stay, or those of another account come. */
  #ended(error: unknown): void {
    if (error !== undefined) this.target.markError(error)
    else if (this.place.account !== undefined) this.#replace()
  }

  /** Lets TanStack DB load again what it needs, for the account that is signed in now. */
  #replace(): void {
    this.#account = this.place.account?.()
    this.#isOther = true
    this.#isClosed = false
    this.#forget()
    void this.give([], true)
  }

  #forget(): void {
    for (const demand of this.#demands.values()) {
      const { live } = demand
      delete demand.live
      live?.close()
    }
    this.#demands.clear()
    this.#holders.clear()
    this.#changed.clear()
  }
}
