/**
 * Crash simulation of attachments. It uploads, adopts and releases on a simulated page store, with one fault at one
 * backend call. Then it opens the database again.
 *
 * It requires that documents have their acknowledged attachments, byte for byte. Every blob counts exactly its
 * references, and every chunk belongs to a blob or to a pending upload. After dead uploads are reclaimed, only what
 * documents refer to is left.
 */
import type { Environment } from '../src/base/environment.ts'
import { PannierError } from '../src/base/errors.ts'
import { CHUNK_BYTES } from '../src/document/attachments/blob-store.ts'
import type { PagedKeyValueStore } from '../src/kv/open.ts'
import type { Durability } from '../src/storage/page-store.ts'
import { AttachmentStore, contentBytes, contentPieces } from './attachment-fixture.ts'
import { assertEqual, assertTrue } from './check.ts'
import {
  CrashHost,
  simulatedEnvironment,
  simulateRun,
  type CrashRun,
  type Known,
  type Simulation,
} from './crash-host.ts'
import { seededRandom, type Random } from './random.ts'

/** Content is a seed and a length; undefined: no such document. */
type Content = { readonly seed: number; readonly length: number } | undefined

const IDS = ['a', 'b', 'c'] as const
/** The last ones are uploaded ahead: they are longer than what is read into memory. */
const LENGTHS = [0, 10, 5000, CHUNK_BYTES, 5 * CHUNK_BYTES + 1, 14 * CHUNK_BYTES] as const

/** Runs it; gives the number of backend calls that it made before the end. Throws for whatever is wrong. */
export function simulateAttachments(simulation: Simulation): Promise<number> {
  return simulateRun(new Run(simulation))
}

class Run implements CrashRun {
  readonly host: CrashHost
  readonly #random: Random
  readonly #isPowerLost: boolean
  readonly #environment: Environment
  /** For each document what it may have: one content, or several when an outcome is not known. */
  readonly #allowed = new Map<string, Content[]>(IDS.map((id) => [id, [undefined]]))
  readonly #clock = { now: 1_700_000_000_000 }
  #kv: PagedKeyValueStore | undefined
  #store: AttachmentStore | undefined

  constructor(simulation: Simulation) {
    const random = seededRandom(simulation.seed)
    const isAsynchronous = random.chance(0.5)
    const durability: Durability = random.chance(0.5) ? 'strict' : 'relaxed'
    this.#random = random
    this.#isPowerLost = simulation.fault.kind === 'power' && durability === 'relaxed'
    this.#environment = simulatedEnvironment(random, 0, 3)
    this.host = new CrashHost(simulation, { random, isAsynchronous, environment: this.#environment, durability })
  }

  async work(): Promise<void> {
    if ((await this.#open()) === undefined) return
    for (let round = 0; round < 5 && this.host.isUsable; round++) {
      const [first, second] = this.#random.chance(0.5) ? ['a', 'b'] : ['b', 'c']
      await Promise.all([this.#put(first!, round), this.#random.chance(0.5) ? this.#put(second!, round) : undefined])
      if (this.host.isUsable && this.#random.chance(0.3)) await this.host.attempt(() => this.#kv!.checkpoint())
    }
  }

  async aftermath(): Promise<void> {
    await this.host.reopen(
      () => this.#kv?.close(),
      () => this.#open(),
    )
    const kv = this.#kv!
    const store = this.#store!
    await kv.check()
    await store.check(false)
    // Relaxed commits may be lost with the power.
    if (!this.#isPowerLost) await this.#compare(store)
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
    const done = await this.host.attempt(() =>
      this.#store!.put(id, content === undefined ? {} : { x: { data: this.#data(content, failing, round) } }),
    )
    if (done !== undefined) this.#allowed.set(id, [content])
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

  #open(): Promise<Known<void> | undefined> {
    return this.host.attempt(async () => {
      this.#kv = await this.host.open(this.#random.pick([0, 10_000_000]))
      this.#store = new AttachmentStore(this.#kv, this.#environment, this.#clock)
    })
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
