/**
 * Goal: after every complete pull a replica has exactly the records that the account may list, and of each the fields that it sees.
 * Each record and each field was visible when it was handed out. Method: random rules of several collections and of fields, edits of records, relations and accounts, clocks, and pages of every size.
 * Superusers replicate conflicts. Answers are lost, servers restart, rules change, losses are forgotten, backups are restored. `evaluate` says what each account sees.
 */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder, removeFolder } from '../../../../tools/processes.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'
import { seededRandom } from '../../../db/testing/random.ts'
import { FeedSimulation, type Counts } from './feed-simulation.ts'
import { FeedWorld } from './feed-world.ts'
import { randomRows, randomRule, setFieldRules, SYNCED } from './random-feed.ts'

test('a replica has exactly what its account may list', async () => {
  const counts: Counts = { commits: 0, pages: 0, complete: 0, omitted: 0, restores: 0 }
  const seeds = seedsOf('model', 20)
  for (const seed of seeds) await simulate(seed, counts)
  if (process.env['EFFORT'] !== undefined) console.log(counts)
  expect(counts.complete).toBeGreaterThan(0)
  // One seed may have no replica that begins again.
  if (seeds.length >= 20) expect(counts.omitted).toBeGreaterThan(0)
})

/** A third of the seeds has restored backups and the like. */
async function simulate(seed: number, counts: Counts): Promise<void> {
  const random = seededRandom(seed)
  const folder = seed % 3 === 0 ? makeFolder('feed') : undefined
  const world = await FeedWorld.make(randomRows(random), {}, folder && join(folder, 'world.db'))
  try {
    for (const name of SYNCED) {
      world.setRule(randomRule(random, world, name), name)
      if (random.chance(0.7)) setFieldRules(random, world, name)
    }
    await new FeedSimulation(random, world, folder, counts).run(20 + (seed % 60))
  } catch (error) {
    const rules = SYNCED.map((name) => world.rulesText(name)).join('\n')
    throw new Error(`seed ${seed} (SEED=${seed} SEEDS=1)\n${rules}`, { cause: error })
  } finally {
    await world.close()
    if (folder !== undefined) removeFolder(folder)
  }
}
