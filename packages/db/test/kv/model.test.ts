/**
 * Goal: whatever is done to a key-value store, it answers as a sorted map would: inside transactions, after commits, through
 * snapshots taken earlier, after storage checkpoints, and when it is opened again.
 */
import { MemoryLevel } from 'memory-level'
import { test } from 'vitest'
import type { Environment } from '../../src/base/environment.ts'
import { openKeyValueStore } from '../../src/kv/open.ts'
import type { HeldSnapshot } from '../../src/kv/key-value-store.ts'
import { level } from '../../src/storage/level/level.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import {
  compareAll,
  compareSome,
  copyModel,
  createAll,
  randomSteps,
  runStep,
  type Model,
} from '../../testing/key-value-workload.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'
import { soloCoordinator } from './solo-coordinator.ts'

const SEEDS = Number(process.env['SEEDS'] ?? 20)
const FIRST_SEED = Number(process.env['SEED'] ?? 1)

for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
  test(`random work, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, () => run(seededRandom(seed)))
}

async function run(random: Random): Promise<void> {
  const storage = random.pick([memory, memory, () => level(new MemoryLevel()), () => new RawFileStorage()])()
  const environment = testEnvironment(random)
  const cacheBytesMax = random.pick([0, 100_000, 10_000_000])
  const open = async () =>
    openKeyValueStore({
      store: await storage.open('x'),
      coordinator: soloCoordinator(),
      environment,
      cacheBytesMax,
      durability: 'relaxed',
    })
  let kv = await open()
  let model: Model = new Map()
  const held: { snapshot: HeldSnapshot; model: Model }[] = []
  await kv.write((tx) => createAll(tx, model))
  const rounds = 10 + random.below(30)
  for (let round = 0; round < rounds; round++) {
    const steps = randomSteps(random, random.pick([1, 3, 20, 200, 2000]))
    const fails = random.chance(0.1)
    let next = model
    const written = kv.write((tx) => {
      next = copyModel(model)
      for (const step of steps) runStep(tx, next, step)
      compareSome(tx, next, seededRandom(round))
      if (fails) throw new Error('on purpose')
    })
    if (fails)
      await written.then(
        () => {
          throw new Error('the write did not fail')
        },
        (error: Error) => {
          if (error.message !== 'on purpose') throw error
        },
      )
    else
      await written.then(() => {
        model = next
      })
    await kv.read((snapshot) => compareSome(snapshot, model, seededRandom(round)))
    if (random.chance(0.2)) held.push({ snapshot: kv.snapshot(), model: copyModel(model) })
    if (random.chance(0.2) && held.length > 0) held.shift()!.snapshot.release()
    for (const old of held) await old.snapshot.attempt(() => compareSome(old.snapshot, old.model, seededRandom(round)))
    if (random.chance(0.2)) await kv.checkpoint()
    if (random.chance(0.2)) {
      await kv.check()
      await kv.read((snapshot) => compareAll(snapshot, model))
    }
    if (random.chance(0.1)) {
      for (const old of held.splice(0)) old.snapshot.release()
      await kv.close()
      kv = await open()
    }
  }
  for (const old of held) old.snapshot.release()
  await kv.check()
  await kv.checkpoint()
  await kv.checkpoint()
  await kv.check()
  await kv.read((snapshot) => compareAll(snapshot, model))
  await kv.close()
}

function testEnvironment(random: Random): Environment {
  let time = 0
  return {
    now: () => (time += random.below(3)),
    randomId: () => Array.from({ length: 32 }, () => random.below(16).toString(16)).join(''),
    yield: () => Promise.resolve(),
    after: () => () => {},
  }
}
