/**
 * Goal: whoever opens, restores, writes and deletes a database at the same time as others is told what became of it: what was written after the last
 * deletion is there, and nobody waits for ever.
 * Method: every call takes a random number of turns. Seeds are replayable.
 */
import { MemoryLevel } from 'memory-level'
import { describe, expect, test } from 'vitest'
import { isPannierError } from '../../src/base/errors.ts'
import { destroy } from '../../src/database/lifecycle/destroy.ts'
import { open, type OpenOptions } from '../../src/database/lifecycle/open.ts'
import { level } from '../../src/storage/level/level.ts'
import type { Level } from '../../src/storage/level/abstract-level.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { sqlite } from '../../src/storage/sqlite/sqlite.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'
import { seededRandom } from '../../testing/random.ts'
import { temporaryFiles } from '../key-value-stores.ts'
import { deviceKey } from '../storage/encrypted/fixture.ts'
import { pause, slow } from '../../testing/slow-storage.ts'
import { seedsOf, timeoutOf } from '../../../../tools/test/seeds.ts'

const HANDLES = 4
const ROUNDS = 3
const LATE_TURNS_MAX = 60
const CODES = ['PANNIER_CLOSED']

const SNAPSHOT = await snapshot()

const newPath = temporaryFiles()

describe.each([
  ['plain', {}],
  ['encrypted', { encryption: { key: deviceKey } }],
] as const)('%s', (_encryption, options) => {
  test.each([
    ['memory', () => memory()],
    ['raw files', () => new RawFileStorage()],
    ['level', () => level(new MemoryLevel() as unknown as Level)],
    ['SQLite', () => sqlite()],
  ] as const)('%s', { timeout: timeoutOf(300_000) }, async (_storage, make) => {
    for (const seed of seedsOf('race', 0.5)) {
      try {
        await race(seed, make(), options)
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error })
      }
    }
  })
})

async function race(seed: number, storage: DatabaseStorage, options: OpenOptions): Promise<void> {
  const random = seededRandom(seed)
  const name = newPath()
  const written: { id: string; from: number }[] = []
  let [step, lastDestroyed] = [0, 0]
  await Promise.all(
    Array.from({ length: HANDLES }, async (_, number) => {
      const own = random.fork()
      for (let round = 0; round < ROUNDS; round++) {
        await pause(own, LATE_TURNS_MAX)
        const from = own.chance(0.3) ? { from: () => SNAPSHOT } : {}
        const seen = { ...options, ...from, storage: slow(storage, own) }
        if (own.chance(0.25)) {
          await destroy(name, { storage: seen.storage })
          lastDestroyed = ++step
          continue
        }
        const db = await open(name, seen).catch(allowed)
        if (db === undefined) continue
        try {
          const notes = db.collection('notes')
          for (let n = 0; n < 3; n++) {
            const id = `${number}-${round}-${n}`
            const from = ++step
            await notes.insert({ _id: id, text: 'x'.repeat(own.below(30_000)) })
            written.push({ id, from })
            if (own.chance(0.2)) await db.flush()
          }
        } catch (error) {
          allowed(error)
        }
        if (own.chance(0.2)) {
          await db.destroy()
          lastDestroyed = ++step
        } else await db.close()
      }
    }),
  )
  const db = await open(name, { ...options, storage })
  const ids = (await db.collection('notes').list().toArray()).map(({ id }) => id)
  expect((await db.check()).problems).toEqual([])
  await db.close()
  await destroy(name, { storage })
  const late = written.filter(({ from }) => from > lastDestroyed).map(({ id }) => id)
  expect(ids).toEqual(expect.arrayContaining(late))
}

function allowed(error: unknown): undefined {
  if (!isPannierError(error) || !CODES.includes(error.code)) throw error
}

async function snapshot(): Promise<Uint8Array> {
  const db = await open('copied', { storage: memory() })
  await db.collection('others').insert([{ _id: 'a' }, { _id: 'b' }])
  const bytes = await new Response(db.snapshot() as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer()
  await db.close()
  return new Uint8Array(bytes)
}
