/**
 * Goal: while several handles change the key and who can open a database, nothing that was written is lost, who was let in can open it, who
 * was shut out can't, and nobody is told anything else than what happened.
 * Method: handles rotate, add and remove slots and write at random; every call takes a random number of turns. Seeds are replayable.
 */
import { expect, test } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import { deviceKey } from '../storage/encrypted/fixture.ts'
import { pause, slow } from '../../testing/slow-storage.ts'
import { seedsOf, timeoutOf } from '../../../../tools/test/seeds.ts'

const NAME = 'notes'
const STEPS = 6
const HANDLES = 3
const LATE_TURNS_MAX = 60

test.each([
  ['memory', () => memory()],
  ['raw files', () => new RawFileStorage()],
] as const)('%s', { timeout: timeoutOf(300_000) }, async (_kind, make) => {
  for (const seed of seedsOf('race', 0.7)) {
    try {
      await race(seed, make())
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error })
    }
  }
})

interface Expected {
  readonly ids: Set<string>
  readonly keys: Set<string>
}

async function race(seed: number, storage: DatabaseStorage): Promise<void> {
  const random = seededRandom(seed)
  const expected: Expected = { ids: new Set(), keys: new Set() }
  const encryption = { key: deviceKey }
  const first = await open(NAME, { storage, encryption })
  await first
    .collection('notes')
    .insert(Array.from({ length: 30 }, (_, n) => ({ _id: `a${n}`, text: 'x'.repeat(3000) })))
  await first.flush()
  for (let n = 0; n < 30; n++) expected.ids.add(`a${n}`)
  const outcomes = await Promise.allSettled(
    Array.from({ length: HANDLES }, (_, number) => use(slow(storage, random), random.fork(), number, expected)),
  )
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  await checkAll(first, expected)
  await first.close()
  const last = await open(NAME, { storage, encryption })
  await last.encryption!.rotateKey()
  await checkAll(last, expected)
  const slots = await last.encryption!.slots()
  expect(slots.map(({ label }) => label).sort()).toEqual(['', ...expected.keys].sort())
  expect((await last.encryption!.info()).isRotating).toBe(false)
  await last.close()
}

async function checkAll(db: Database, { ids }: Expected): Promise<void> {
  await db.collection('notes').insert({ _id: `z${ids.size}` })
  ids.add(`z${ids.size}`)
  const rows = await db.collection('notes').list().toArray()
  expect(rows.map(({ id }) => id).sort()).toEqual([...ids].sort())
  expect((await db.check()).problems).toEqual([])
}

async function use(storage: DatabaseStorage, random: Random, number: number, expected: Expected): Promise<void> {
  let db = await open(NAME, { storage, encryption: { key: deviceKey } })
  for (let step = 0; step < STEPS; step++) {
    await pause(random, LATE_TURNS_MAX)
    const label = `${number}-${step}`
    const doing = random.below(7)
    if (doing < 2) {
      await db.collection('notes').insert({ _id: label, text: 'y'.repeat(random.below(40_000)) })
      expected.ids.add(label)
    } else if (doing === 2) await db.encryption!.rotateKey()
    else if (doing === 3) {
      await db.encryption!.makeRecoveryKey({ label }).then(
        () => expected.keys.add(label),
        (error: unknown) => {
          if ((error as { code?: string }).code !== 'PANNIER_LIMIT_EXCEEDED') throw error
        },
      )
    } else if (doing === 4) {
      const own = (await db.encryption!.slots()).find((slot) => slot.label.startsWith(`${number}-`))
      if (own !== undefined && (await db.encryption!.deleteSlot(own.id))) expected.keys.delete(own.label)
    } else if (doing === 5) {
      const [rows] = await Promise.all([
        db.collection('notes').list().toArray(),
        db.encryption!.info(),
        db.encryption!.slots(),
        db.collection('notes').insert({ _id: label }),
      ])
      expect(rows.length).toBeGreaterThanOrEqual(30)
      expected.ids.add(label)
    } else {
      // One that rotates goes on when it is opened again.
      const rotating = random.chance(0.5) ? db.encryption!.rotateKey().catch(ignoreClosed) : undefined
      await pause(random)
      await db.close()
      await rotating
      db = await open(NAME, { storage, encryption: { key: deviceKey }, cacheBytesMax: 1024 * 1024 })
    }
  }
  await db.close()
}

function ignoreClosed(error: unknown): void {
  if ((error as { code?: string }).code !== 'PANNIER_CLOSED') throw error
}
