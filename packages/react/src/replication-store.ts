/** A store of the state of a replication: React's external store. It listens while the component is mounted. */
import type { Database, Replication, ReplicationProgress, ReplicationStatus } from 'pannier'

/** The result of `useReplication`. */
export interface ReplicationState {
  /** 'idle' without a replication. */
  readonly status: ReplicationStatus | 'idle'
  /** Why it waits to try again, or has failed. */
  readonly error: unknown
  /** The status of all parts together; undefined without a replication. */
  readonly progress: ReplicationProgress | undefined
  /** Changes here that are not sent yet, also while there is no network. Undefined until they are counted. */
  readonly unsent: number | undefined
}

const IDLE: ReplicationState = Object.freeze({
  status: 'idle',
  error: undefined,
  progress: undefined,
  unsent: undefined,
})

export class ReplicationStore {
  readonly db: Pick<Database, 'subscribe'>
  readonly sync: Replication | undefined
  #state: ReplicationState
  #counting = false
  /** Something has changed since the count under way began. */
  #isStale = false

  constructor(db: Pick<Database, 'subscribe'>, sync: Replication | undefined) {
    this.db = db
    this.sync = sync
    this.#state = sync === undefined ? IDLE : stateOf(sync, undefined)
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    const { db, sync } = this
    if (sync === undefined) return () => {}
    let listens = true
    const show = (unsent: number | undefined): void => {
      const state = stateOf(sync, unsent)
      if (!listens || isSame(state, this.#state)) return
      this.#state = state
      listener()
    }
    const changed = (): void => {
      show(this.#state.unsent)
      void this.#count(sync, show)
    }
    const stops = [sync.subscribe(changed), db.subscribe(changed)]
    // Its end, which no event tells if it could not begin.
    sync.then(changed, changed)
    changed()
    return () => {
      listens = false
      for (const stop of stops) stop()
    }
  }

  readonly read = (): ReplicationState => this.#state

  async #count(sync: Replication, show: (unsent: number | undefined) => void): Promise<void> {
    this.#isStale = true
    if (this.#counting) return
    this.#counting = true
    while (this.#isStale) {
      this.#isStale = false
      // A database that is closed counts no more: what was known stays.
      show(await sync.unsent().catch(() => this.#state.unsent))
    }
    this.#counting = false
  }
}

function stateOf({ status, error, progress }: Replication, unsent: number | undefined): ReplicationState {
  return { status, error, progress, unsent }
}

function isSame(left: ReplicationState, right: ReplicationState): boolean {
  return (Object.keys(left) as (keyof ReplicationState)[]).every((name) => left[name] === right[name])
}
