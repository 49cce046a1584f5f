/** The time line: what has happened since devtools look. It is bounded, and can be paused. */
import type { Replication } from 'pannier'
import type { Environment } from 'pannier/types'
import { bounded, messageOf, Model } from './model.ts'
import { accountName, type AnyClient, type Source, type SourceList } from './source.ts'

/** The kind of an event. */
export type EventKind = 'commit' | 'sync' | 'error'

/** The ids that a commit has changed in a collection; undefined: they are too many to list. */
interface CommittedIds {
  readonly collection: string
  readonly ids: readonly string[] | undefined
  readonly dropped: boolean
}

/** An event on the time line. */
export interface TimelineEvent {
  readonly id: number
  readonly kind: EventKind
  /** The time at which it came, by the clock on the wall. */
  readonly at: number
  readonly where: string
  readonly text: string
  /** Whether the commit is local: made by this tab. */
  readonly isLocal?: boolean
  readonly changes?: readonly CommittedIds[]
}

const EVENTS_MAX = 500
/** More ids of a commit are only counted. */
const IDS_MAX = 20

/** The parts of an app whose events are shown. */
interface TimelineParts {
  readonly sources: SourceList
  readonly clients: readonly AnyClient[]
  readonly replications: readonly Replication[]
}

export class TimelineModel extends Model {
  /** The events that are shown, the oldest first. */
  events: readonly TimelineEvent[] = []
  isPaused = false
  /** Events that came during a pause. */
  missed = 0
  kinds: ReadonlySet<EventKind> = new Set<EventKind>(['commit', 'sync', 'error'])
  readonly #environment: Environment
  readonly #followed = new Map<Source, () => void>()
  readonly #stops: (() => void)[] = []
  /** All events, also those of a pause. */
  #all: readonly TimelineEvent[] = []
  #count = 0

  constructor(environment: Environment, { sources, clients, replications }: TimelineParts) {
    super()
    this.#environment = environment
    this.#follow(sources.sources)
    this.#stops.push(sources.subscribe(() => this.#follow(sources.sources)))
    for (const client of clients) this.#stops.push(this.#followClient(client))
    for (const [at, replication] of replications.entries()) this.#stops.push(this.#followReplication(replication, at))
  }

  stop(): void {
    for (const stop of [...this.#stops, ...this.#followed.values()]) stop()
  }

  pause(): void {
    this.isPaused = true
    this.missed = 0
    this.changed()
  }

  resume(): void {
    this.isPaused = false
    this.missed = 0
    this.events = this.#all
    this.changed()
  }

  clear(): void {
    this.#all = this.events = []
    this.missed = 0
    this.changed()
  }

  /** Shows events of a kind, or hides them. */
  toggle(kind: EventKind): void {
    const kinds = new Set(this.kinds)
    if (!kinds.delete(kind)) kinds.add(kind)
    this.kinds = kinds
    this.changed()
  }

  get shown(): readonly TimelineEvent[] {
    return this.events.filter(({ kind }) => this.kinds.has(kind))
  }

  #add(event: Omit<TimelineEvent, 'id' | 'at'>): void {
    this.#all = bounded(this.#all, { id: ++this.#count, at: this.#environment.wallClock(), ...event }, EVENTS_MAX)
    if (this.isPaused) this.missed++
    else this.events = this.#all
    this.changed()
  }

  #follow(sources: readonly Source[]): void {
    for (const [source, stop] of this.#followed) {
      if (sources.includes(source)) continue
      stop()
      this.#followed.delete(source)
    }
    for (const source of sources) {
      if (this.#followed.has(source)) continue
      const { name: where, client } = source
      const isShown = (collection: string): boolean => client === undefined || !collection.startsWith('$')
      const stop = source.follow(({ collections, local }) => {
        const changes = [...collections]
          .filter(([collection]) => isShown(collection))
          .map(([collection, { ids, dropped }]) => ({ collection, ids, dropped }))
        if (changes.length === 0) return
        const kept = changes.map((change) => ({ ...change, ids: change.ids?.slice(0, IDS_MAX) }))
        this.#add({ kind: 'commit', where, text: changes.map(changeText).join(', '), isLocal: local, changes: kept })
      })
      this.#followed.set(source, stop)
      void source.db.closed.then((reason) => {
        if (this.#followed.get(source) !== stop) return
        this.#add({ kind: 'error', where, text: reason === undefined ? 'closed' : messageOf(reason) })
      })
    }
  }

  #followClient(client: AnyClient): () => void {
    let last = ''
    return client.subscribeState((state) => {
      const { status, unsent, rejected, error } = state
      const counts = [unsent > 0 && `${unsent} waiting`, rejected > 0 && `${rejected} refused`].filter(Boolean)
      const text = [status, ...counts, error && messageOf(error)].filter(Boolean).join(' · ')
      if (text === last) return
      last = text
      this.#add({ kind: status === 'failed' ? 'error' : 'sync', where: accountName(state), text })
    })
  }

  #followReplication(replication: Replication, at: number): () => void {
    return replication.subscribe((event) => {
      const { type } = event
      const kind = type === 'denied' || 'error' in event ? 'error' : 'sync'
      const error = 'error' in event ? ` · ${messageOf(event.error)}` : ''
      this.#add({ kind, where: `replication ${at + 1}`, text: `${type}${error}` })
    })
  }
}

function changeText({ collection, ids, dropped }: CommittedIds): string {
  if (dropped) return `${collection} dropped`
  if (ids === undefined) return `${collection}: many`
  return `${collection}: ${ids.length === 1 ? ids[0] : ids.length}`
}
