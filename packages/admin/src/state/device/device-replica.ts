/** The replica of the held collections: opens and closes it, and follows the server. Loaded when something is held. */
import type { Environment } from '../../environment.ts'
import type { Collection } from '../../api/collections.ts'
import { request } from '../../api/request.ts'
import { collections, findCollection, keepDefinitions } from '../collections.ts'
import { followKept, keep, readKept } from '../kept.ts'
import { isServerThere, session } from '../session.ts'
import { device, DEPARTED, ownHeld, readHeldCollections, SYNCED_AT, HELD_COLLECTIONS } from './device.ts'
import type { HeldCollection, HeldCollections } from './device.ts'
import type { HeldNames } from './local-list.ts'
import type { ReplicaState } from './replica.ts'

/** How long the page waits for what is sent, before it reads from the server again. */
const SENDING_MS_MAX = 10_000
const WORKER = 'service-worker.js'

/** Undefined: nothing has begun. */
let environment: Environment | undefined

/** Begins to hold, once. */
export function begin(given: Environment): void {
  if (environment !== undefined) return
  environment = given
  followKept(HELD_COLLECTIONS, settle)
  for (const store of [session, collections]) store.follow(settle)
  for (const store of [device, collections]) store.follow(keepNames)
  isServerThere.follow(() => void followServer())
  if (!isServerThere.get()) void followServer()
  settle()
}

/** Holds a collection from now on, or another part of it. */
export function hold(held: HeldCollection, given: Environment): Promise<void> {
  begin(given)
  return change((all) => [...all.filter(({ id }) => id !== held.id), held])
}

/** Deletes the records of a collection from the device. */
export async function release(id: string): Promise<void> {
  const others = device.get().held.filter((one) => one.id !== id)
  if (others.length === 0) return wipe({ discard: false })
  await change((all) => all.filter((one) => one.id !== id))
}

/** Deletes all that is held. Writes that wait are lost only with `discard`: else all stays, until the superuser signs in again. */
export async function wipe({ discard }: { readonly discard: boolean }): Promise<void> {
  await afterLast(async () => {
    const stored = readHeldCollections()
    if (stored === undefined || stored.account !== session.get()?.record.id || !(await leave(stored, discard))) return
    keepDefinitions(undefined)
    keptNames = []
    await forgetPage()
  })
}

/** Closes what is held for a superuser, and deletes it if no writes wait. Gives whether it did. */
async function leave(stored: HeldCollections, discard: boolean): Promise<boolean> {
  await close()
  const others = readDeparted().filter(({ account }) => account !== stored.account)
  const departed = [...others, stored]
  // Whenever this ends, it is named while something of it may wait. The superuser's own tabs would hold it again at once.
  if (stored.account !== session.get()?.record.id) keepDeparted(departed)
  keep(HELD_COLLECTIONS, undefined)
  keep(SYNCED_AT, undefined)
  let isWiped = false
  try {
    const { wipeHeld } = await import('./replica.ts')
    isWiped = await wipeHeld({ account: stored.account, names: stored.collections.map(({ id }) => id), discard })
  } finally {
    keepDeparted(isWiped ? others : departed)
  }
  return isWiped
}

/** Closes the replica until a collection is held again. */
async function close(): Promise<void> {
  const { replica } = device.get()
  openKey = ''
  device.update((before) => ({ ...before, held: [], replica: undefined, state: undefined, syncedAt: undefined }))
  await replica?.close()
}

let keptNames: readonly Collection[] = []

/** Keeps the definitions, as held records are of no use without them. */
function keepNames(): void {
  const { list, status } = collections.get()
  if (status !== 'ready' || list === keptNames || device.get().held.length === 0) return
  // Another tab has just deleted it.
  if (readHeldCollections() === undefined) return
  keptNames = list
  keepDefinitions(list)
}

/** Opens the replica after what runs, as the records that another superuser had go first. */
async function change(made: (held: readonly HeldCollection[]) => readonly HeldCollection[]): Promise<void> {
  await afterLast(async () => {
    await leaveOther()
    const account = session.get()?.record.id
    if (account === undefined) return
    keep(HELD_COLLECTIONS, { account, collections: made(ownHeld()) } satisfies HeldCollections)
  })
  settle()
}

let openKey = ''
let lastWork: Promise<unknown> = Promise.resolve()

function afterLast<T>(work: () => Promise<T>): Promise<T> {
  const done = lastWork.then(work)
  lastWork = done.catch(() => undefined)
  return done
}

