/**
 * The open databases of this process. Instances of one name share a handle, as PouchDB's apps make many of them. The last one to close it
 * closes the database.
 */
import { open, type Database, type OpenOptions } from 'pannier'
import { REVISIONS_LIMIT_MAX } from 'pannier/limits'
import { registerCodeUnitOrder } from './code-unit-order.ts'
import type { Place, PouchOptions } from './pouch.ts'

/** The collection of a database that has its documents. */
const DOCUMENTS = 'docs'
/** Revisions that PouchDB keeps by default. */
const REVISIONS_LIMIT = 1000

interface Handle {
  readonly key: string
  readonly encryption: OpenOptions['encryption']
  readonly opened: Promise<Place>
  users: number
}

const handles = new Map<string, Handle>()
/** The ends of handles: a file is opened again once it is closed. */
const ending = new Map<string, Promise<unknown>>()

/** One user's share of a handle. */
export interface Share extends Place {
  /** Gives the share back. */
  close(): Promise<void>
  /** Deletes the database; handles of others end with it. */
  destroy(): Promise<void>
}

export async function shareOf(options: PouchOptions): Promise<Share> {
  const { name, storage, encryption } = options
  const key = storage?.identify(name) ?? `default:${name}`
  while (ending.has(key)) await ending.get(key)
  let handle = handles.get(key)
  // Another key, or none, has to open the database by itself.
  if (handle === undefined || !isSameKey(handle.encryption, encryption)) {
    handle = { key, encryption, opened: openPlace(options), users: 0 }
    follow(handle)
  }
  handle.users++
  return shareIn(handle, await handle.opened)
}

function shareIn(handle: Handle, { db, docs }: Place): Share {
  return {
    db,
    docs,
    async close() {
      if (--handle.users === 0) await end(handle, db.close())
    },
    destroy: () => end(handle, db.destroy()),
  }
}

/** Instances take part in a handle until it ends. */
function follow(handle: Handle): void {
  const { key, opened } = handle
  const forget = (): void => void (handles.get(key) === handle && handles.delete(key))
  if (!handles.has(key)) handles.set(key, handle)
  opened.then(({ db }) => db.closed.then(forget), forget)
}

async function end(handle: Handle, work: Promise<void>): Promise<void> {
  const { key } = handle
  if (handles.get(key) === handle) handles.delete(key)
  const settled = work.catch(() => undefined).then(() => void (ending.get(key) === settled && ending.delete(key)))
  ending.set(key, settled)
  await work
}

async function openPlace(options: PouchOptions): Promise<Place> {
  const { name, auto_compaction: compacts = false, revs_limit: limit } = options
  const { storage, encryption, durability, cacheBytesMax } = options
  const chosen = { storage, encryption, durability, cacheBytesMax }
  const given = Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== undefined)) as OpenOptions
  registerCodeUnitOrder()
  const db: Database = await open(name, given)
  // PouchDB keeps the content of revisions that were replaced, until a compaction.
  const settings = { history: !compacts, revisionsLimit: Math.min(limit || REVISIONS_LIMIT, REVISIONS_LIMIT_MAX) }
  const docs = db.collection(DOCUMENTS, settings)
  await db.createCollection(DOCUMENTS, settings)
  return { db, docs }
}

function isSameKey(left: OpenOptions['encryption'], right: OpenOptions['encryption']): boolean {
  if (left === undefined || right === undefined) return left === right
  const [one, other] = [left, right].map((credential) => Object.entries(credential))
  return one!.length === other!.length && one!.every(([name, value]) => right[name as never] === value)
}
