/**
 * The records that this browser holds, so that the page works while the server is away: docs/internals/admin.md. The replica itself is
 * loaded when a collection is held.
 */
import type { Collection } from '../../api/collections.ts'
import { followKept, readKept } from '../kept.ts'
import { session } from '../session.ts'
import { Store, useStore } from '../store.ts'
import type { Replica, ReplicaState } from './replica.ts'

/** A collection that is held: as a whole, or those of its records that meet a filter. */
export interface HeldCollection {
  readonly id: string
  readonly filter: string
}

/** The choice that the browser keeps: the account, and its collections. */
export interface HeldCollections {
  readonly account: string
  readonly collections: readonly HeldCollection[]
}

export interface DeviceState {
  readonly held: readonly HeldCollection[]
  /** Undefined: nothing is held, or it is not open yet. */
  readonly replica: Replica | undefined
  readonly state: ReplicaState | undefined
  /** The time when it was last synced with the server: milliseconds since 1970. */
  readonly syncedAt: number | undefined
  /** The server is away, or what has waited for it is being sent. What is held is shown meanwhile. */
  readonly isAway: boolean
  /** How many records the list that is made has read; undefined: no list is made. */
  readonly reading: number | undefined
  /** Why the replica could not be opened. */
  readonly error: unknown
}

export const HELD_COLLECTIONS = 'device'
/** Held collections of superusers who have signed out while writes here wait. */
export const DEPARTED = 'device-left'
export const SYNCED_AT = 'device-synced'
export const device: Store<DeviceState> = new Store({
  held: [],
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

/** Calls `begin` when a collection is to be held, now or by another tab. Call it once. */
export function startDevice(begin: () => Promise<void>): void {
  device.update((before) => ({ ...before, held: ownHeld() }))
  followKept(HELD_COLLECTIONS, () => void begin())
  if (readHeldCollections() !== undefined || readKept(DEPARTED) !== undefined) void begin()
}

/** Only what an app would sync: the rows of a view are not stored, and those of the system are the server's own. */
export function canBeHeld({ type, system }: Collection): boolean {
  return type !== 'view' && !system
}

/** The replica, if it has the whole held part of a collection. */
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

export function readHeldCollections(): HeldCollections | undefined {
  return readKept<HeldCollections>(HELD_COLLECTIONS)
}

/** The collections of the superuser who is signed in. Collections of another superuser are not shown. */
export function ownHeld(): readonly HeldCollection[] {
  const stored = readHeldCollections()
  return stored !== undefined && stored.account === session.get()?.record.id ? stored.collections : []
}
