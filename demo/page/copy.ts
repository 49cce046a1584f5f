/**
 * Opens, makes and deletes a copy of the cities in this browser. Each `?copy=N` is a database of its own, so two of
 * them are two replicas; with `?locked` a copy is encrypted. A Web Lock lets only one tab make a copy. The tabs tell
 * each other when the copy is complete or deleted; the database itself reports changes of documents.
 */
import { open } from 'pannier'
import type { Database, ReplicationProgress } from 'pannier'
import { indexedDb } from 'pannier/indexeddb'
import { COLLECTION } from '../shared/city.ts'
import type { City } from '../shared/city.ts'
import { buildIndexes } from '../shared/indexes.ts'

/** How the copy was made. */
export interface CopyRecord {
  readonly _id: string
  /** Once all cities and the indexes are there. */
  readonly documents: number
  readonly copyMs: number
  readonly indexMs: number
}

/** How far the server has what is in the copy: a sequence of the copy's change feed. */
export interface SentNote {
  readonly _id: 'sent'
  readonly seq: string
}

export interface OpenCopy {
  readonly db: Database
  /** Undefined as long as it is not complete. */
  readonly record: CopyRecord | undefined
  /** Time to the first answer; undefined if the copy was made just now. */
  readonly openMs: number | undefined
}

export interface MakeEvents {
  onWait(): void
  onCopy(documents: number, progress: ReplicationProgress): void
  onIndex(done: number): void
}

export type TabMessage = 'deleted' | 'complete'

const address = new URLSearchParams(location.search)
const asked = address.get('copy') ?? ''
/** The number of this tab's copy: 1 to 9. */
export const COPY: number = /^[1-9]$/.test(asked) ? Number(asked) : 1
/** The copy is encrypted, and needs a password to be opened. */
export const LOCKED: boolean = address.has('locked')
/** The copy's name for people. */
export const COPY_TITLE: string = `Copy ${COPY}${LOCKED ? ', locked' : ''}`
/** Names the database, and all that the tabs of a copy share. */
export const COPY_NAME: string = `pannier-cities-${COPY}${LOCKED ? '-locked' : ''}`
export const SERVER_URL: string = new URL(`/${COLLECTION}`, location.href).href
/** The collection of what the page notes about a copy. */
export const NOTES = 'meta'
const channel = new BroadcastChannel(COPY_NAME)
let password: string | undefined

/** Sets the password of a locked copy in this tab; undefined forgets it. */
export function unlockWith(given: string | undefined): void {
  password = given
}

export function isUnlocked(): boolean {
  return password !== undefined
}

export async function hasCopy(): Promise<boolean> {
  // Pannier puts a prefix before the name.
  return (await indexedDB.databases()).some(({ name }) => name?.endsWith(COPY_NAME))
}

export async function openCopy(): Promise<OpenCopy> {
  const started = performance.now()
  const db = await open(COPY_NAME, password === undefined ? {} : { encryption: { password } })
  try {
    const record = await db.collection<CopyRecord>(NOTES).get(COLLECTION)
    return { db, record, openMs: performance.now() - started }
  } catch (error) {
    await db.close()
    throw error
  }
}

/** Makes a copy: gets what is missing from the server. Resolves with the open copy; when it throws, the database is closed. */
export async function makeCopy(signal: AbortSignal, events: MakeEvents): Promise<OpenCopy> {
  const make = async (): Promise<OpenCopy> => {
    const copy = await openCopy()
    if (copy.record !== undefined) return copy
    try {
      const record = await fill(copy.db, signal, events)
      channel.postMessage('complete')
      return { db: copy.db, record, openMs: undefined }
    } catch (error) {
      await copy.db.close()
      throw error
    }
  }
  if (navigator.locks === undefined) return await make()
  const lock = `${COPY_NAME}-make`
  const atOnce = await navigator.locks.request(lock, { ifAvailable: true }, (held) => (held ? make() : undefined))
  if (atOnce !== undefined) return atOnce
  events.onWait()
  return await navigator.locks.request(lock, { signal }, make)
}

async function fill(db: Database, signal: AbortSignal, events: MakeEvents): Promise<CopyRecord> {
  const cities = db.collection<City>(COLLECTION)
  const before = await cities.find().count()
  let started = performance.now()
  const replication = cities.replicate({ from: SERVER_URL, signal, create: false })
  replication.subscribe(({ type }) => {
    const { docsWritten, changesChecked } = replication.progress
    // A city may come in several versions.
    if (type === 'change') events.onCopy(before + Math.min(docsWritten, changesChecked), replication.progress)
  })
  await replication
  // All of this the server has: pushing begins after it, and not by comparing every city.
  const { documents, lastSeq, epoch } = await cities.info()
  const seq = `${lastSeq}-${epoch}`
  await cities.replicate({ to: SERVER_URL, signal, create: false, since: seq })
  await db.collection<SentNote>(NOTES).upsert({ _id: 'sent', seq })
  const copyMs = performance.now() - started
  started = performance.now()
  await buildIndexes(db, { signal, onProgress: events.onIndex })
  const record = { _id: COLLECTION, documents, copyMs, indexMs: performance.now() - started }
  await db.collection<CopyRecord>(NOTES).upsert(record)
  return record
}

/** Deletes the copy, open or not. */
export async function deleteCopy(db: Database | undefined): Promise<void> {
  // One that is damaged can't be opened, but it can be deleted.
  if (db === undefined) await indexedDb().destroy(COPY_NAME)
  else await db.destroy()
  password = undefined
  channel.postMessage('deleted')
}

export function onTabMessage(listener: (message: TabMessage) => void): void {
  channel.onmessage = (event: MessageEvent<TabMessage>) => listener(event.data)
}
