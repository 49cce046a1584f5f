/**
 * Crash simulation of a key-value store: seeded work on a simulated page store, one fault at one backend call, then the
 * database is opened again and compared with a model.
 *
 * What is demanded: everything acknowledged is there; of the transaction under way all or nothing; when relaxed commits went with the
 * power, a state that there was; every page is accounted for; and work goes on.
 */
import type { PagedKeyValueStore } from '../src/kv/open.ts'
import type { Durability } from '../src/storage/page-store.ts'
import { CheckError } from './check.ts'
import {
  CrashHost,
  simulatedEnvironment,
  simulateRun,
  type CrashRun,
  type Known,
  type Simulation,
} from './crash-host.ts'
import { compareAll, copyModel, createAll, randomSteps, runStep, type Model, type Step } from './key-value-workload.ts'
import { seededRandom, type Random } from './random.ts'

/** Runs it; gives the number of backend calls that it made before the end. Throws for whatever is wrong. */
export function simulate(simulation: Simulation): Promise<number> {
  return simulateRun(new Run(simulation))
}

class Run implements CrashRun {
  readonly host: CrashHost
  readonly #random: Random
  readonly #isPowerLost: boolean
  #kv: PagedKeyValueStore | undefined
  /** What is acknowledged, and what else the database may hold: the outcome of a write that was never answered. */
  #model: Model = new Map()
  #maybe: Model[] = []
  /** What was acknowledged before, oldest first. */
  readonly #past: Model[] = []

  constructor(simulation: Simulation) {
    const random = seededRandom(simulation.seed)
    const isAsynchronous = random.chance(0.5)
    const durability: Durability = random.chance(0.5) ? 'strict' : 'relaxed'
    const environment = simulatedEnvironment(random, 0, 3)
    this.#random = random
    this.#isPowerLost = simulation.fault.kind === 'power' && durability === 'relaxed'
    this.host = new CrashHost(simulation, { random, isAsynchronous, environment, durability })
  }

  async work(): Promise<void> {
    if ((await this.#open()) === undefined) return
    await this.#write((tx, model) => createAll(tx, model))
    const rounds = 3 + this.#random.below(10)
    for (let round = 0; round < rounds && this.host.isUsable; round++) {
      const sizes = [1, 1, 5, 50, 1500]
      const writes = Array.from({ length: 1 + this.#random.below(3) }, () =>
        randomSteps(this.#random, this.#random.pick(sizes)),
      )
      await this.#writeTogether(writes)
      if (this.host.isUsable && this.#random.chance(0.3)) await this.host.attempt(() => this.#kv!.checkpoint())
    }
  }

  /** Opens what is left, and goes on working with it. */
  async aftermath(): Promise<void> {
    await this.host.reopen(
      () => this.#kv?.close(),
      () => this.#open(),
    )
    await this.#kv!.check()
    if (this.#isPowerLost) this.#maybe = [...this.#maybe, ...this.#past.toReversed()]
    await this.#compare()
    await this.#writeTogether([randomSteps(this.#random, 50)])
    await this.#compare()
    await this.#kv!.checkpoint()
    await this.#kv!.check()
    await this.#kv!.close()
  }

  #open(): Promise<Known<PagedKeyValueStore> | undefined> {
    return this.host.attempt(async () => (this.#kv = await this.host.open(this.#random.pick([0, 200_000, 10_000_000]))))
  }

  async #write(run: (tx: Parameters<typeof createAll>[0], model: Model) => void): Promise<void> {
    let next = this.#model
    const written = this.host.attempt(() =>
      this.#kv!.write((tx) => {
        next = copyModel(this.#model)
        run(tx, next)
      }),
    )
    if ((await written) !== undefined) this.#acknowledge([next])
    else this.#maybe = [next]
  }

  /** Asked for together, so that they share a group: each builds on the model that the one before left. */
  async #writeTogether(writes: readonly Step[][]): Promise<void> {
    const after: Model[] = []
    const done = writes.map((steps, index) =>
      this.host.attempt(() =>
        this.#kv!.write((tx) => {
          const model = copyModel(after[index - 1] ?? this.#model)
          for (const step of steps) runStep(tx, model, step)
          after[index] = model
        }),
      ),
    )
    const outcomes = await Promise.all(done)
    const acknowledged = outcomes.findLastIndex((outcome) => outcome !== undefined)
    if (acknowledged >= 0) this.#acknowledge(after.slice(0, acknowledged + 1))
    this.#maybe = after.slice(acknowledged + 1).filter((model) => model !== undefined)
    if (outcomes.includes(undefined)) await this.#settle()
  }

  #acknowledge(models: readonly Model[]): void {
    this.#past.push(this.#model, ...models.slice(0, -1).filter((model) => model !== undefined))
    this.#model = models.at(-1)!
  }

  /** A write has failed and the handle is still there: what it shows from now on is what counts. */
  async #settle(): Promise<void> {
    if (!this.host.isUsable) return
    const settled = await this.host.attempt(async () => {
      await this.#kv!.refresh()
      await this.#compare()
    })
    if (settled === undefined) this.host.isUsable = false
  }

  async #compare(): Promise<void> {
    const problems: unknown[] = []
    for (const model of [this.#model, ...this.#maybe]) {
      try {
        await this.#kv!.read((snapshot) => compareAll(snapshot, model))
        this.#model = model
        this.#maybe = []
        return
      } catch (error) {
        if (!(error instanceof CheckError)) throw error
        problems.push(error)
      }
    }
    throw problems[0]
  }
}
