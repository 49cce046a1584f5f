/**
 * Crash simulation of a whole database: seeded work (database-crash-steps.ts) on a simulated page store, one fault at one
 * backend call, then the database is opened again.
 *
 * What is demanded: the integrity check finds nothing; everything acknowledged is there, and of the step under way all or
 * nothing (of one that is several commits: it goes on when it is run again); when relaxed commits went with the power, a state
 * that there was; answers are those of a database that never fails,
 * over the model of a key-value store, which is what all is compared with; and work goes on.
 */
import type { Environment } from '../src/base/environment.ts'
import type { Database } from '../src/database/database.ts'
import type { Durability } from '../src/storage/page-store.ts'
import { assertEqual } from './check.ts'
import {
  CrashHost,
  simulatedEnvironment,
  simulateRun,
  type CrashRun,
  type Known,
  type Simulation,
} from './crash-host.ts'
import { dump, randomStep } from './database-crash-steps.ts'
import type { CrashStep } from './database-crash-steps.ts'
import { countingEnvironment, databaseOver } from './model-database.ts'
import { modelKeyValueStore } from './model-key-value-store.ts'
import { seededRandom, type Random } from './random.ts'

const VERSION_MAX = 3

/** Runs it; gives the number of backend calls that it made before the end. Throws for whatever is wrong. */
export function simulateDatabase(simulation: Simulation): Promise<number> {
  return simulateRun(new Run(simulation))
}

class Run implements CrashRun {
  readonly host: CrashHost
  readonly #random: Random
  readonly #cacheBytesMax: number
  /** The last commits may go with the power. Then no step may be several commits, in whose midst it could end, but the build of an index. */
  readonly #isPowerLost: boolean
  readonly #environment: Environment
  #reference = new Reference()
  #db: Database | undefined
  #version = 1
  /** What has happened to the reference. */
  #history: CrashStep[] = []
  /** What else may have happened, one of these. */
  #candidates: readonly (readonly CrashStep[])[] = NOTHING_OPEN

  constructor(simulation: Simulation) {
    const random = seededRandom(simulation.seed)
    const chance = seededRandom(simulation.seed + 1_000_003)
    const durability: Durability = random.chance(0.5) ? 'strict' : 'relaxed'
    this.#isPowerLost = simulation.fault.kind === 'power' && durability === 'relaxed'
    const isAsynchronous = random.chance(0.5)
    this.#random = random
    this.#cacheBytesMax = random.pick([0, 200_000, 10_000_000])
    this.#environment = simulatedEnvironment(chance, 1_700_000_000_000, 3)
    this.host = new CrashHost(simulation, {
      random: chance,
      isAsynchronous,
      environment: this.#environment,
      durability,
    })
  }

  async work(): Promise<void> {
    if ((await this.#openBoth()) === undefined) return
    const rounds = 8 + this.#random.below(16)
    for (let round = 0; round < rounds && this.host.isUsable; round++) {
      if (this.#random.chance(0.08)) {
        if (!this.#isPowerLost && this.#version < VERSION_MAX && this.#random.chance(0.7)) this.#version++
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
    if (this.#isPowerLost) {
      const last = this.#candidates.map((steps) => [...this.#history, ...steps])
      this.#candidates = [
        ...last.toReversed(),
        ...this.#history.map((_, at) => this.#history.slice(0, at)).toReversed(),
      ]
      this.#history = []
    }
    const db = await this.host.reopen(
      () => this.#db?.close(),
      () => this.#openBoth(),
    )
    assertEqual((await db.check()).problems, [], 'check after the crash')
    if (this.#isPowerLost) await finishIndexes(db)
    await this.#compare(db)
    for (let round = 0; round < 3; round++) await this.#runSteps([await this.#step()])
    await db.flush()
    await this.#compare(db)
    assertEqual((await db.check()).problems, [], 'check at the end')
    await db.close()
  }

  async #step(): Promise<CrashStep> {
    for (;;) {
      const step = await randomStep(this.#random, this.#reference.db)
      // An index that is half built goes on when it is asked for.
      if (!this.#isPowerLost || !step.resumable || step.name === 'index') return step
    }
  }

  async #runSteps(steps: readonly CrashStep[]): Promise<void> {
    const db = this.#db!
    const outcomes = await Promise.all(steps.map((step) => this.host.attempt(() => step.run(db))))
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
    if (!this.host.isUsable) return
    // The handle is still there: what it shows from now on is what counts.
    const settled = await this.host.attempt(async () => {
      await this.#db!.refresh()
      await this.#compare(this.#db!)
    })
    if (settled === undefined) this.host.isUsable = false
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
    const closed = await this.host.attempt(() => this.#db!.close())
    if (closed === undefined) this.host.isUsable = false
    return closed !== undefined && (await this.#openBoth()) !== undefined
  }

  /** Both forget what was declared; both migrate to the version of the code. */
  async #openBoth(): Promise<Known<Database> | undefined> {
    const version = this.#version
    const reopen: CrashStep = { name: 'reopen', resumable: true, isOrdered: false, run: (db) => migrate(db, version) }
    const opened = await this.host.attempt(async () => {
      const store = await this.host.open(this.#cacheBytesMax)
      const db = databaseOver(store, this.#environment, () => store.check())
      this.#db = db
      await reopen.run(db)
      return db
    })
    if (opened === undefined) {
      this.host.isUsable = false
      return undefined
    }
    if (this.#candidates === NOTHING_OPEN) await this.#refer(reopen)
    else this.#candidates = this.#candidates.map((steps) => [...steps, reopen])
    return opened
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

/** Those that are half built are built when they are declared again. */
async function finishIndexes(db: Database): Promise<void> {
  for (const name of await db.collections()) {
    const indexes = (await db.collection(name).indexes()).filter(({ ready }) => !ready).map((index) => index.name)
    if (indexes.length > 0) await db.collection(name, { indexes }).ready()
  }
}

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