/** Opens the held collections, and closes all others. */
function settle(): void {
  void afterLast(async () => {
    await leaveOther()
    // Another tab may have deleted what was held, and this one may have kept the time of a sync after that.
    if (readHeldCollections() === undefined) {
      keep(SYNCED_AT, undefined)
      keptNames = []
    }
    const names = heldNames()
    const login = session.get()
    device.update((before) => ({ ...before, held: ownHeld() }))
    const key = names === undefined ? '' : JSON.stringify([login?.record.id, names])
    if (key === openKey) {
      if (login !== undefined) await device.get().replica?.renew(login)
      return
    }
    openKey = key
    const before = device.get().replica
    device.update((state) => ({ ...state, replica: undefined, state: undefined, error: undefined }))
    await before?.close()
    if (names === undefined || login === undefined) return
    try {
      const { openReplica } = await import('./replica.ts')
      const onProgress = (reading: number | undefined): void => device.update((state) => ({ ...state, reading }))
      const replica = await openReplica(environment!, names, login, shown, onProgress)
      device.update((before) => ({ ...before, replica, state: replica.state }))
      await keepPage()
    } catch (error) {
      // It is tried again when the server is back, or when other collections are held.
      openKey = ''
      device.update((state) => ({ ...state, error }))
    }
  })
}

/**
 * Another superuser has signed in. What the one before has held is deleted. Only if writes wait, it stays, closed, until that one signs in
 * again.
 */
async function leaveOther(): Promise<void> {
  const account = session.get()?.record.id
  if (account === undefined) return
  const stored = readHeldCollections()
  if (stored !== undefined && stored.account !== account) await leave(stored, false)
  const own = readDeparted().find((one) => one.account === account)
  if (own === undefined || readHeldCollections() !== undefined) return
  keep(HELD_COLLECTIONS, own)
  keepDeparted(readDeparted().filter((one) => one.account !== account))
}

function readDeparted(): readonly HeldCollections[] {
  return readKept<readonly HeldCollections[]>(DEPARTED) ?? []
}

function keepDeparted(all: readonly HeldCollections[]): void {
  keep(DEPARTED, all.length === 0 ? undefined : all)
}

/** By the names that collections have now; undefined: nothing is held, or it is somebody else's. */
function heldNames(): HeldNames | undefined {
  const stored = readHeldCollections()
  const account = session.get()?.record.id
  const { list } = collections.get()
  if (stored === undefined || stored.account !== account || list.length === 0) return undefined
  const found = stored.collections.flatMap(({ id, filter }) => {
    const collection = findCollection(list, id)
    return collection === undefined ? [] : [[collection.name, filter] as const]
  })
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

function shown(state: ReplicaState): void {
  const isSynced = state.status === 'synced' && device.get().held.length > 0
  const syncedAt = isSynced ? environment!.wallClock() : device.get().syncedAt
  if (isSynced) keep(SYNCED_AT, syncedAt)
  // It may have been refused for a moment. A request says whether the server is away.
  if (state.status === 'offline' && isServerThere.get()) request('GET', '/health').catch(() => undefined)
  device.update((before) => ({ ...before, state, syncedAt }))
}

/** When the server is back, what waits is sent before anything is read from the server. */
async function followServer(): Promise<void> {
  if (!isServerThere.get()) {
    device.update((before) => ({ ...before, isAway: true }))
    return
  }
  const { replica } = device.get()
  if (replica === undefined) settle()
  await Promise.race([
    replica?.sync().catch(() => undefined),
    new Promise<void>((resolve) => environment!.after(replica === undefined ? 0 : SENDING_MS_MAX, resolve)),
  ])
  if (isServerThere.get()) device.update((before) => ({ ...before, isAway: false }))
}

/**
 * Keeps the page's own files, so that it opens while the server is away. Browsers without service workers, and pages without HTTPS, open
 * again only when the server is there.
 */
async function keepPage(): Promise<void> {
  await workers()?.register(new URL(WORKER, document.baseURI))
}

async function forgetPage(): Promise<void> {
  const registration = await workers()?.getRegistration(document.baseURI)
  await registration?.unregister()
  if (!('caches' in globalThis)) return
  for (const name of await caches.keys()) if (name.startsWith('pannier-admin-')) await caches.delete(name)
}

function workers(): ServiceWorkerContainer | undefined {
  return navigator.serviceWorker as ServiceWorkerContainer | undefined
}
