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
import { countingEnvironment, databaseOver } from './model-database.ts'
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
  #reference = new Reference()
  #db: Database | undefined
  #gone: Promise<'gone'>
  #usable = true
  #version = 1
  /** What has happened to the reference. */
  #history: CrashStep[] = []
  /** What else may have happened, one of these. */
  #candidates: readonly (readonly CrashStep[])[] = NOTHING_OPEN

  constructor(simulation: Simulation) {
    const random = seededRandom(simulation.seed)
    const chance = seededRandom(simulation.seed + 1_000_003)
    this.#simulation = simulation
    this.#random = random
    // What is relaxed may be lost with the power, which nothing could be compared with.
    this.#durability = simulation.fault.kind === 'power' || random.chance(0.5) ? 'strict' : 'relaxed'
    this.#cacheBytesMax = random.pick([0, 200_000, 10_000_000])
    this.#environment = simulatedEnvironment(chance)
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
    const rounds = 8 + this.#random.below(16)
    for (let round = 0; round < rounds && this.#usable; round++) {
      if (this.#random.chance(0.08)) {
        if (this.#version < VERSION_MAX && this.#random.chance(0.7)) this.#version++
        if (!(await this.#reopen())) return
      } else if (this.#random.chance(0.2)) {
        // Asked for together, so that they may share a group.
        await this.#runSteps([await this.#step(), await this.#step()].filter(({ isOrdered }) => isOrdered))
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
    return randomStep(this.#random, this.#reference.db)
  }

  async #runSteps(steps: readonly CrashStep[]): Promise<void> {
    const db = this.#db!
    const outcomes = await Promise.all(steps.map((step) => this.#attempt(() => step.run(db))))
    if (!outcomes.includes(undefined)) {
      for (const [at, step] of steps.entries()) {
        assertEqual(outcomes[at]!.value, await this.#refer(step), `the answer to ${step.name}`)
      }
      return
    }
    // Those that were acknowledged have happened; of the others any, in their order.
    let candidates: (readonly CrashStep[])[] = [[]]
    for (const [at, step] of steps.entries()) {
      const withStep = candidates.map((before) => [...before, step])
      candidates = outcomes[at] === undefined ? [...candidates, ...withStep] : withStep
    }
    this.#candidates = candidates
    if (!this.#usable) return
    // The handle is still there: what it shows from now on is what counts.
    const settled = await this.#attempt(async () => {
      await this.#db!.refresh()
      await this.#compare(this.#db!)
    })
    if (settled === undefined) this.#usable = false
  }

  #refer(step: CrashStep): Promise<unknown> {
    this.#history.push(step)
    return this.#reference.run(step)
  }

  /** The database is as a reference is to which one of the things that may have happened has happened. */
  async #compare(db: Database): Promise<void> {
    const candidates = this.#candidates
    const isResumable = candidates.some(([step]) => step?.resumable === true && step.name !== 'reopen')
    if (isResumable) await candidates.at(-1)![0]!.run(db)
    const actual = await dump(db)
    for (const [at, steps] of candidates.entries()) {
      if (isResumable && at < candidates.length - 1) continue
      // It was run once more, perhaps by another handle.
      const history = [...this.#history, ...steps, ...(isResumable ? steps.slice(0, 1) : [])]
      const reference = candidates.length === 1 && steps.length === 0 ? this.#reference : await replay(history)
      try {
        assertEqual(actual, await dump(reference.db))
      } catch (error) {
        if (at === candidates.length - 1) throw error
        continue
      }
      this.#history = history
      this.#reference = reference
      this.#candidates = NOTHING_OPEN
      return
    }
  }

  async #reopen(): Promise<boolean> {
    const closed = await this.#attempt(() => this.#db!.close())
    if (closed === undefined) this.#usable = false
    return closed !== undefined && (await this.#openBoth())
  }

  /** Both forget what was declared; both migrate to the version of the code. */
  async #openBoth(): Promise<boolean> {
    const version = this.#version
    const reopen: CrashStep = { name: 'reopen', resumable: true, isOrdered: false, run: (db) => migrate(db, version) }
    const opened = await this.#attempt(async () => {
      const store = await openKeyValueStore({
        store: await this.storage.open('x'),
        coordinator: this.#simulation.coordinator(),
        environment: this.#environment,
        cacheBytesMax: this.#cacheBytesMax,
        durability: this.#durability,
      })
      this.#db = databaseOver(store, this.#environment, () => store.check())
      await reopen.run(this.#db)
    })
    if (opened === undefined) {
      this.#usable = false
      return false
    }
    if (this.#candidates === NOTHING_OPEN) await this.#refer(reopen)
    else this.#candidates = this.#candidates.map((steps) => [...steps, reopen])
    return true
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

/** A database that never fails. */
class Reference {
  readonly #store = modelKeyValueStore()
  /** One for all handles: chance that repeats itself is none. */
  readonly #environment = countingEnvironment()
  #db: Database = databaseOver(this.#store, this.#environment)

  get db(): Database {
    return this.#db
  }

  run(step: CrashStep): Promise<unknown> {
    // What was declared is forgotten with the handle.
    if (step.name === 'reopen') this.#db = databaseOver(this.#store, this.#environment)
    return step.run(this.#db)
  }
}

async function replay(steps: readonly CrashStep[]): Promise<Reference> {
  const reference = new Reference()
  for (const step of steps) await reference.run(step)
  return reference
}

const NOTHING_OPEN: readonly (readonly CrashStep[])[] = [[]]

async function migrate(db: Database, version: number): Promise<void> {
  const migrations = Object.fromEntries(Array.from({ length: version - 1 }, (_, at) => [at + 2, migration(at + 2)]))
  await db.collection('docs', version === 1 ? {} : { version, migrations }).ready()
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
