/**
 * The records that this browser keeps, so that the page works while the server is away: docs/internals/admin.md. The replica itself is
 * loaded when a collection is kept.
 */
import type { Collection } from '../../api/collections.ts'
import { followKept, readKept } from '../kept.ts'
import { session } from '../session.ts'
import { Store, useStore } from '../store.ts'
import type { Replica, ReplicaState } from './replica.ts'

/** A collection that is kept here: as a whole, or those of its records that meet a filter. */
export interface KeptCollection {
  readonly id: string
  readonly filter: string
}

/** The choice that the browser keeps: the account, and its collections. */
export interface KeptCollections {
  readonly account: string
  readonly collections: readonly KeptCollection[]
}

export interface DeviceState {
  readonly kept: readonly KeptCollection[]
  /** Undefined: no collection is kept, or it is not open yet. */
  readonly replica: Replica | undefined
  readonly state: ReplicaState | undefined
  /** The time when it was last synced with the server: milliseconds since 1970. */
  readonly syncedAt: number | undefined
  /** The server is away, or what has waited for it is being sent. The kept records are shown meanwhile. */
  readonly isAway: boolean
  /** How many records the list that is made has read; undefined: no list is made. */
  readonly reading: number | undefined
  /** Why the replica could not be opened. */
  readonly error: unknown
}

export const KEPT_COLLECTIONS = 'device'
/** Kept collections of superusers who have signed out while writes here wait. */
export const DEPARTED = 'device-left'
export const SYNCED_AT = 'device-synced'
export const device: Store<DeviceState> = new Store({
  kept: [],
  replica: undefined,
  state: undefined,
  syncedAt: readKept<number>(SYNCED_AT),
  isAway: false,
  reading: undefined,
  error: undefined,
})

export function useDevice(): DeviceState {
  return useStore(device)
}

/** Calls `begin` when a collection is to be kept, now or by another tab. Call it once. */
export function startDevice(begin: () => Promise<void>): void {
  device.update((before) => ({ ...before, kept: ownKept() }))
  followKept(KEPT_COLLECTIONS, () => void begin())
  if (readKeptCollections() !== undefined || readKept(DEPARTED) !== undefined) void begin()
}

/** Only what an app would sync: the rows of a view are not stored, and those of the system are the server's own. */
export function canBeKept({ type, system }: Collection): boolean {
  return type !== 'view' && !system
}

/** The replica, if it has the whole kept part of a collection. */
export function replicaOf(collection: string): Replica | undefined {
  const { replica, state } = device.get()
  return replica?.names.includes(collection) === true && state?.incomplete.includes(collection) === false
    ? replica
    : undefined
}

/** The replica, if lists and forms of a collection are to read it now. */
export function replicaInUse(collection: string): Replica | undefined {
  return device.get().isAway ? replicaOf(collection) : undefined
}

export function readKeptCollections(): KeptCollections | undefined {
  return readKept<KeptCollections>(KEPT_COLLECTIONS)
}

/** The collections of the superuser who is signed in. Collections of another superuser are not shown. */
export function ownKept(): readonly KeptCollection[] {
  const stored = readKeptCollections()
  return stored !== undefined && stored.account === session.get()?.record.id ? stored.collections : []
}
