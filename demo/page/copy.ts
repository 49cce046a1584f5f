/**
 * This browser's copy of the cities: opened, loaded, deleted. Tabs take turns to load (a Web Lock) and tell one another when the
 * copy was deleted or is complete; changes of documents need no such message, the database tells of them itself.
 */
import { open } from 'pannier'
import type { Database } from 'pannier'
import { indexedDb } from 'pannier/indexeddb'
import { loadCities, readLoadRecord } from '../shared/load.ts'
import type { LoadProgress, LoadRecord } from '../shared/load.ts'
import { openDownload } from './download.ts'
import type { DownloadProgress } from './download.ts'

export interface OpenCopy {
  readonly db: Database
  /** Undefined when nothing was ever loaded. */
  readonly record: LoadRecord | undefined
  /** From nothing to the first answer; undefined if the copy was only loaded now. */
  readonly openMs: number | undefined
}

export interface LoadEvents {
  onWait(): void
  onDownload(progress: DownloadProgress, total: number): void
  onLoad(progress: LoadProgress): void
}

export type TabMessage = 'deleted' | 'complete'

const DATABASE = 'pannier-demo'
const LOAD_LOCK = 'pannier-demo-load'
const channel = new BroadcastChannel('pannier-demo-tabs')

export async function openCopy(): Promise<OpenCopy> {
  const started = performance.now()
  const db = await open(DATABASE)
  try {
    const record = await readLoadRecord(db)
    return { db, record, openMs: performance.now() - started }
  } catch (error) {
    await db.close()
    throw error
  }
}

/** Loads what is missing. Resolves with the open copy; when it throws, the database is closed. */
export async function loadCopy(signal: AbortSignal, events: LoadEvents): Promise<OpenCopy> {
  const load = async (): Promise<OpenCopy> => {
    let copy = await openCopy()
    if (copy.record?.complete) return copy
    try {
      let total = 0
      const source = await openDownload(signal, (progress) => events.onDownload(progress, total))
      total = source.documents
      if (copy.record !== undefined && copy.record.source !== source.name) {
        await copy.db.destroy()
        copy = await openCopy()
      }
      const record = await loadCities(copy.db, source, { signal, onProgress: events.onLoad })
      tell('complete')
      return { db: copy.db, record, openMs: undefined }
    } catch (error) {
      await copy.db.close()
      throw error
    }
  }
  if (navigator.locks === undefined) return await load()
  const atOnce = await navigator.locks.request(LOAD_LOCK, { ifAvailable: true }, (lock) => (lock ? load() : undefined))
  if (atOnce !== undefined) return atOnce
  events.onWait()
  return await navigator.locks.request(LOAD_LOCK, { signal }, load)
}

/** Deletes the copy, open or not. */
export async function deleteCopy(db: Database | undefined): Promise<void> {
  // One that is damaged can't be opened, but it can be deleted.
  if (db === undefined) await indexedDb().destroy(DATABASE)
  else await db.destroy()
  tell('deleted')
}

export function onTabMessage(listener: (message: TabMessage) => void): void {
  channel.onmessage = (event: MessageEvent<TabMessage>) => listener(event.data)
}

function tell(message: TabMessage): void {
  channel.postMessage(message)
}
