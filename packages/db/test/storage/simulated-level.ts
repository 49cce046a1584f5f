/**
 * An abstract-level database whose failures are chosen, for crash simulations of what `level()` makes of it: as
 * testing/simulated-page-store.ts, one layer down. With the power a suffix of the batches since the last synced one is lost.
 */
import { level } from '../../src/storage/level/level.ts'
import type {
  Level,
  LevelEncodings,
  LevelKeysOptions,
  LevelOperation,
  LevelRange,
} from '../../src/storage/level/level-types.ts'
import type { PageStore } from '../../src/storage/page-store.ts'
import type { SimulatedPlace } from '../../testing/crash-host.ts'
import type { Fault, SimulationOptions } from '../../testing/simulated-page-store.ts'

type Entries = Map<string, Uint8Array>

export class SimulatedLevels implements SimulatedPlace {
  calls = 0
  onGone: () => void = () => {}
  private readonly options: SimulationOptions
  private readonly faults = new Map<number, Fault>()
  private readonly processes = new Set<SimulatedLevel>()
  private entries: Entries = new Map()
  private batches: LevelOperation[][] = []
  private durableCount = 0

  constructor(options: SimulationOptions) {
    this.options = options
  }

  failAt(call: number, fault: Fault): void {
    this.faults.set(call, fault)
  }

  disarm(): void {
    this.faults.clear()
  }

  /** Each handle stands for a process of its own. */
  open(name: string): Promise<PageStore> {
    const process = new SimulatedLevel(this)
    this.processes.add(process)
    return level(() => process).open(name)
  }

  get content(): Entries {
    return this.entries
  }

  write(operations: LevelOperation[], sync: boolean): void {
    apply(this.entries, operations)
    this.batches.push(operations)
    if (sync) this.durableCount = this.batches.length
  }

  async call<T>(process: SimulatedLevel, effect: () => T): Promise<T> {
    const { schedule } = this.options
    const fault = this.faults.get(++this.calls)
    if (schedule) await new Promise<void>((resolve) => schedule(resolve))
    if (process.gone) return new Promise(() => {})
    if (fault?.kind === 'closed') process.closed = true
    if (process.closed) throw levelFailure('LEVEL_DATABASE_NOT_OPEN')
    if (!fault || fault.kind === 'closed') return effect()
    if (fault.happens) effect()
    if (fault.kind === 'error') {
      throw fault.code === 'PANNIER_IO' ? levelFailure('LEVEL_IO_ERROR') : new Error('No space left on device')
    }
    if (fault.kind === 'power') this.losePower()
    else process.gone = true
    this.onGone()
    return new Promise(() => {})
  }

  private losePower(): void {
    for (const process of this.processes) process.gone = true
    const { random = () => 0 } = this.options
    const survivors = this.durableCount + Math.floor(random() * (this.batches.length - this.durableCount + 1))
    this.batches.length = this.durableCount = Math.min(survivors, this.batches.length)
    this.entries = new Map()
    for (const operations of this.batches) apply(this.entries, operations)
  }
}

class SimulatedLevel implements Level {
  gone = false
  closed = false
  private readonly place: SimulatedLevels

  constructor(place: SimulatedLevels) {
    this.place = place
  }

  open(): Promise<void> {
    return this.place.call(this, () => {})
  }

  async close(): Promise<void> {}

  getMany(keys: string[], _options: LevelEncodings): Promise<(Uint8Array | undefined)[]> {
    return this.place.call(this, () => keys.map((key) => this.place.content.get(key)))
  }

  batch(operations: LevelOperation[], { sync }: { readonly sync: boolean }): Promise<void> {
    return this.place.call(this, () => this.place.write(operations, sync))
  }

  keys({ gte, lt, limit, reverse }: LevelKeysOptions): { all(): Promise<string[]> } {
    const all = (): string[] => {
      const found = [...this.place.content.keys()].filter((key) => key >= gte && key < lt).toSorted()
      return (reverse ? found.toReversed() : found).slice(0, limit)
    }
    return { all: () => this.place.call(this, all) }
  }

  clear({ gte, lt }: LevelRange): Promise<void> {
    const keys = [...this.place.content.keys()].filter((key) => key >= gte && key < lt)
    return this.batch(
      keys.map((key) => ({ type: 'del', key })),
      { sync: false },
    )
  }
}

function apply(entries: Entries, operations: readonly LevelOperation[]): void {
  for (const operation of operations) {
    if (operation.type === 'put') entries.set(operation.key, operation.value)
    else entries.delete(operation.key)
  }
}

function levelFailure(code: string): Error {
  return Object.assign(new Error(`Simulated: ${code}`), { code })
}
