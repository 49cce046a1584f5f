/**
 * Goal: a view answers every query as naive map/reduce over the documents does, whatever was written between, interrupted,
 * checkpointed or built again; and the integrity check holds.
 * Method: random documents, writes and options (testing/random-views.ts), on the model store (which misses), on pages, and on a
 * storage that answers later.
 */
import { expect, test } from 'vitest'
import { isPannierError } from '../../src/base/errors.ts'
import type { Database } from '../../src/database/database.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { Emit } from '../../src/view/view-definition.ts'
import { modelDatabase } from '../../testing/model-database.ts'
import { checkRandomViews } from '../../testing/random-views.ts'
import { seededRandom } from '../../testing/random.ts'
import { openCold } from '../../testing/slow-database.ts'
import { slow } from '../../testing/slow-storage.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

async function databaseFor(seed: number): Promise<Database> {
  if (seed % 3 === 0) return modelDatabase({ seed, missChance: (seed % 2) * 0.5 })
  if (seed % 3 === 1) return openCold('views', slow(memory(), seed), { checkpoints: seededRandom(seed) })
  return open('views', { storage: memory(), cacheBytesMax: 1024 * 1024 })
}

for (const seed of seedsOf('model', 3)) {
  test(`random views, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, async () => {
    await checkRandomViews(await databaseFor(seed), seededRandom(seed), String(seed))
  })
}

test('a cancelled update continues where it was', async () => {
  const db = modelDatabase({ seed: 1, missChance: 0.3 })
  const docs = db.collection<{ n: number }>('docs')
  await docs.insert(Array.from({ length: 900 }, (_, n) => ({ _id: `d${n}`, n })))
  const view = docs.view('n', { map: (document, emit: Emit<number>) => emit(document.n), reduce: '_count', version: 1 })
  const controller = new AbortController()
  const aborted = view.update({ signal: controller.signal, onProgress: () => controller.abort() })
  await aborted.catch((error: unknown) => expect(isPannierError(error, 'PANNIER_ABORTED')).toBe(true))
  expect((await view.query()).rows).toEqual([{ key: null, value: 900 }])
  expect((await db.check()).problems).toEqual([])
})
