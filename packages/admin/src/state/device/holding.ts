/** Holds what is wished: opens and closes the replica, and follows the server. Loaded when something is held. */
import type { Environment } from '../../environment.ts'
import type { Collection } from '../../api/collections.ts'
import { request } from '../../api/request.ts'
import { collections, findCollection, keepDefinitions } from '../collections.ts'
import { followKept, keep, readKept } from '../kept.ts'
import { isServerThere, session } from '../session.ts'
import { device, LEFT, ownHeld, readWish, SYNCED_AT, WISH } from './device.ts'
import type { Held, Wish } from './device.ts'
import type { HeldNames } from './local-list.ts'
import type { ReplicaStatus } from './replica.ts'

/** How long the page waits for what is sent, before it reads from the server again. */
const SENDING_MS_MAX = 10_000
const WORKER = 'service-worker.js'

/** Undefined: nothing has begun. */
let environment: Environment | undefined

/** Does it once. */
export function begin(given: Environment): void {
  if (environment !== undefined) return
  environment = given
  followKept(WISH, settle)
  for (const store of [session, collections]) store.follow(settle)
  for (const store of [device, collections]) store.follow(keepNames)
  isServerThere.follow(() => void followServer())
  if (!isServerThere.get()) void followServer()
  settle()
}

/** Holds a collection from now on, or another part of it. */
export function hold(held: Held, given: Environment): Promise<void> {
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
  await inTurn(async () => {
    const wish = readWish()
    if (wish === undefined || wish.account !== session.get()?.record.id || !(await leave(wish, discard))) return
    keepDefinitions(undefined)
    keptNames = []
    await forgetPage()
  })
}

/** Closes what is held for a superuser, and deletes it if no writes wait. Gives whether it did. */
async function leave(wish: Wish, discard: boolean): Promise<boolean> {
  await close()
  const others = readLeft().filter(({ account }) => account !== wish.account)
  const left = [...others, wish]
  // Whenever this ends, it is named while something of it may wait. The superuser's own tabs would hold it again at once.
  if (wish.account !== session.get()?.record.id) keepLeft(left)
  keep(WISH, undefined)
  keep(SYNCED_AT, undefined)
  let isWiped = false
  try {
    const { wipeHeld } = await import('./replica.ts')
    isWiped = await wipeHeld({ account: wish.account, names: wish.collections.map(({ id }) => id), discard })
  } finally {
    keepLeft(isWiped ? others : left)
  }
  return isWiped
}

/** Nothing is held until something is wished again. */
async function close(): Promise<void> {
  const { replica } = device.get()
  openKey = ''
  device.update((before) => ({ ...before, held: [], replica: undefined, status: undefined, syncedAt: undefined }))
  await replica?.close()
}

let keptNames: readonly Collection[] = []

/** Keeps the definitions, as held records are of no use without them. */
function keepNames(): void {
  const { list, status } = collections.get()
  if (status !== 'ready' || list === keptNames || device.get().held.length === 0) return
  // Another tab has just deleted it.
  if (readWish() === undefined) return
  keptNames = list
  keepDefinitions(list)
}

/** In turn, as what another superuser has held goes first. */
async function change(made: (held: readonly Held[]) => readonly Held[]): Promise<void> {
  await inTurn(async () => {
    await leaveOther()
    const account = session.get()?.record.id
    if (account === undefined) return
    keep(WISH, { account, collections: made(ownHeld()) } satisfies Wish)
  })
  settle()
}

let openKey = ''
let turn: Promise<unknown> = Promise.resolve()

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const done = turn.then(work)
  turn = done.catch(() => undefined)
  return done
}

/** Opens what is wished, and closes what is not. */
function settle(): void {
  void inTurn(async () => {
    await leaveOther()
    // Another tab may have deleted what was held, and this one may have kept the time of a sync after that.
    if (readWish() === undefined) {
      keep(SYNCED_AT, undefined)
      keptNames = []
    }
    const names = wishedNames()
    const login = session.get()
    device.update((before) => ({ ...before, held: ownHeld() }))
    const key = names === undefined ? '' : JSON.stringify([login?.record.id, names])
    if (key === openKey) {
      if (login !== undefined) await device.get().replica?.renew(login)
      return
    }
    openKey = key
    const before = device.get().replica
    device.update((state) => ({ ...state, replica: undefined, status: undefined, error: undefined }))
    await before?.close()
    if (names === undefined || login === undefined) return
    try {
      const { openReplica } = await import('./replica.ts')
      const onProgress = (reading: number | undefined): void => device.update((state) => ({ ...state, reading }))
      const replica = await openReplica(environment!, names, login, shown, onProgress)
      device.update((state) => ({ ...state, replica, status: replica.status }))
      await keepPage()
    } catch (error) {
      // It is tried again when the server is back, or when something else is wished.
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
  const wish = readWish()
  if (wish !== undefined && wish.account !== account) await leave(wish, false)
  const own = readLeft().find((one) => one.account === account)
  if (own === undefined || readWish() !== undefined) return
  keep(WISH, own)
  keepLeft(readLeft().filter((one) => one.account !== account))
}

function readLeft(): readonly Wish[] {
  return readKept<readonly Wish[]>(LEFT) ?? []
}

function keepLeft(wishes: readonly Wish[]): void {
  keep(LEFT, wishes.length === 0 ? undefined : wishes)
}

/** By the names that collections have now; undefined: nothing is held, or it is somebody else's. */
function wishedNames(): HeldNames | undefined {
  const wish = readWish()
  const account = session.get()?.record.id
  const { list } = collections.get()
  if (wish === undefined || wish.account !== account || list.length === 0) return undefined
  const found = wish.collections.flatMap(({ id, filter }) => {
    const collection = findCollection(list, id)
    return collection === undefined ? [] : [[collection.name, filter] as const]
  })
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

function shown(status: ReplicaStatus): void {
  const isSynced = status.state === 'synced' && device.get().held.length > 0
  const syncedAt = isSynced ? environment!.wallClock() : device.get().syncedAt
  if (isSynced) keep(SYNCED_AT, syncedAt)
  // It may have been refused for a moment. A request says whether the server is away.
  if (status.state === 'offline' && isServerThere.get()) request('GET', '/health').catch(() => undefined)
  device.update((before) => ({ ...before, status, syncedAt }))
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
