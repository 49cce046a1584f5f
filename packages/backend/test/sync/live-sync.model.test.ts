/**
 * Goal: whenever a pull of a replica that was complete brings a row, its session has got a signal since. A signal is sent for nothing
 * else. Method: random rules of several collections and of fields, edits of records, relations and accounts, clocks and late signals. The feed is the
 * oracle.
 */
import { expect, test } from 'vitest'
import { seedsOf } from '../../../../tools/test/seeds.ts'
import { seededRandom, type Random } from '../../../db/testing/random.ts'
import { FeedWorld } from './feed-world.ts'
import { LiveSessions, type LiveSession } from './live-world.ts'
import { randomEdit, randomRows, randomRule, setFieldRules, SYNCED, USERS } from './random-feed.ts'
import { Replica } from './replica.ts'

interface Count {
  signals: number
  superfluous: number
}

/** What a pull has brought. A replica that begins again gets rows, and may have the same as before. */
async function pull(world: FeedWorld, replica: Replica): Promise<{ readonly rows: number; readonly isOther: boolean }> {
  const before = contentOf(replica)
  for (let rows = 0; ;) {
    const [page] = await world.pull([replica])
    replica.apply(page!)
    rows += page!.rows.length
    if (page!.isComplete) return { rows, isOther: contentOf(replica) !== before }
  }
}

function contentOf({ records }: Replica): string {
  return JSON.stringify(Array.from(records, ([id, { rev, fields }]) => `${id} ${rev} ${fields}`).toSorted())
}

async function change(random: Random, world: FeedWorld): Promise<void> {
  const { below, pick, chance } = random
  const what = below(100)
  if (what < 80) {
    const edits = Array.from({ length: pick([1, 1, 2, 3]) }, () => ({ ...randomEdit(random, world), fresh: false }))
    await world.commit(...new Map(edits.map((edit) => [`${edit.collection}/${edit.id}`, edit])).values())
  } else if (what < 97) world.nowMs += (1 + below(3)) * 1000
  else {
    const collection = pick(SYNCED)
    if (chance(0.5)) world.setRule(randomRule(random, world, collection), collection)
    else setFieldRules(random, world, collection)
  }
}

async function run(random: Random, world: FeedWorld, count: Count, isExact: boolean): Promise<void> {
  const { pick, chance } = random
  const sessions = new LiveSessions(world)
  const replicas = [...USERS, USERS[0]!, null].flatMap((user) =>
    SYNCED.map((name): [LiveSession, Replica] => [sessions.open(user, name), new Replica(user, name)]),
  )
  await sessions.follow()
  for (const [, replica] of replicas) await pull(world, replica)
  /** Their accounts were deleted since their last pull. What they were signalled meanwhile may be there no more. */
  const wereGone = new Set<Replica>()
  for (let step = 0; step < 40; step++) {
    for (let changes = isExact ? 1 : pick([1, 1, 1, 2, 3]); changes > 0; changes--) await change(random, world)
    await sessions.follow()
    if (!isExact && chance(0.3)) continue
    for (const [session, replica] of replicas) {
      if (!isExact && chance(0.3)) continue
      if (replica.user !== null && !world.data['users']!.has(replica.user)) {
        wereGone.add(replica)
        continue
      }
      // Those that have got no signal pull, too: there is nothing for them.
      const { rows, isOther } = await pull(world, replica)
      const isSignalled = session.signals > 0
      const { user, collection } = replica
      if (isOther) expect([step, user, collection, isSignalled]).toEqual([step, user, collection, true])
      count.signals += Number(isSignalled)
      count.superfluous += Number(isSignalled && rows === 0 && !wereGone.has(replica))
      wereGone.delete(replica)
      session.signals = 0
    }
  }
  sessions.close()
}

/** `isExact`: all pull after each change. */
async function runSeeds(isExact: boolean): Promise<Count> {
  const count: Count = { signals: 0, superfluous: 0 }
  for (const seed of seedsOf('model', 3)) {
    const random = seededRandom(seed)
    const world = await FeedWorld.make(randomRows(random), {})
    try {
      for (const name of SYNCED) {
        world.setRule(randomRule(random, world, name), name)
        if (random.chance(0.7)) setFieldRules(random, world, name)
      }
      await run(random, world, count, isExact)
    } catch (error) {
      const rules = SYNCED.map((name) => world.rulesText(name)).join('\n')
      throw new Error(`seed ${seed} (SEED=${seed} SEEDS=1)\n${rules}`, { cause: error })
    } finally {
      await world.close()
    }
  }
  expect(count.signals).toBeGreaterThan(0)
  return count
}

test('no signal is missing, however late signals and pulls are', async () => {
  await runSeeds(false)
})

test('no signal is superfluous where each change is pulled', async () => {
  expect((await runSeeds(true)).superfluous).toBe(0)
})
