/**
 * Crash simulation of a whole database: seeded work (database-crash-steps.ts) on a simulated page store, one fault at one
 * backend call, then the database is opened again.
 *
 * What is demanded: the integrity check finds nothing; everything acknowledged is there, and of the step under way all or
 * nothing (of one that is several commits: it goes on when it is run again); answers are those of a database that never fails,
 * over the model of a key-value store, which is what all is compared with; and work goes on.
 */
import type { Environment } from '../src/base/environment.ts'
import { PannierError } from '../src/base/errors.ts'
import type { Database } from '../src/database/database.ts'
import { openKeyValueStore } from '../src/kv/open.ts'
import type { Durability } from '../src/storage/page-store.ts'
import { assertEqual, CheckError } from './check.ts'
import type { Simulation } from './crash-simulation.ts'
import { dump, randomStep } from './database-crash-steps.ts'
import type { CrashStep } from './database-crash-steps.ts'
import { databaseOver } from './model-database.ts'
import { modelKeyValueStore } from './model-key-value-store.ts'
import { seededRandom, type Random } from './random.ts'
import { randomOrder, SimulatedStorage } from './simulated-page-store.ts'

const VERSION_MAX = 3

/** Runs it; gives the number of backend calls that it made before the end. Throws for whatever is wrong. */
export async function simulateDatabase(simulation: Simulation): Promise<number> {
  const run = new Run(simulation)
  await run.work()
  const calls = run.storage.calls
  await run.aftermath()
  return calls
}

class Run {
  readonly storage: SimulatedStorage
  readonly #simulation: Simulation
  readonly #random: Random
  readonly #durability: Durability
  readonly #cacheBytesMax: number
  readonly #environment: Environment
  readonly #referenceStore = modelKeyValueStore()
  #reference: Database
  #db: Database | undefined
  #gone: Promise<'gone'>
  #usable = true
  #version = 1
  /** Steps whose outcome is not known, in order: the first few of them have happened, or none. */
  #open: CrashStep[] = []

