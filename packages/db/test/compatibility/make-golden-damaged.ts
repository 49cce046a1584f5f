/**
 * Writes databases whose log does not replay, as a version of Pannier once made them: a read that nobody waited for, in a transaction,
 * rolled back in memory what its commit was appending (docs/internals/repair.md). Run once by hand; that version is gone, so they can't be made
 * again:
 *
 *     npm run node packages/db/test/compatibility/make-golden-damaged.ts
 *
 * Each shape is a file: `SHAPE.damaged`.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { open, type Database, type OpenOptions } from '../../src/index.ts'
import { sqlite } from '../../src/storage/sqlite/sqlite.ts'
import type { PageStore, DatabaseStorage } from '../../src/storage/page-store.ts'
import { DAMAGED_PASSWORD, damagedId, type DamagedNote } from './golden-damaged.ts'

const folder = join(import.meta.dirname, '../golden')

/** Pages come while a commit is being appended. */
function slow(storage: DatabaseStorage): DatabaseStorage {
  return {
    kind: storage.kind,
    scope: storage.scope,
    identify: (name) => storage.identify(name),
    has: (name) => storage.has(name),
    open: async (name) => slowStore(await storage.open(name)),
    destroy: (name) => storage.destroy(name),
  }
}

function slowStore(store: PageStore): PageStore {
  return new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name) as ((...parameters: unknown[]) => unknown) | undefined
      if (method === undefined) return undefined
      return async (...parameters: unknown[]) => {
        for (let turns = name === 'append' ? 40 : 8; turns > 0; turns--) await new Promise(setImmediate)
        return method.apply(target, parameters)
      }
    },
  })
}

async function make(shape: string, options: OpenOptions, spoil: (db: Database) => Promise<void>): Promise<void> {
  const path = join(folder, `${shape}.damaged`)
  if (existsSync(path)) throw new Error(`${path} exists: a golden database is never made again.`)
  const storage = slow(sqlite())
  const filling = await open(path, { storage, ...options })
  const notes = filling.collection<DamagedNote>('notes', { indexes: ['n', { on: 'text', text: true, name: 'words' }] })
  await notes.insert(Array.from({ length: 600 }, (_, n) => ({ _id: damagedId(n), n, text: `note ${n}` })))
  await notes.local.put({ _id: 'place', at: 7 })
  await notes.update(damagedId(5), (note) => ({ ...note, n: 1005 }))
  await notes.delete(damagedId(6))
  await notes.putAttachment(damagedId(7), 'photo', new Uint8Array(20_000).fill(7))
  await filling.collection('others').insert([
    { _id: 'a', v: 1 },
    { _id: 'b', v: 2 },
  ])
  await filling.close()
  const again = await open(path, { storage, ...options })
  await again.flush()
  await again.close()
  const db = await open(path, { storage, ...options })
  await db.collection('notes').insert({ _id: 'warm', n: 1, text: 'warm' })
  await db.collection('others').insert({ _id: 'c', v: 3 })
  await spoil(db)
  await db.close()
  const file = new DatabaseSync(path)
  file.exec('VACUUM')
  file.close()
}

/** A get that nobody waits for, of a note whose page is not in memory. */
function forgotten(tx: { collection(name: string): { get(id: string): Promise<unknown> } }, n: number): void {
  tx.collection('notes')
    .get(damagedId(n))
    .catch(() => {})
}

await make('insert', {}, async (db) => {
  await db.transaction(async (tx) => {
    forgotten(tx, 300)
    await tx.collection<DamagedNote>('notes').insert({ _id: 'paid', n: 2, text: 'paid' })
  })
  await db.collection<DamagedNote>('notes').insert({ _id: 'next', n: 3, text: 'next' })
  await db.collection<DamagedNote>('notes').insert({ _id: 'after', n: 4, text: 'after' })
  await db.collection('others').insert({ _id: 'd', v: 4 })
})

await make('update', {}, async (db) => {
  await db.collection<DamagedNote>('notes').update('warm', (note) => ({ ...note, n: 10 }))
  await db.transaction(async (tx) => {
    forgotten(tx, 300)
    await tx.collection<DamagedNote>('notes').update('warm', (note) => ({ ...note, n: 20 }))
  })
  await db.collection<DamagedNote>('notes').update('warm', (note) => ({ ...note, n: note.n + 30 }))
  await db.collection<DamagedNote>('notes').delete(damagedId(9))
  await db.collection('others').insert({ _id: 'd', v: 4 })
})

await make('collection', {}, async (db) => {
  await db.transaction(async (tx) => {
    forgotten(tx, 300)
    await tx.collection('first').insert({ _id: 'paid', of: 'first' })
  })
  await db.collection('second').insert({ _id: 'next', of: 'second', other: 'shape' })
  await db.collection('notes').insert({ _id: 'after', n: 4, text: 'after' })
})

await make('encrypted', { encryption: { password: DAMAGED_PASSWORD, derivation: 'pbkdf2' } }, async (db) => {
  await db.transaction(async (tx) => {
    forgotten(tx, 300)
    await tx.collection<DamagedNote>('notes').insert({ _id: 'paid', n: 2, text: 'paid' })
  })
  await db.collection<DamagedNote>('notes').insert({ _id: 'next', n: 3, text: 'next' })
  await db.collection('others').insert({ _id: 'd', v: 4 })
})
