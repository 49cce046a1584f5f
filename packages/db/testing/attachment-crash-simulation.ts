/**
 * Crash simulation of attachments: uploads, their adoption and their release on a simulated page store, one fault at one
 * backend call, then the database is opened again.
 *
 * What is demanded: documents have the attachments that were acknowledged, byte for byte; every blob has exactly the references
 * that it counts, every chunk belongs to a blob or to a pending upload; and once dead uploads are reclaimed, nothing is left
 * beside what documents refer to.
 */
import type { Environment } from '../src/base/environment.ts'
import { PannierError } from '../src/base/errors.ts'
import { CHUNK_BYTES } from '../src/document/attachments/blob-store.ts'
import { openKeyValueStore, type PagedKeyValueStore } from '../src/kv/open.ts'
import type { Durability } from '../src/storage/page-store.ts'
import { AttachmentStore, contentBytes, contentPieces } from './attachment-fixture.ts'
import { assertEqual, assertTrue, CheckError } from './check.ts'
import type { Simulation } from './crash-simulation.ts'
import { seededRandom, type Random } from './random.ts'
import { randomOrder, SimulatedStorage } from './simulated-page-store.ts'

/** Content is a seed and a length; undefined: no such document. */
type Content = { readonly seed: number; readonly length: number } | undefined

const IDS = ['a', 'b', 'c'] as const
/** The last ones are uploaded ahead: they are longer than what is read into memory. */
const LENGTHS = [0, 10, 5000, CHUNK_BYTES, 5 * CHUNK_BYTES + 1, 14 * CHUNK_BYTES] as const

/** Runs it; gives the number of backend calls that it made before the end. Throws for whatever is wrong. */
export async function simulateAttachments(simulation: Simulation): Promise<number> {
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
  readonly #environment: Environment
  /** For each document what it may have: one content, or several when an outcome is not known. */
  readonly #allowed = new Map<string, Content[]>(IDS.map((id) => [id, [undefined]]))
  readonly #clock = { now: 1_700_000_000_000 }
  #gone: Promise<'gone'>
  #usable = true
  #kv: PagedKeyValueStore | undefined
  #store: AttachmentStore | undefined

  constructor(simulation: Simulation) {
    const random = seededRandom(simulation.seed)
    const asynchronous = random.chance(0.5)
    this.#simulation = simulation
    this.#random = random
    this.#durability = random.chance(0.5) ? 'strict' : 'relaxed'
    this.#environment = {
      now: () => 0,
      randomId: () => Array.from({ length: 32 }, () => random.below(16).toString(16)).join(''),
      yield: () => Promise.resolve(),
      after: () => () => {},
    }
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
    for (let round = 0; round < 5 && this.#usable; round++) {
      const [first, second] = this.#random.chance(0.5) ? ['a', 'b'] : ['b', 'c']
      await Promise.all([this.#put(first!, round), this.#random.chance(0.5) ? this.#put(second!, round) : undefined])
      if (this.#usable && this.#random.chance(0.3)) await this.#attempt(() => this.#kv!.checkpoint())
    }
  }

  async aftermath(): Promise<void> {
    this.storage.failAt(this.#simulation.call, undefined as never)
    if (this.#kv !== undefined && this.#usable) await this.#kv.close()
    this.#usable = true
    this.#gone = new Promise(() => {})
    if (!(await this.#open())) throw new CheckError('the database does not open again')
    const kv = this.#kv!
    const store = this.#store!
    await kv.check()
    await store.check(false)
    // Relaxed commits may be lost with the power.
    if (this.#simulation.fault.kind !== 'power' || this.#durability === 'strict') await this.#compare(store)
    // Others live on: nothing of theirs is taken.
    await store.put('d', { x: { data: contentPieces(9, 6 * CHUNK_BYTES) } })
    await store.reclaim()
    await store.check(true)
    for (const id of await store.ids()) await store.put(id, {})
    await store.check(true)
    await kv.checkpoint()
    await kv.check()
    await kv.close()
  }

  async #put(id: string, round: number): Promise<void> {
    const random = this.#random
    const content = random.chance(0.2) ? undefined : { seed: random.below(3), length: random.pick(LENGTHS) }
    const failing = content !== undefined && random.chance(0.15)
    const old = this.#allowed.get(id)!
    const done = await this.#attempt(async () => {
      await this.#store!.put(id, content === undefined ? {} : { x: { data: this.#data(content, failing, round) } })
      return true
    })
    if (done === true) this.#allowed.set(id, [content])
    else if (!failing) this.#allowed.set(id, [...old, content])
  }

  #data(
    { seed, length }: NonNullable<Content>,
    failing: boolean,
    round: number,
  ): AsyncIterable<Uint8Array> | Uint8Array {
    if (!failing) return round % 2 === 0 ? contentPieces(seed, length) : contentBytes(seed, length)
    return (async function* () {
      yield* contentPieces(seed, length)
      throw new PannierError('PANNIER_ABORTED', 'The source fails.')
    })()
  }

  async #compare(store: AttachmentStore): Promise<void> {
    for (const [id, allowed] of this.#allowed) {
      const attachment = await store.get(id, 'x')
      const bytes = await attachment?.bytes()
      const fits = allowed.some((content) =>
        content === undefined
          ? bytes === undefined
          : bytes?.length === content.length && isEqual(bytes, contentBytes(content.seed, content.length)),
      )
      assertTrue(fits, `document ${id} has what was acknowledged, not ${bytes?.length} other bytes`)
    }
  }

  async #open(): Promise<boolean> {
    const opened = await this.#attempt(async () =>
      openKeyValueStore({
        store: await this.storage.open('x'),
        coordinator: this.#simulation.coordinator(),
        environment: this.#environment,
        cacheBytesMax: this.#random.pick([0, 10_000_000]),
        durability: this.#durability,
      }),
    )
    if (opened === undefined) return false
    this.#kv = opened
    this.#store = new AttachmentStore(opened, this.#environment, this.#clock)
    return true
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

function isEqual(left: Uint8Array, right: Uint8Array): boolean {
  try {
    assertEqual(left, right as typeof left)
    return true
  } catch {
    return false
  }
}