  constructor(simulation: Simulation) {
    const random = seededRandom(simulation.seed)
    const chance = seededRandom(simulation.seed + 1_000_003)
    this.#simulation = simulation
    this.#random = random
    // What is relaxed may be lost with the power, which nothing could be compared with.
    this.#durability = simulation.fault.kind === 'power' || random.chance(0.5) ? 'strict' : 'relaxed'
    this.#cacheBytesMax = random.pick([0, 200_000, 10_000_000])
    this.#environment = simulatedEnvironment(chance)
    this.#reference = databaseOver(this.#referenceStore, this.#environment)
    this.storage = new SimulatedStorage({
      random: chance.next,
      ...(random.chance(0.5) ? { schedule: randomOrder(chance.next) } : {}),
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
    if (!(await this.#openBoth())) return
    const rounds = 6 + this.#random.below(14)
    for (let round = 0; round < rounds && this.#usable; round++) {
      if (this.#random.chance(0.08)) {
        if (this.#version < VERSION_MAX && this.#random.chance(0.7)) this.#version++
        if (!(await this.#reopen())) return
      } else if (this.#random.chance(0.2)) {
        // Asked for together, so that they may share a group.
        await this.#runSteps([await this.#step(), await this.#step()].filter(({ resumable }) => !resumable))
      } else {
        await this.#runSteps([await this.#step()])
      }
    }
  }

  /** Opens what is left, compares, and goes on working with it. */
  async aftermath(): Promise<void> {
    this.storage.failAt(this.#simulation.call, undefined as never)
    if (this.#usable) await this.#db?.close()
    this.#usable = true
    this.#gone = new Promise(() => {})
    if (!(await this.#openBoth())) throw new CheckError('the database does not open again')
    const db = this.#db!
    assertEqual(await db.check(), [], 'check after the crash')
    await this.#compare(db)
    for (let round = 0; round < 3; round++) await this.#runSteps([await this.#step()])
    await db.checkpoint()
    await this.#compare(db)
    assertEqual(await db.check(), [], 'check at the end')
    await db.close()
  }

  #step(): Promise<CrashStep> {
    return randomStep(this.#random, this.#reference)
  }

  async #runSteps(steps: readonly CrashStep[]): Promise<void> {
    const db = this.#db!
    const outcomes = await Promise.all(steps.map((step) => this.#attempt(() => step.run(db))))
    const failed = outcomes.some((outcome) => outcome === undefined)
    if (failed && steps.length > 1) {
      // They may have changed places, so which of them has happened is for the database to tell.
      await this.#referAll(steps, outcomes)
      return
    }
    for (const [at, step] of steps.entries()) {
      const outcome = outcomes[at]
      if (outcome === undefined) this.#open.push(step)
      else assertEqual(outcome.value, await step.run(this.#reference), `the answer to ${step.name}`)
    }
    if (failed) await this.#settle()
  }

  /** Those that were acknowledged have happened, in their order. */
  async #referAll(steps: readonly CrashStep[], outcomes: readonly ({ value: unknown } | undefined)[]): Promise<void> {
    for (const [at, step] of steps.entries()) if (outcomes[at] !== undefined) await step.run(this.#reference)
    this.#open.push(...steps.filter((_, at) => outcomes[at] === undefined))
    await this.#settle()
  }

  /** A step has failed and the handle is still there: what it shows from now on is what counts. */
  async #settle(): Promise<void> {
    if (!this.#usable) return
    const settled = await this.#attempt(async () => {
      await this.#db!.refresh()
      await this.#compare(this.#db!)
    })
    if (settled === undefined) this.#usable = false
  }

  /** The database is as the reference is, before or after the steps whose outcome is not known. */
  async #compare(db: Database): Promise<void> {
    const open = this.#open
    for (const step of open.filter(({ resumable }) => resumable)) {
      await step.run(db)
      await step.run(this.#reference)
    }
    this.#open = open.filter(({ resumable }) => !resumable)
    const actual = await dump(db)
    for (;;) {
      try {
        assertEqual(actual, await dump(this.#reference))
        this.#open = []
        return
      } catch (error) {
        const step = this.#open.shift()
        if (!(error instanceof CheckError) || step === undefined) throw error
        await step.run(this.#reference)
      }
    }
  }

  async #reopen(): Promise<boolean> {
    const closed = await this.#attempt(() => this.#db!.close())
    if (closed === undefined) this.#usable = false
    return closed !== undefined && (await this.#openBoth())
  }

  /** Both forget what was declared; both migrate to the version of the code. */
  async #openBoth(): Promise<boolean> {
    this.#reference = databaseOver(this.#referenceStore, this.#environment)
    await this.#migrate(this.#reference)
    const opened = await this.#attempt(async () => {
      const store = await openKeyValueStore({
        store: await this.storage.open('x'),
        coordinator: this.#simulation.coordinator(),
        environment: this.#environment,
        cacheBytesMax: this.#cacheBytesMax,
        durability: this.#durability,
      })
      const db = databaseOver(store, this.#environment, () => store.check())
      this.#db = db
      await this.#migrate(db)
    })
    if (opened === undefined) this.#usable = false
    return opened !== undefined
  }

  async #migrate(db: Database): Promise<void> {
    const migrations = Object.fromEntries(
      Array.from({ length: this.#version - 1 }, (_, at) => [at + 2, migration(at + 2)]),
    )
    const options = this.#version === 1 ? {} : { version: this.#version, migrations }
    await db.collection('docs', options).ready()
  }

  /** Undefined when it failed as it may, or was never answered. */
  async #attempt<T>(action: () => Promise<T>): Promise<{ readonly value: T } | undefined> {
    try {
      const result = await Promise.race([action().then((value) => ({ value })), this.#gone])
      return result === 'gone' ? undefined : result
    } catch (error) {
      if (!(error instanceof PannierError) || error.code === 'PANNIER_CORRUPT') throw error
      if (error.code === 'PANNIER_CLOSED') this.#usable = false
      return undefined
    }
  }
}

/** Some fail, some go. */
function migration(version: number): (document: Record<string, unknown>) => Record<string, unknown> {
  return (document) => {
    const n = Number(document['n'])
    if (n % 7 === version) throw new Error('no')
    return n % 11 === version ? { _deleted: true } : { ...document, version }
  }
}

function simulatedEnvironment(random: Random): Environment {
  let time = 1_700_000_000_000
  return {
    now: () => time++,
    randomId: () => Array.from({ length: 32 }, () => random.below(16).toString(16)).join(''),
    yield: () => Promise.resolve(),
    after: () => () => {},
  }
}
