/**
 * Crash simulation of a key-value store: seeded work on a simulated page store, one fault at one backend call, then the
 * database is opened again and compared with a model.
 *
 * What is demanded: everything acknowledged is there; of the transaction under way all or nothing; every page is
 * accounted for; and work goes on.
 */
import type { Environment } from '../src/base/environment.ts'
import { PannierError } from '../src/base/errors.ts'
import type { Coordinator } from '../src/kv/coordinator.ts'
import { openKeyValueStore, type PagedKeyValueStore } from '../src/kv/open.ts'
import type { Durability } from '../src/storage/page-store.ts'
import { CheckError } from './check.ts'
import { compareAll, copyModel, createAll, randomSteps, runStep, type Model, type Step } from './key-value-workload.ts'
import { seededRandom, type Random } from './random.ts'
import { randomOrder, SimulatedStorage, type Fault } from './simulated-page-store.ts'

export interface Simulation {
  readonly seed: number
  /** The backend call that meets the fault; 0: none does. */
  readonly call: number
  readonly fault: Fault
  readonly coordinator: () => Coordinator
}

const FAULT_CODES = ['PANNIER_IO', 'PANNIER_QUOTA_EXCEEDED'] as const

export function randomFault(random: Random): Fault {
  const happens = random.chance(0.5)
  switch (random.below(4)) {
    case 0:
      return { kind: 'gone', happens }
    case 1:
      return { kind: 'power', happens }
    case 2:
      return { kind: 'closed' }
    default:
      return { kind: 'error', code: random.pick(FAULT_CODES), happens }
  }
}

/** Runs it; gives the number of backend calls that it made before the end. Throws for whatever is wrong. */
export async function simulate(simulation: Simulation): Promise<number> {
  const run = new Run(simulation)
  await run.work()
  const calls = run.storage.calls
  await run.aftermath()
  return calls
}

class Run {
  readonly storage: SimulatedStorage
  readonly #random: Random
  readonly #simulation: Simulation
  readonly #durability: Durability
  readonly #environment: Environment
  #gone: Promise<'gone'>
  #kv: PagedKeyValueStore | undefined
  /** What is acknowledged, and what else the database may hold: the outcome of a write that was never answered. */
  #model: Model = new Map()
  #maybe: Model[] = []
  #usable = true

  constructor(simulation: Simulation) {
    const random = seededRandom(simulation.seed)
    const asynchronous = random.chance(0.5)
    this.#simulation = simulation
    this.#random = random
    this.#durability = random.chance(0.5) ? 'strict' : 'relaxed'
    this.#environment = simulatedEnvironment(random)
    this.storage = new SimulatedStorage({
      random: random.next,
      ...(asynchronous ? { schedule: randomOrder(random.next) } : {}),
    })
    if (simulation.call > 0) this.storage.failAt(simulation.call, simulation.fault)
    this.#gone = new Promise((resolve) => {
      this.storage.onGone = () => {
        this.#usable = false
        resolve('gone')
      }
    })
  }

  async work(): Promise<void> {
    if (!(await this.#open())) return
    await this.#write((tx, model) => createAll(tx, model))
    const rounds = 3 + this.#random.below(10)
    for (let round = 0; round < rounds && this.#usable; round++) {
      const sizes = [1, 1, 5, 50, 1500]
      const writes = Array.from({ length: 1 + this.#random.below(3) }, () =>
        randomSteps(this.#random, this.#random.pick(sizes)),
      )
      await this.#writeTogether(writes)
      if (this.#usable && this.#random.chance(0.3)) await this.#attempt(() => this.#kv!.checkpoint())
    }
  }

  /** Opens what is left, and goes on working with it. */
  async aftermath(): Promise<void> {
    this.storage.failAt(this.#simulation.call, undefined as never)
    if (this.#kv !== undefined && this.#usable) await this.#kv.close()
    this.#usable = true
    this.#gone = new Promise(() => {})
    const powerLost = this.#simulation.fault.kind === 'power' && this.#durability === 'relaxed'
    if (!(await this.#open())) throw new CheckError('the database does not open again')
    await this.#kv!.check()
    // Relaxed commits may be lost with the power: then the rest of the run has no model to be compared with.
    if (!powerLost) {
      await this.#compare()
      await this.#writeTogether([randomSteps(this.#random, 50)])
      await this.#compare()
    }
    await this.#kv!.checkpoint()
    await this.#kv!.check()
    await this.#kv!.close()
  }

  async #open(): Promise<boolean> {
    const opened = await this.#attempt(async () =>
      openKeyValueStore({
        store: await this.storage.open('x'),
        coordinator: this.#simulation.coordinator(),
        environment: this.#environment,
        cacheBytesMax: this.#random.pick([0, 200_000, 10_000_000]),
        durability: this.#durability,
      }),
    )
    if (opened === undefined) return false
    this.#kv = opened
    return true
  }

  async #write(run: (tx: Parameters<typeof createAll>[0], model: Model) => void): Promise<void> {
    let next = this.#model
    const written = this.#attempt(() =>
      this.#kv!.write((tx) => {
        next = copyModel(this.#model)
        run(tx, next)
        return true
      }),
    )
    if ((await written) === true) this.#model = next
    else this.#maybe = [next]
  }

  /** Asked for together, so that they share a group: each builds on the model that the one before left. */
  async #writeTogether(writes: readonly Step[][]): Promise<void> {
    const after: Model[] = []
    const done = writes.map((steps, index) =>
      this.#attempt(() =>
        this.#kv!.write((tx) => {
          const model = copyModel(after[index - 1] ?? this.#model)
          for (const step of steps) runStep(tx, model, step)
          after[index] = model
          return true
        }),
      ),
    )
    const outcomes = await Promise.all(done)
    const acknowledged = outcomes.lastIndexOf(true)
    if (acknowledged >= 0) this.#model = after[acknowledged]!
    this.#maybe = after.slice(acknowledged + 1).filter((model) => model !== undefined)
    if (outcomes.includes(undefined)) await this.#settle()
  }

  /** A write has failed and the handle is still there: what it shows from now on is what counts. */
  async #settle(): Promise<void> {
    if (!this.#usable) return
    const settled = await this.#attempt(async () => {
      await this.#kv!.refresh()
      await this.#compare()
      return true
    })
    if (settled === undefined) this.#usable = false
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

  /** Undefined when it failed as it may, or was never answered. */
  async #attempt<T>(action: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await Promise.race([action(), this.#gone])
      return result === 'gone' ? undefined : (result as T)
    } catch (error) {
      if (!(error instanceof PannierError) || error.code === 'PANNIER_CORRUPT') throw error
      if (error.code === 'PANNIER_CLOSED') this.#usable = false
      return undefined
    }
  }
}

function simulatedEnvironment(random: Random): Environment {
  let time = 0
  return {
    now: () => (time += random.below(3)),
    randomId: () => Array.from({ length: 32 }, () => random.below(16).toString(16)).join(''),
    yield: () => Promise.resolve(),
    after: () => () => {},
  }
}
