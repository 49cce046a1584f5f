/**
 * Goal: each call that writes says what became of it, at whatever moment the handle closes: success if it is written, a failure if not.
 * Method: the handle closes after each number of microtasks, and another handle looks.
 */
import { describe, expect, test } from 'vitest'
import { open, type Database } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'

const TURNS = 70
/** A slow one has more than its first turns. */
const TURNS_OF_MUCH = 12

interface Call {
  readonly run: (db: Database) => PromiseLike<unknown>
  readonly isWritten: (db: Database) => Promise<boolean>
}

const docs = (db: Database) => db.collection<{ n: number; _attachments?: object }>('c')
const has = (id: string) => async (db: Database) => (await docs(db).get(id)) !== undefined
const isN = (n: number) => async (db: Database) => (await docs(db).get('x'))?.n === n

const CALLS: Readonly<Record<string, Call>> = {
  transaction: { run: (db) => db.transaction((tx) => tx.collection('c').update('x', { n: 1 })), isWritten: isN(1) },
  'transaction of many': {
    run: (db) =>
      db.transaction(async (tx) => {
        await tx.collection('c').update('x', { n: 1 })
        await tx.collection('d').insert({ _id: 'y' })
      }),
    isWritten: async (db) => (await db.collection('d').get('y')) !== undefined,
  },
  insert: { run: (db) => docs(db).insert({ _id: 'y', n: 1 }), isWritten: has('y') },
  'insert of many': {
    run: (db) =>
      docs(db).insert([
        { _id: 'y', n: 1 },
        { _id: 'z', n: 1 },
      ]),
    isWritten: has('z'),
  },
  put: { run: (db) => docs(db).put([{ _id: 'y', n: 1 }], { atomic: false }), isWritten: has('y') },
  upsert: { run: (db) => docs(db).upsert({ _id: 'x', n: 1 }), isWritten: isN(1) },
  update: { run: (db) => docs(db).update('x', { n: 1 }), isWritten: isN(1) },
  'update by a function': { run: (db) => docs(db).update('x', (old) => ({ ...old, n: 1 })), isWritten: isN(1) },
  delete: { run: (db) => docs(db).delete('x'), isWritten: async (db) => !(await has('x')(db)) },
  purge: { run: (db) => docs(db).purge('x'), isWritten: async (db) => !(await has('x')(db)) },
  putAttachment: {
    run: (db) => docs(db).putAttachment('x', 'f', 'hello'),
    isWritten: async (db) => (await docs(db).get('x'))?._attachments !== undefined,
  },
  'putAttachment of much': {
    run: (db) => docs(db).putAttachment('x', 'f', new Uint8Array(3_000_000)),
    isWritten: async (db) => (await docs(db).get('x'))?._attachments !== undefined,
  },
  'local.put': {
    run: (db) => docs(db).local.put({ _id: 'l' }),
    isWritten: async (db) => (await docs(db).local.get('l')) !== undefined,
  },
  createCollection: {
    run: (db) => db.createCollection('new'),
    isWritten: async (db) => (await db.collections()).includes('new'),
  },
  dropCollection: {
    run: (db) => db.dropCollection('c'),
    isWritten: async (db) => !(await db.collections()).includes('c'),
  },
  dropIndex: {
    run: (db) => docs(db).dropIndex('n'),
    isWritten: async (db) => (await docs(db).indexes()).every(({ name }) => name !== 'n'),
  },
  import: { run: (db) => docs(db).import('{"_id":"y","n":1}\n', { format: 'ndjson' }), isWritten: has('y') },
}

describe('success is said if and only if it is written', () => {
  for (const [name, { run, isWritten }] of Object.entries(CALLS))
    test(name, async () => {
      const wrong: string[] = []
      for (let turns = 0; turns < (name.endsWith('much') ? TURNS_OF_MUCH : TURNS); turns++) {
        const storage = memory()
        const first = await open('x', { storage })
        await first.collection('c', { indexes: ['n'] }).insert({ _id: 'x', n: 0 })
        await first.collection('c').ready()
        const second = await open('x', { storage })
        let said: string | undefined
        const call = Promise.resolve(run(second)).then(
          () => (said = 'ok'),
          (error: unknown) => (said = (error as { code?: string }).code ?? String(error)),
        )
        for (let turn = 0; turn < turns; turn++) await Promise.resolve()
        await second.close()
        const atClose = said
        await call
        await first.refresh()
        const written = await isWritten(first)
        if (written !== (said === 'ok')) wrong.push(`after ${turns}: ${said}, written: ${written}`)
        if (written && atClose === undefined) wrong.push(`after ${turns}: close() ended before the answer`)
        await first.close()
      }
      expect(wrong).toEqual([])
    })
})
