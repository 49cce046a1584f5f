/** Holds what is wished: opens and closes the replica, and follows the server. Loaded when something is held. */
import type { Collection } from '../../api/collections.ts'
import { request } from '../../api/request.ts'
import { collections, findCollection, keepDefinitions } from '../collections.ts'
import { followKept, keep, readKept } from '../kept.ts'
import { isServerThere, session } from '../session.ts'
import { device, LEFT, readWish, SYNCED_AT, WISH } from './device.ts'
import type { Held, Wish } from './device.ts'
import type { HeldNames } from './local-list.ts'
import type { ReplicaStatus } from './replica.ts'

/** How long the page waits for what is sent, before it reads from the server again. */
const SENDING_MS_MAX = 10_000

let hasBegun = false

/** Does it once. */
export function begin(): void {
  if (hasBegun) return
  hasBegun = true
  followKept(WISH, readAgain)
  for (const store of [session, collections]) store.follow(settle)
  for (const store of [device, collections]) store.follow(keepNames)
  isServerThere.follow(() => void followServer())
  if (!isServerThere.get()) void followServer()
  readAgain()
}

/** Holds a collection from now on, or another part of it. */
export function hold(held: Held): void {
  begin()
  store([...device.get().held.filter(({ id }) => id !== held.id), held])
}

/** What is held of it goes from the device. */
export async function release(id: string): Promise<void> {
  const others = device.get().held.filter((one) => one.id !== id)
  if (others.length === 0) return wipe()
  store(others)
}

/** Deletes all that is held, with what waits. */
export async function wipe(): Promise<void> {
  const ids = device.get().held.map(({ id }) => id)
  if (ids.length === 0) return
  await inTurn(async () => {
    await close()
    keep(WISH, undefined)
    keep(SYNCED_AT, undefined)
    keepDefinitions(undefined)
    keptNames = []
    const { wipeHeld } = await import('./replica.ts')
    await wipeHeld(ids, { discard: true })
    const { forgetPage } = await import('./page-files.ts')
    await forgetPage()
  })
}

/** Nothing is held until something is wished again. */
async function close(): Promise<void> {
  const { replica } = device.get()
  openKey = ''
  device.update((before) => ({ ...before, held: [], replica: undefined, status: undefined, syncedAt: undefined }))
  await replica?.close()
}

let keptNames: readonly Collection[] = []

/** What is held is of no use without its definitions. */
function keepNames(): void {
  const { list, status } = collections.get()
  if (status !== 'ready' || list === keptNames || device.get().held.length === 0) return
  keptNames = list
  keepDefinitions(list)
}

function store(held: readonly Held[]): void {
  const account = session.get()?.record.id
  if (account === undefined) return
  keep(WISH, { account, collections: held } satisfies Wish)
  readAgain()
}

/** Another tab may have stored another wish. */
function readAgain(): void {
  const held = readWish()?.collections ?? []
  device.update((before) => ({ ...before, held }))
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
    const names = wishedNames()
    const key = JSON.stringify(names ?? '')
    const login = session.get()
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
      const replica = await openReplica(names, login, shown, (reading) =>
        device.update((state) => ({ ...state, reading })),
      )
      device.update((state) => ({ ...state, replica, status: replica.status }))
      const { keepPage } = await import('./page-files.ts')
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
  const wish = readWish()
  if (account === undefined) return
  if (wish !== undefined && wish.account !== account) {
    await close()
    const { wipeHeld } = await import('./replica.ts')
    const isLeft = !(await wipeHeld(
      wish.collections.map(({ id }) => id),
      { discard: false },
    ))
    keep(WISH, undefined)
    keep(SYNCED_AT, undefined)
    if (isLeft) keep(LEFT, [...readLeft(), wish])
  }
  const left = readLeft()
  const own = left.find((one) => one.account === account)
  if (own === undefined || readWish() !== undefined) return
  keep(
    LEFT,
    left.filter((one) => one !== own),
  )
  keep(WISH, own)
  device.update((state) => ({ ...state, held: own.collections }))
}

function readLeft(): readonly Wish[] {
  return readKept<readonly Wish[]>(LEFT) ?? []
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
  const syncedAt = isSynced ? Date.now() : device.get().syncedAt
  if (isSynced) keep(SYNCED_AT, syncedAt)
  // It may have been refused for a moment. A request says whether the server is away.
  if (status.state === 'offline') request('GET', '/health').catch(() => undefined)
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
    new Promise((resolve) => setTimeout(resolve, replica === undefined ? 0 : SENDING_MS_MAX)),
  ])
  if (isServerThere.get()) device.update((before) => ({ ...before, isAway: false }))
}
