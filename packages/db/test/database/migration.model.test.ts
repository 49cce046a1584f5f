/**
 * Goal: old code, new code that comes and goes, and writes of both, in any interleaving: every acknowledged write is there, in the
 * newest version, and nobody waits for ever. Method: seeded random handles; each writer has documents of its own.
 */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { isPannierError } from '../../src/base/errors.ts'
import type { Database } from '../../src/database/database.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import type { Migration } from '../../src/database/schema/collection-schema.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { seededRandom } from '../../testing/random.ts'
import type { Random } from '../../testing/random.ts'
import { ABORT_TURNS_MAX } from '../../testing/aborted.ts'
import { pause, slow } from '../../testing/slow-storage.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

const COUNT = 1100
const WRITERS = 3

const NEWEST = 4
/** Each step counts itself; the value moves from one field to another. */
const MIGRATIONS: Record<number, Migration> = {
  2: ({ v1, ...doc }) => ({ ...doc, v2: v1, steps: 1 }),
  3: async ({ v2, ...doc }) => ({ ...doc, v3: v2, steps: Number(doc['steps']) + 1 }),
  4: ({ v3, ...doc }) => ({ ...doc, v4: v3, steps: Number(doc['steps']) + 1 }),
}
const NEWEST_SCHEMA = z.strictObject({ v4: z.number(), steps: z.literal(3) })

function declaration(version: number): object {
  const migrations = Object.fromEntries(Object.entries(MIGRATIONS).filter(([to]) => Number(to) <= version))
  return { version, migrations, ...(version === NEWEST && { schema: NEWEST_SCHEMA }) }
}

for (const seed of seedsOf('model')) {
  test(`handles of all versions, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, async () => {
    const random = seededRandom(seed)
    const storage = seed % 2 === 0 ? slow(memory(), random) : memory()
    const first = await open('x', { storage })
    await first
      .collection('docs', { ...declaration(1), indexes: ['v4'] })
      .insert(Array.from({ length: COUNT }, (_, n) => ({ _id: `d${n}`, v1: n })))
    const acknowledged = new Map<string, number>()
    const work = Array.from({ length: WRITERS }, (_, writer) =>
      writeAlong(storage, random.fork(), writer, acknowledged),
    )
    await Promise.all(work)
    const last = await open('x', { storage, collections: { docs: declaration(NEWEST) } })
    const all = await last.collection('docs').find().toArray()
    expect(all.length).toBe(COUNT)
    for (const { _id, _rev, ...content } of all) {
      expect(content).toEqual({ v4: acknowledged.get(_id) ?? Number(_id.slice(1)), steps: NEWEST - 1 })
    }
    expect(await last.collection('docs').migrationFailures()).toEqual([])
    expect(
      await last
        .collection('docs')
        .find({ v4: { $gte: 0 } })
        .count(),
    ).toBe(COUNT)
    expect((await last.check()).problems).toEqual([])
    await first.close()
    await last.close()
  })
}

/** Opens handles of ever higher versions, one after another, and writes through them. */
async function writeAlong(
  storage: DatabaseStorage,
  random: Random,
  writer: number,
  acknowledged: Map<string, number>,
): Promise<void> {
  for (let version = 1 + random.below(2); version <= NEWEST; version += 1 + random.below(2)) {
    const stop = new AbortController()
    const db = await open('x', { storage, signal: stop.signal, collections: { docs: declaration(version) } })
    if (random.chance(0.4)) void pause(random, ABORT_TURNS_MAX).then(() => stop.abort())
    await writeWith(db, random, writer, version, acknowledged)
    await db.close()
  }
}

async function writeWith(
  db: Database,
  random: Random,
  writer: number,
  version: number,
  acknowledged: Map<string, number>,
): Promise<void> {
  for (let round = 0; round < 8; round++) {
    const _id = `d${WRITERS * random.below(COUNT / WRITERS - 1) + writer}`
    const value = COUNT + random.below(1000)
    const content = { [`v${version}`]: value, ...(version > 1 && { steps: version - 1 }) }
    try {
      if (random.chance(0.3)) await db.transaction((tx) => tx.collection('docs').upsert({ _id, ...content }))
      else if (random.chance(0.5)) {
        await db.collection('docs').update(_id, (doc) => {
          expect(Object.keys(doc).sort()).toEqual(['_id', '_rev', ...Object.keys(content)].sort())
          return content
        })
      } else await db.collection('docs').upsert({ _id, ...content })
      acknowledged.set(_id, value)
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_SCHEMA_NEWER') && !isPannierError(error, 'PANNIER_ABORTED')) throw error
    }
    if (random.chance(0.3)) await pause(random)
  }
}
