/**
 * Goal: whatever is done to a key-value store, it answers as a sorted map would: inside transactions, after commits, through
 * snapshots taken earlier, after storage checkpoints, and when it is opened again.
 */
import { MemoryLevel } from 'memory-level'
import { test, expect } from 'vitest'
import type { Key } from '../../src/base/brand.ts'
import type { Environment } from '../../src/base/environment.ts'
import { openKeyValueStore } from '../../src/kv/open.ts'
import type { HeldSnapshot, HeldTransaction, KeyValueStore, WriteTransaction } from '../../src/kv/key-value-store.ts'
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
  type Step,
} from '../../testing/key-value-workload.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import { slow } from '../../testing/slow-storage.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'
import { soloCoordinator } from './solo-coordinator.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

for (const seed of seedsOf('model', 2)) {
  test(`random work, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, () => run(seededRandom(seed)))
}

async function run(random: Random): Promise<void> {
  const fast = random.pick([memory, memory, () => level(new MemoryLevel()), () => new RawFileStorage()])()
  const storage = random.chance(0.5) ? slow(fast, random.below(1e6)) : fast
  const environment = testEnvironment(random.fork())
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
  const rounds = 5 + random.below(15)
  for (let round = 0; round < rounds; round++) {
    model = await (random.chance(0.2) ? oneByOne(kv, model, random) : atOnce(kv, model, random))
    await kv.read((snapshot) => compareSome(snapshot, model, seededRandom(round).fork()))
    if (random.chance(0.2)) held.push({ snapshot: kv.snapshot(), model: copyModel(model) })
    if (random.chance(0.2) && held.length > 0) held.shift()!.snapshot.release()
    for (const old of held)
      await old.snapshot.attempt(() => compareSome(old.snapshot, old.model, seededRandom(round).fork()))
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

/** Together more than the log takes. */
const LARGE: readonly Step[] = Array.from({ length: 8 }, (_, n) => ({
  kind: 'put',
  tree: 'a',
  key: `large${n}` as Key,
  value: new Uint8Array(150_000).fill(n),
}))

interface Work {
  readonly steps: readonly Step[]
  readonly seed: number
  readonly fails: boolean
}

function randomWork(random: Random): Work {
  const steps = randomSteps(random, random.pick([1, 1, 3, 3, 20, 20, 200, random.chance(0.3) ? 2000 : 1]))
  return {
    steps: random.chance(0.1) ? [...steps, ...LARGE] : steps,
    seed: random.below(1e6),
    fails: random.chance(0.3),
  }
}

/** Gives the model after it. */
function work(tx: WriteTransaction, before: Model, { steps, seed, fails }: Work): Model {
  const model = copyModel(before)
  for (const step of steps) runStep(tx, model, step)
  // It may run again.
  compareSome(tx, model, seededRandom(seed).fork())
  if (fails) throw new OnPurpose()
  return model
}

class OnPurpose extends Error {}

/** Some writes that are asked for at the same time, and so may be one commit; those that fail leave nothing. */
async function atOnce(kv: KeyValueStore, before: Model, random: Random): Promise<Model> {
  const works = Array.from({ length: random.pick([1, 1, 2, 5]) }, () => randomWork(random))
  // Each begins with what the last one before it that did not fail has left; it may have to begin again.
  const after: (Model | undefined)[] = works.map(() => undefined)
  const written = works.map((one, at) =>
    kv.write((tx) => {
      after[at] = undefined
      after[at] = work(tx, after.slice(0, at).findLast((model) => model !== undefined) ?? before, one)
    }),
  )
  const outcomes = await Promise.allSettled(written)
  for (const [at, { fails }] of works.entries()) checkOutcome(outcomes[at]!, fails)
  return after.findLast((model) => model !== undefined) ?? before
}

/**
 * Steps of a transaction that its caller drives, several at the same time, with reads beside them; those that fail leave nothing, and
 * all of it may be given up.
 */
async function oneByOne(kv: KeyValueStore, before: Model, random: Random): Promise<Model> {
  const held = await kv.begin()
  let model = before
  for (let step = random.below(5); step >= 0; step--) {
    const start = model
    const works = Array.from({ length: random.pick([1, 1, 2, 5]) }, () => randomWork(random))
    const after: (Model | undefined)[] = works.map(() => undefined)
    const newest = (end?: number): Model => after.slice(0, end).findLast((one) => one !== undefined) ?? start
    const views: Promise<void>[] = []
    const written = works.map(async (one, at) => {
      if (random.chance(0.3)) views.push(seen(held, () => newest(at), random.below(1e6)))
      await held.attempt(() => {
        after[at] = undefined
        after[at] = work(held, newest(at), one)
      })
    })
    const outcomes = await Promise.allSettled(written)
    for (const [at, { fails }] of works.entries()) checkOutcome(outcomes[at]!, fails)
    await Promise.all(views)
    model = newest()
  }
  if (random.chance(0.2)) {
    held.rollback()
    return before
  }
  await held.commit()
  return model
}

/** A view of a transaction has what was asked for before it, and nothing else. */
async function seen(held: HeldTransaction, expected: () => Model, seed: number): Promise<void> {
  const view = await held.view()
  await view.attempt(() => compareSome(view, expected(), seededRandom(seed).fork()))
}

function checkOutcome(outcome: PromiseSettledResult<unknown>, fails: boolean): void {
  if (outcome.status === 'rejected' && !(outcome.reason instanceof OnPurpose)) throw outcome.reason
  expect(outcome.status === 'rejected', 'whether it failed').toStrictEqual(fails)
}

function testEnvironment(random: Random): Environment {
  let time = 0
  return {
    now: () => (time += random.below(3)),
    wallClock: () => time,
    randomBytes: (length) => Uint8Array.from({ length }, () => random.below(256)),
    randomId: () => Array.from({ length: 32 }, () => random.below(16).toString(16)).join(''),
    yield: () => Promise.resolve(),
    after: () => () => {},
  }
}
