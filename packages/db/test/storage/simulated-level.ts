/**
 * An abstract-level database whose failures are chosen, for crash simulations of what `level()` makes of it: as
 * testing/simulated-page-store.ts, one layer down.
 *
 * With the power goes what LevelDB may lose: its log is in files, one after another; each loses a suffix of what is behind its last synced
 * batch. At most two files count, as the next one is begun only when all before the last is in sorted tables, which are synced.
 */
import { level } from '../../src/storage/level/level.ts'
import type {
  Level,
  LevelEncodings,
  LevelKeysOptions,
  LevelOperation,
  LevelRange,
} from '../../src/storage/level/abstract-level.ts'
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
  /** What is in sorted tables, and files of the log that are not yet, oldest first. */
  private tables: Entries = new Map()
  private logFiles: LogFile[] = [{ batches: [], syncedCount: 0 }]

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
    const [isNewFile, isCompacted] = [this.random(), this.random()].map((chance) => chance < NEW_FILE_CHANCE)
    if (this.logFiles.length > 1 && (isNewFile || isCompacted)) this.compactOldest()
    if (isNewFile) this.logFiles.push({ batches: [], syncedCount: 0 })
    const file = this.logFiles.at(-1)!
    file.batches.push(operations)
    if (sync) file.syncedCount = file.batches.length
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
      throw fault.code === 'PANNIER_IO_FAILED' ? levelFailure('LEVEL_IO_ERROR') : new Error('No space left on device')
    }
    if (fault.kind === 'power') this.losePower()
    else process.gone = true
    this.onGone()
    return new Promise(() => {})
  }

  private random(): number {
    return this.options.random?.() ?? 0
  }

  private compactOldest(): void {
    for (const operations of this.logFiles.shift()!.batches) apply(this.tables, operations)
  }

  private losePower(): void {
    for (const process of this.processes) process.gone = true
    for (const { batches, syncedCount } of this.logFiles) {
      const survivors = syncedCount + Math.floor(this.random() * (batches.length - syncedCount + 1))
      for (const operations of batches.slice(0, survivors)) apply(this.tables, operations)
    }
    this.entries = new Map(this.tables)
    this.logFiles = [{ batches: [], syncedCount: 0 }]
  }
}

/** LevelDB begins one after 4 MB. Here it is much sooner, so that something happens. */
const NEW_FILE_CHANCE = 0.1

interface LogFile {
  readonly batches: LevelOperation[][]
  syncedCount: number
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
