/** The replica of the kept collections: opens and closes it, and follows the server. Loaded when a collection is kept. */
import type { Environment } from '../../environment.ts'
import type { Collection } from '../../api/collections.ts'
import { request } from '../../api/request.ts'
import { collections, findCollection, keepDefinitions } from '../collections.ts'
import { followKept, keep, readKept } from '../kept.ts'
import { isServerThere, session } from '../session.ts'
import { device, DEPARTED, ownKept, readKeptCollections, SYNCED_AT, KEPT_COLLECTIONS } from './device.ts'
import type { KeptCollection, KeptCollections } from './device.ts'
import type { KeptNames } from './local-list.ts'
import type { ReplicaState } from './replica.ts'

/** How long the page waits for what is sent, before it reads from the server again. */
const SENDING_MS_MAX = 10_000
const WORKER = 'service-worker.js'

/** Undefined: nothing has begun. */
let environment: Environment | undefined

/** Begins to keep collections, once. */
export function begin(given: Environment): void {
  if (environment !== undefined) return
  environment = given
  followKept(KEPT_COLLECTIONS, settle)
  for (const store of [session, collections]) store.follow(settle)
  for (const store of [device, collections]) store.follow(keepNames)
  isServerThere.follow(() => void followServer())
  if (!isServerThere.get()) void followServer()
  settle()
}

/** Keeps a collection from now on, or another part of it. */
export function keepCollection(chosen: KeptCollection, given: Environment): Promise<void> {
  begin(given)
  return change((all) => [...all.filter(({ id }) => id !== chosen.id), chosen])
}

/** Deletes the records of a collection from the device. */
export async function removeCollection(id: string): Promise<void> {
  const others = device.get().kept.filter((one) => one.id !== id)
  if (others.length === 0) return wipe({ discard: false })
  await change((all) => all.filter((one) => one.id !== id))
}

/** Deletes all kept records. Writes that wait are lost only with `discard`: else all stays, until the superuser signs in again. */
export async function wipe({ discard }: { readonly discard: boolean }): Promise<void> {
  await afterLast(async () => {
    const stored = readKeptCollections()
    if (stored === undefined || stored.account !== session.get()?.record.id || !(await leave(stored, discard))) return
    keepDefinitions(undefined)
    keptNames = []
    await forgetPage()
  })
}

/** Closes the replica of a superuser, and deletes it if no writes wait. Gives whether it did. */
async function leave(stored: KeptCollections, discard: boolean): Promise<boolean> {
  await close()
  const others = readDeparted().filter(({ account }) => account !== stored.account)
  const departed = [...others, stored]
  // Whenever this ends, it is named while something of it may wait. The superuser's own tabs would keep it again at once.
  if (stored.account !== session.get()?.record.id) keepDeparted(departed)
  keep(KEPT_COLLECTIONS, undefined)
  keep(SYNCED_AT, undefined)
  let isWiped = false
  try {
    const { wipeKept } = await import('./replica.ts')
    isWiped = await wipeKept({ account: stored.account, names: stored.collections.map(({ id }) => id), discard })
  } finally {
    keepDeparted(isWiped ? others : departed)
  }
  return isWiped
}

/** Closes the replica until a collection is kept again. */
async function close(): Promise<void> {
  const { replica } = device.get()
  openKey = ''
  device.update((before) => ({ ...before, kept: [], replica: undefined, state: undefined, syncedAt: undefined }))
  await replica?.close()
}

let keptNames: readonly Collection[] = []

/** Keeps the definitions, as kept records are of no use without them. */
function keepNames(): void {
  const { list, status } = collections.get()
  if (status !== 'ready' || list === keptNames || device.get().kept.length === 0) return
  // Another tab has just deleted it.
  if (readKeptCollections() === undefined) return
  keptNames = list
  keepDefinitions(list)
}

/** Opens the replica after what runs, as the records that another superuser had go first. */
async function change(choose: (kept: readonly KeptCollection[]) => readonly KeptCollection[]): Promise<void> {
  await afterLast(async () => {
    await leaveOther()
    const account = session.get()?.record.id
    if (account === undefined) return
    keep(KEPT_COLLECTIONS, { account, collections: choose(ownKept()) } satisfies KeptCollections)
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

/** Opens the kept collections, and closes all others. */
function settle(): void {
  void afterLast(async () => {
    await leaveOther()
    // Another tab may have deleted the kept records, and this one may have kept the time of a sync after that.
    if (readKeptCollections() === undefined) {
      keep(SYNCED_AT, undefined)
      keptNames = []
    }
    const names = namesOfKept()
    const login = session.get()
    device.update((before) => ({ ...before, kept: ownKept() }))
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
      // It is tried again when the server is back, or when other collections are kept.
      openKey = ''
      device.update((state) => ({ ...state, error }))
    }
  })
}

/**
 * Another superuser has signed in. The records of the one before are deleted. Only if writes wait, it stays, closed, until that one signs in
 * again.
 */
async function leaveOther(): Promise<void> {
  const account = session.get()?.record.id
  if (account === undefined) return
  const stored = readKeptCollections()
  if (stored !== undefined && stored.account !== account) await leave(stored, false)
  const own = readDeparted().find((one) => one.account === account)
  if (own === undefined || readKeptCollections() !== undefined) return
  keep(KEPT_COLLECTIONS, own)
  keepDeparted(readDeparted().filter((one) => one.account !== account))
}

function readDeparted(): readonly KeptCollections[] {
  return readKept<readonly KeptCollections[]>(DEPARTED) ?? []
}

function keepDeparted(all: readonly KeptCollections[]): void {
  keep(DEPARTED, all.length === 0 ? undefined : all)
}

/** By the names that collections have now; undefined: no collection is kept, or it is somebody else's. */
function namesOfKept(): KeptNames | undefined {
  const stored = readKeptCollections()
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
  const isSynced = state.status === 'synced' && device.get().kept.length > 0
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
