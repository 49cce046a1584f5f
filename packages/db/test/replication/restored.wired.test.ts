/**
 * Goal: when all of a database is put back to what it was (a restored disk image, a backup, relaxed writes that went with the power), the
 * next synchronisation brings both sides together: nothing that the peer has is lost, and nothing differs without being told. Also
 * when the replication did not notice, as nothing was under way meanwhile.
 * Method: a copy of an SQLite file, which takes the place of the file again later; the peer is another database, with or without HTTP.
 */
import { copyFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import type { JsonObject } from '../../src/database/collection/document-types.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { sqlite } from '../../src/storage/sqlite/sqlite.ts'
import { couchFetch } from '../../testing/couch-fetch.ts'
import { eventually } from '../../testing/suite.ts'
import { temporaryFiles } from '../key-value-stores.ts'

type Docs = Collection<JsonObject>

const newPath = temporaryFiles()
const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
const URL_THERE = 'https://couch.test/notes'

function openFile(path: string, isEncrypted: boolean): Promise<Database> {
  return open(path, { storage: sqlite(), ...(isEncrypted && { encryption: { key } }) })
}

function notesOf(db: Database): Docs {
  return db.collection<JsonObject>('notes')
}

async function fill(docs: Docs, prefix: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await docs.insert({ _id: `${prefix}${n}`, by: prefix })
}

/** Every leaf of every document with its content. */
async function leaves(docs: Docs): Promise<unknown[]> {
  const rows = await docs.changes({ style: 'all' }).toArray()
  const found = await Promise.all(rows.map(async ({ id }) => ({ id, leaves: await docs.getRevisions(id, 'all') })))
  return found.sort((left, right) => (left.id < right.id ? -1 : 1))
}

for (const isEncrypted of [false, true]) {
  for (const isRemote of [false, true]) {
    // Checkpoints remember five sessions: after fewer there is a common one, after more there is none.
    for (const syncsSince of [1, 7]) {
      const what = `${isEncrypted ? 'encrypted' : 'plain'}, ${isRemote ? 'over HTTP' : 'in one process'}, ${syncsSince} syncs later`
      test(`a replica that is put back: ${what}`, async () => {
        const path = newPath()
        const other = await open('other', { storage: memory() })
        const there = notesOf(other)
        const sync = (here: Docs) => (isRemote ? here.sync(URL_THERE, { fetch: couchFetch(other) }) : here.sync(there))

        let db = await openFile(path, isEncrypted)
        await fill(notesOf(db), 'before', 10)
        await sync(notesOf(db))
        await db.close()
        copyFileSync(path, `${path}.copy`)

        db = await openFile(path, isEncrypted)
        await notesOf(db).update('before1', (note) => ({ ...note, edited: 'first' }))
        await notesOf(db).delete('before2')
        for (let n = 0; n < syncsSince; n++) {
          await fill(notesOf(db), `lost${n}-`, 3)
          await fill(there, `theirs${n}-`, 2)
          await sync(notesOf(db))
        }
        await notesOf(db).insert({ _id: 'never sent' })
        await db.close()
        copyFileSync(`${path}.copy`, path)

        db = await openFile(path, isEncrypted)
        const here = notesOf(db)
        const before = await leaves(there)
        await here.update('before1', (note) => ({ ...note, edited: 'second' }))
        await here.update('before3', (note) => ({ ...note, edited: 'second' }))
        // The numbers of the changes that were lost are used again, and overtaken.
        await fill(here, 'after', 40)
        await sync(here)
        expect(await leaves(here)).toEqual(await leaves(there))
        expect(await here.get('never sent')).toBeUndefined()
        expect(await here.get('before2')).toBeUndefined()
        expect((await here.getRevisions('before1', 'all')).length).toBe(2)
        expect(await there.find({ by: 'after' }).count()).toBe(40)
        expect(await there.find({ by: { $regex: '^lost' } }).count()).toBe(3 * syncsSince)
        expect((await leaves(there)).length).toBe(before.length + 40)
        expect((await db.check()).problems).toEqual([])
        await db.close()
        await other.close()
      })
    }
  }
}

/** A server whose database is replaced by an older copy, while whoever talks to it sees no request fail. */
class Server {
  #db: Database
  #copy: Uint8Array | undefined
  #replaced = Promise.withResolvers<void>()
  #starts = 0
  readonly #isNamed: boolean

  /** `isNamed`: each start has a name of its own, as with Pannier's server. */
  constructor(db: Database, isNamed: boolean) {
    this.#db = db
    this.#isNamed = isNamed
  }

  readonly fetch: ReturnType<typeof couchFetch> = (url, init) => {
    const since = new URL(url).searchParams.get('since')
    const nothing = (): Response => Response.json({ results: [], last_seq: since, pending: 0 })
    const answer = couchFetch(this.#db, this.#isNamed ? { instance: `start ${this.#starts}` } : {})(url, init)
    return Promise.race([answer, this.#replaced.promise.then(nothing)])
  }

  get notes(): Docs {
    return notesOf(this.#db)
  }

  async copy(): Promise<void> {
    this.#copy = new Uint8Array(await new Response(this.#db.snapshot()).arrayBuffer())
  }

  /** `work` comes before anybody hears of it. */
  async putBack(work: () => Promise<void>): Promise<void> {
    const [before, { resolve }] = [this.#db, this.#replaced]
    this.#db = await open(newPath(), { storage: sqlite(), from: this.#copy! })
    this.#starts++
    await work()
    this.#replaced = Promise.withResolvers()
    resolve()
    await before.close()
  }

  close(): Promise<void> {
    return this.#db.close()
  }
}

for (const [what, { isRecorded, isNamed }] of Object.entries({
  'the checkpoint is still that of before': { isRecorded: false, isNamed: true },
  'the checkpoint went with the rest': { isRecorded: true, isNamed: true },
  'only the checkpoint tells': { isRecorded: true, isNamed: false },
})) {
  for (const direction of ['to', 'from'] as const) {
    test(`a server that is put back under a live replication ${direction} it: ${what}`, async () => {
      const server = new Server(await open(newPath(), { storage: sqlite() }), isNamed)
      await server.notes.local.put({ _id: 'made' })
      const db = await open('client', { storage: memory() })
      const here = notesOf(db)
      const [source, target] = direction === 'to' ? [() => here, () => server.notes] : [() => server.notes, () => here]
      const caughtUp = async (): Promise<boolean> =>
        (await target().find().count()) === (await source().find().count()) && live.status === 'paused'
      await fill(source(), 'before', 5)
      const side = direction === 'to' ? { to: URL_THERE } : { from: URL_THERE }
      await here.replicate({ ...side, fetch: server.fetch, snapshot: false })
      await server.copy()
      const live = here.replicate({
        ...side,
        live: true,
        fetch: server.fetch,
        checkpointIntervalMs: isRecorded ? 1 : 600_000,
        backOff: () => 1,
      })
      let recorded: unknown
      live.subscribe((event) => void (event.type === 'checkpoint' && (recorded = event.lastSeq)))
      await fill(source(), 'lost', 5)
      await eventually(caughtUp)
      const { lastSeq, epoch } = await source().info()
      if (isRecorded) await eventually(() => recorded === `${lastSeq}-${epoch}` || recorded === lastSeq)
      else expect(recorded).toBeUndefined()
      await server.putBack(() => fill(source(), 'after', 10))
      await eventually(async () => {
        const ids = (await source().list().toArray()).map(({ id }) => id)
        return (await target().get(ids)).every((note) => note !== undefined)
      })
      live.cancel()
      await live
      await here.sync(URL_THERE, { fetch: server.fetch })
      expect(await leaves(here)).toEqual(await leaves(server.notes))
      await db.close()
      await server.close()
    })
  }
}
