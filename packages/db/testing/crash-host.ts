/**
 * The common part of crash simulations: a simulated page store with one fault at one backend call, work that may then
 * fail or never be answered, and a second run after it.
 */
import type { Environment } from '../src/base/environment.ts'
import { PannierError } from '../src/base/errors.ts'
import type { Coordinator } from '../src/storage/coordinator.ts'
import { openKeyValueStore, type PagedKeyValueStore } from '../src/kv/open.ts'
import type { Durability, PageStore } from '../src/storage/page-store.ts'
import { CheckError } from './check.ts'
import type { Random } from './random.ts'
import { randomOrder, SimulatedStorage, type Fault, type SimulationOptions } from './simulated-page-store.ts'

export interface Simulation {
  readonly seed: number
  /** The backend call that meets the fault; 0: none does. */
  readonly call: number
  readonly fault: Fault
  readonly coordinator: () => Coordinator
  /** Where the database is; left out: a simulated page store. */
  readonly place?: (options: SimulationOptions) => SimulatedPlace
}

/** A place for databases whose failures are chosen. */
export interface SimulatedPlace {
  /** Backend calls made up to now. */
  readonly calls: number
  /** Called when a fault has made handles go: what waits for them waits for ever. */
  onGone: () => void
  failAt(call: number, fault: Fault): void
  /** No call meets a fault from now on. */
  disarm(): void
  open(name: string): Promise<PageStore>
}

export interface CrashHostOptions {
  /** Chance in the storage and in the order of its answers. */
  readonly random: Random
  /** Whether answers come later and in any order. */
  readonly isAsynchronous: boolean
  readonly environment: Environment
  readonly durability: Durability
}

/** An outcome that is known. */
export interface Known<T> {
  readonly value: T
}

/** The work before the crash, and what is demanded after it. */
export interface CrashRun {
  readonly host: CrashHost
  work(): Promise<void>
  aftermath(): Promise<void>
}

/** Gives the number of backend calls that were made before the end. Throws for whatever is wrong. */
export async function simulateRun(run: CrashRun): Promise<number> {
  await run.work()
  const { calls } = run.host.storage
  await run.aftermath()
  return calls
}

const FAULT_CODES = ['PANNIER_IO_FAILED', 'PANNIER_QUOTA_EXCEEDED'] as const

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

export class CrashHost {
  readonly storage: SimulatedPlace
  /** False once the process is gone or its handle closed: nothing more can be asked of it. */
  isUsable = true
  readonly #simulation: Simulation
  readonly #options: CrashHostOptions
  #gone: Promise<undefined>

  constructor(simulation: Simulation, options: CrashHostOptions) {
    const { random, isAsynchronous } = options
    this.#simulation = simulation
    this.#options = options
    const { place = (placeOptions) => new SimulatedStorage(placeOptions) } = simulation
    this.storage = place({
      random: random.next,
      ...(isAsynchronous ? { schedule: randomOrder(random.next) } : {}),
    })
    if (simulation.call > 0) this.storage.failAt(simulation.call, simulation.fault)
    this.#gone = new Promise((resolve) => {
      this.storage.onGone = () => {
        this.isUsable = false
        resolve(undefined)
      }
    })
  }

  /** Undefined when it failed as it may, or was never answered. */
  async attempt<T>(action: () => Promise<T>): Promise<Known<T> | undefined> {
    try {
      return await Promise.race([action().then((value) => ({ value })), this.#gone])
    } catch (error) {
      if (!(error instanceof PannierError) || error.code === 'PANNIER_CORRUPT') throw error
      if (error.code === 'PANNIER_CLOSED') this.isUsable = false
      return undefined
    }
  }

  async open(cacheBytesMax: number): Promise<PagedKeyValueStore> {
    const { environment, durability } = this.#options
    return openKeyValueStore({
      store: await this.storage.open('x'),
      coordinator: this.#simulation.coordinator(),
      environment,
      cacheBytesMax,
      durability,
    })
  }

  /** No fault from now on: closes what can still be closed, then opens what is left. */
  async reopen<T>(close: () => Promise<unknown> | undefined, open: () => Promise<Known<T> | undefined>): Promise<T> {
    this.storage.disarm()
    if (this.isUsable) await close()
    this.isUsable = true
    this.#gone = new Promise(() => {})
    const opened = await open()
    if (opened === undefined) throw new CheckError('the database does not open again')
    return opened.value
  }
}

/** Time starts at `time` and goes on by less than `step` milliseconds with each look at it. */
export function simulatedEnvironment(random: Random, time: number, step: number): Environment {
  let now = time
  const tick = (): number => (now += random.below(step))
  return {
    now: tick,
    wallClock: tick,
    randomBytes: (length) => Uint8Array.from({ length }, () => random.below(256)),
    randomId: () => Array.from({ length: 32 }, () => random.below(16).toString(16)).join(''),
    yield: () => Promise.resolve(),
    after: () => () => {},
  }
}
