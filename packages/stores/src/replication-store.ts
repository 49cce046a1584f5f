/** A store of the state of a replication. */
import type { Database, Replication, ReplicationProgress, ReplicationStatus } from 'pannier'
import { keptFor, oneAtATime, storeOf, type Kept, type Store } from './store.ts'

/** How a replication is. */
export interface ReplicationState {
  /** The status of the replication: 'idle' without one. */
  readonly status: ReplicationStatus | 'idle'
  /** The error for which it waits to try again, or has failed. */
  readonly error: unknown
  /** The status of all parts together; undefined without a replication. */
  readonly progress: ReplicationProgress | undefined
  /** Changes here that are not sent yet, also while there is no network. Undefined until they are counted. */
  readonly unsent: number | undefined
}

const IDLE = { status: 'idle', error: undefined, progress: undefined } as const

/** The store of a replication. Commits of `db` change what is not sent. */
export function nextReplication(
  before: Kept<Store<ReplicationState>> | undefined,
  db: Pick<Database, 'subscribe'>,
  replication: Replication | undefined,
): Kept<Store<ReplicationState>> {
  return keptFor(before, [db, replication], replicationStore)
}

function replicationStore(
  db: Pick<Database, 'subscribe'>,
  replication: Replication | undefined,
): Store<ReplicationState> {
  const stateOf = (unsent: number | undefined): ReplicationState => {
    const { status, error, progress } = replication ?? IDLE
    return { status, error, progress, unsent }
  }
  const store = storeOf(stateOf(undefined), (show) => {
    if (replication === undefined) return undefined
    const known = (): number | undefined => store.read().unsent
    // A database that is closed counts no more: what was known stays.
    const count = oneAtATime(async () => show(stateOf(await replication.unsent().catch(known))))
    const changed = (): void => {
      show(stateOf(known()))
      count()
    }
    const stops = [replication.subscribe(changed), db.subscribe(changed)]
    // No event tells the end of one that could not begin.
    replication.then(changed, changed)
    changed()
    return () => stops.forEach((stop) => stop())
  })
  return store
}
