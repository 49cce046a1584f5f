/**
 * The records of a list, however many there are: pages are loaded where the table shows them, and again when something has changed.
 * The number of records is exact: the server counts.
 */
import type { Environment } from '../../environment.ts'
import type { Collection } from '../../api/collections.ts'
import { realtime } from '../../api/realtime.ts'
import { followSource, listRecords } from '../../state/device/records.ts'
import type { ListQuery, Row } from '../../api/records.ts'

const PAGE = 100
/** Pages far from what is shown are dropped. */
const PAGES_MAX = 60
/** Someone who drags the scroll bar passes many pages. */
const SETTLE_MS = 60
/** Many changes at once are loaded together. */
const CHANGES_MS = 250

interface Page {
  readonly rows: readonly Row[]
  /** Grows with each change: pages of older generations are loaded again when they are shown. */
  readonly generation: number
}

type ListWish = Pick<ListQuery, 'sort' | 'filter' | 'expand' | 'fields'>

export interface ListState {
  /** Undefined until the server has counted. */
  readonly total: number | undefined
  /** Why the newest page could not be loaded. */
  readonly error: unknown
  /** Grows with each change of what `row` gives. */
  readonly version: number
}

export class RecordPages {
  private readonly environment: Environment
  private readonly collection: Collection
  private readonly wish: ListWish
  private readonly pages = new Map<number, Page>()
  private readonly loading = new Map<number, AbortController>()
  private readonly listeners = new Set<() => void>()
  private readonly changed = new Set<string>()
  private state: ListState = { total: undefined, error: undefined, version: 0 }
  private generation = 0
  private countedGeneration = -1
  private shown: readonly [first: number, last: number] = [0, 0]
  private cancelLoad: (() => void) | undefined
  private cancelReload: (() => void) | undefined

  constructor(environment: Environment, collection: Collection, wish: ListWish) {
    this.environment = environment
    this.collection = collection
    this.wish = wish
  }

  /** Begins to load and to follow changes. Returns what ends it. */
  start(): () => void {
    this.load()
    const reload = (): void => this.reload()
    const isFollowed = this.collection.type !== 'view'
    const unfollow = isFollowed
      ? realtime.follow(
          `${this.collection.name}/*`,
          ({ record }) => {
            this.changed.add(record.id)
            this.cancelReload ??= this.environment.after(CHANGES_MS, () => this.reload())
          },
          reload,
        )
      : undefined
    const unfollowSource = followSource(this.collection.name, reload)
    return () => {
      unfollow?.()
      unfollowSource()
      this.cancelLoad?.()
      this.cancelReload?.()
      for (const controller of this.loading.values()) controller.abort()
    }
  }

  readonly follow = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  readonly get = (): ListState => this.state

  /** Undefined while it is not loaded. */
  row(index: number): Row | undefined {
    return this.pages.get(Math.floor(index / PAGE))?.rows[index % PAGE]
  }

  /** Whether it was changed by somebody since the list is shown. */
  wasChanged(id: string): boolean {
    return this.changed.has(id)
  }

  /** All rows that are loaded, in their order. */
  loadedRows(): readonly Row[] {
    return [...this.pages].sort(([a], [b]) => a - b).flatMap(([, { rows }]) => rows)
  }

  /** Says which rows the table shows. */
  show(first: number, last: number): void {
    if (this.shown[0] === first && this.shown[1] === last) return
    this.shown = [first, last]
    this.cancelLoad ??= this.environment.after(SETTLE_MS, () => this.load())
  }

  /** Loads everything that is shown again, and counts again. What is there stays until then. */
  reload(): void {
    this.cancelReload?.()
    this.cancelReload = undefined
    this.generation++
    this.load()
  }

  private load(): void {
    this.cancelLoad?.()
    this.cancelLoad = undefined
    const first = Math.floor(this.shown[0] / PAGE)
    const last = Math.floor(this.shown[1] / PAGE)
    for (const [at, controller] of this.loading)
      if (at < first || at > last) {
        controller.abort()
        this.loading.delete(at)
      }
    for (let at = first; at <= last; at++)
      if (this.pages.get(at)?.generation !== this.generation && !this.loading.has(at)) void this.loadPage(at)
  }

  private async loadPage(at: number): Promise<void> {
    const controller = new AbortController()
    const { generation } = this
    this.loading.set(at, controller)
    const skipTotal = this.countedGeneration === generation
    try {
      const query = { ...this.wish, page: at + 1, perPage: PAGE, skipTotal }
      const { items, totalItems } = await listRecords(this.collection.name, query, controller.signal)
      this.keep(at, { rows: items, generation })
      if (!skipTotal) this.countedGeneration = generation
      this.set({ error: undefined, ...(!skipTotal && { total: totalItems }) })
    } catch (error) {
      if (controller.signal.aborted) return
      this.set({ error })
    } finally {
      if (this.loading.get(at) === controller) this.loading.delete(at)
    }
    // Something has changed meanwhile.
    if (generation !== this.generation) this.load()
  }

  private keep(at: number, page: Page): void {
    this.pages.set(at, page)
    if (this.pages.size <= PAGES_MAX) return
    const [first, last] = this.shown
    const middle = (first + last) / 2 / PAGE
    const far = [...this.pages.keys()].sort((a, b) => Math.abs(b - middle) - Math.abs(a - middle))
    for (const each of far.slice(0, this.pages.size - PAGES_MAX)) this.pages.delete(each)
  }

  private set(changes: Partial<ListState>): void {
    this.state = { ...this.state, ...changes, version: this.state.version + 1 }
    for (const listener of this.listeners) listener()
  }
}
