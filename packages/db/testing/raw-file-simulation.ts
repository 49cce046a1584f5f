/**
 * Power losses, kills and failures of the file logic of storage/opfs/: seeded calls of a page store over a simulated disk, a fault at one
 * operation of it, then the files are opened again and compared with a model, several lives in a row.
 *
 * What is demanded: after a loss of power a state that there was, none older than what was acknowledged as flushed; after the end of
 * the process, or a failed operation, exactly what was acknowledged; of the call under way all or nothing; and every file opens.
 */
import type { CommitSequence, Generation, PageId } from '../src/base/brand.ts'
import { isPannierError } from '../src/base/errors.ts'
import { sameBytes } from '../src/codec/bytes.ts'
import type { FileDatabase } from '../src/storage/opfs/file-database.ts'
import type { Durability, LogRecord, MetaRecord, Page } from '../src/storage/page-store.ts'
import { CheckError } from './check.ts'
import { openDatabase } from './raw-file-storage.ts'
import { seededRandom, type Random } from './random.ts'
import { GoneError, SimulatedDisk, type DiskFault } from './simulated-disk.ts'

/** What a database holds; never changed. */
interface Model {
  readonly meta: MetaRecord | undefined
  readonly log: readonly LogRecord[]
  readonly pages: ReadonlyMap<PageId, Uint8Array>
  readonly keyring: Uint8Array | undefined
  readonly logSeal: Uint8Array | undefined
}

const EMPTY: Model = { meta: undefined, log: [], pages: new Map(), keyring: undefined, logSeal: undefined }
const LIVES = 4
const CALLS_PER_LIFE_MAX = 40
const OPERATIONS_PER_LIFE_MAX = 120
const NAME = 'database'

/** Runs one seed; gives how often the power was lost. Throws for whatever is wrong. */
export function simulateFiles(seed: number): number {
  return new Run(seed).lives()
}

class Run {
  private readonly random: Random
  private readonly disk: SimulatedDisk
  private database: FileDatabase | undefined
  /** States that were acknowledged, from the last that was flushed on. */
  private states: Model[] = [EMPTY]
  /** What this life has found: as durable as it was, until something is written. */
  private recovered: Model = EMPTY
  /** What the call under way leads to. */
  private next: Model | undefined
  private isFlushed = false
  private nextPageId = 1
  private powerLosses = 0

  constructor(seed: number) {
    this.random = seededRandom(seed)
    this.disk = new SimulatedDisk(this.random)
  }

  lives(): number {
    for (let life = 0; life < LIVES; life++) {
      const isPowerLost = this.live(this.randomFault())
      if (isPowerLost) this.powerLosses++
      this.disk.disarm()
      this.database = openDatabase(this.disk, NAME)
      this.compare(isPowerLost)
    }
    return this.powerLosses
  }

  private randomFault(): DiskFault {
    const kind = this.random.pick(['power', 'power', 'power', 'gone', 'error'] as const)
    return kind === 'error'
      ? { kind, code: this.random.pick(['PANNIER_IO_FAILED', 'PANNIER_QUOTA_EXCEEDED']) }
      : { kind }
  }

  /** Works until the fault, or for a while; then the process ends somehow. True if with the power. */
  private live(fault: DiskFault): boolean {
    const { random, disk } = this
    disk.failAt(disk.operations + 1 + random.below(OPERATIONS_PER_LIFE_MAX), fault)
    const { life } = disk
    try {
      this.database ??= openDatabase(disk, NAME)
      // Some lives end before they have written anything.
      for (let call = random.chance(0.1) ? 0 : random.below(CALLS_PER_LIFE_MAX); call > 0; call--) this.work()
    } catch (error) {
      const isFault = error instanceof GoneError || isPannierError(error)
      if (!isFault || isPannierError(error, 'PANNIER_CORRUPT')) throw error
    }
    this.database = undefined
    if (disk.life !== life) return fault.kind === 'power'
    const isPowerLost = random.chance(0.5)
    if (isPowerLost) disk.losePower()
    else disk.endProcess()
    return isPowerLost
  }

  /** One call; a failure of the disk that is not the end leaves the database usable. */
  private work(): void {
    const database = this.database!
    const current = this.states.at(-1)!
    const { operations } = this.disk
    try {
      this.randomCall(database, current)
      // A call that has written nothing leaves what was found as durable as it was.
      if (this.disk.operations > operations) this.acknowledge()
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_IO_FAILED') && !isPannierError(error, 'PANNIER_QUOTA_EXCEEDED')) throw error
      this.settle()
    }
  }

  private acknowledge(): void {
    this.states = this.states.slice(Math.max(0, this.states.indexOf(this.recovered)))
    if (this.next !== undefined) this.states.push(this.next)
    if (this.isFlushed) this.states = this.states.slice(-1)
    this.next = undefined
    this.isFlushed = false
  }

  private randomCall(database: FileDatabase, current: Model): void {
    const { random } = this
    const durability: Durability = random.chance(0.3) ? 'strict' : 'relaxed'
    this.isFlushed = durability === 'strict'
    const sequence = ((current.log.at(-1)?.sequence ?? 0) + 1) as CommitSequence
    const kind = random.next()
    if (kind < 0.05 && current.keyring !== undefined) this.replacePages(database, current, current.keyring)
    else if (current === EMPTY ? kind < 0.5 : kind < 0.1 && current.keyring !== undefined) {
      const keyring = this.randomBytes(50)
      this.next = { ...current, keyring }
      database.putKeyring(current.keyring, keyring, durability, false)
    } else if (kind < 0.75) {
      // Many of one length: what is left of lost ones could fit in again.
      const bytes = random.chance(0.5)
        ? this.randomBytes(490, 490)
        : this.randomBytes(random.pick([0, 30, 3000, 60_000]))
      const logSeal = random.chance(0.1) ? this.randomBytes(20) : undefined
      this.next = { ...current, log: [...current.log, { sequence, bytes }], logSeal: logSeal ?? current.logSeal }
      database.append({ sequence, bytes }, durability, logSeal, false)
    } else this.randomCommit(database, current, sequence)
  }

  private replacePages(database: FileDatabase, current: Model, keyring: Uint8Array): void {
    const ids = [...current.pages.keys()].filter(() => this.random.chance(0.3))
    const pages = ids.map((id) => ({ id, bytes: this.randomBytes(9000) }))
    this.next = {
      ...current,
      pages: new Map([...current.pages, ...pages.map(({ id, bytes }) => [id, bytes] as const)]),
    }
    this.isFlushed = true
    database.replacePages(keyring, pages)
  }

  private randomCommit(database: FileDatabase, current: Model, next: CommitSequence): void {
    const { random } = this
    this.isFlushed = true
    const generation = ((current.meta?.generation ?? 0) + 1) as Generation
    const expectedGeneration = (generation - 1) as Generation
    const firstNewPageId = this.nextPageId as PageId
    const record = random.chance(0.3) ? { sequence: next, bytes: this.randomBytes(20) } : undefined
    const from = current.meta?.sequence ?? 0
    const sequence = record?.sequence ?? ((from + random.below(next - from)) as CommitSequence)
    const meta = { generation, sequence, bytes: this.randomBytes(random.pick([50, 700])) }
    const free = [...current.pages.keys()].filter(() => random.chance(0.4))
    const claim = random.chance(0.5) ? String(random.next()) : undefined
    const pages = this.randomPages()
    const staged = claim === undefined ? [] : this.randomPages()
    const all = [...current.pages].filter(([id]) => !free.includes(id))
    const log = [...current.log, ...(record === undefined ? [] : [record])].filter((one) => one.sequence >= sequence)
    const logSeal = record !== undefined && random.chance(0.5) ? this.randomBytes(20) : undefined
    const end = { keyring: current.keyring, logSeal: logSeal ?? current.logSeal }
    this.next = {
      ...end,
      meta,
      log,
      pages: new Map([...all, ...[...staged, ...pages].map((one) => [one.id, one.bytes] as const)]),
    }
    if (claim !== undefined) {
      database.claim(claim, expectedGeneration)
      database.stage(claim, staged)
    }
    // Sometimes a writer dies, or thinks better of it.
    if (random.chance(0.1)) {
      this.next = undefined
      this.isFlushed = false
      return
    }
    const more = {
      ...(claim === undefined ? {} : { claim }),
      ...(record === undefined ? {} : { record }),
      ...(logSeal && { logSeal }),
    }
    database.commit({ expectedGeneration, pages, free, meta, firstNewPageId, durability: 'relaxed', ...more }, false)
  }

  private randomPages(): Page[] {
    const count = this.random.pick([0, 1, 3, 8])
    return Array.from({ length: count }, () => ({
      id: this.nextPageId++ as PageId,
      bytes: this.randomBytes(this.random.pick([0, 200, 4096, 9000, 20_000])),
    }))
  }

  private randomBytes(most: number, least: number = Math.min(1, most)): Uint8Array {
    const bytes = new Uint8Array(least + this.random.below(most - least + 1))
    const step = this.random.below(256)
    for (let at = 0, value = this.random.below(256); at < bytes.length; at++) bytes[at] = value += step + (at >> 8)
    return bytes
  }

  /** In the midst of a life: what is there is what was acknowledged, or with it the call that failed. */
  private settle(): void {
    // What was staged and not committed goes.
    this.database!.claim('settle', (this.database!.read(undefined).meta?.generation ?? 0) as Generation)
    const state = this.find(this.states.slice(-1))
    if (state === this.next) this.states.push(state)
    this.next = undefined
    this.isFlushed = false
  }

  /** After a life: what is there is one of the states that may be. With the power goes whatever was not flushed, and nothing later. */
  private compare(isPowerLost: boolean): void {
    this.recovered = this.find(isPowerLost ? this.states : this.states.slice(-1))
    if (isPowerLost) this.states = [this.recovered]
    else if (this.recovered === this.next) this.states.push(this.next)
    this.next = undefined
    this.isFlushed = false
  }

  private find(acknowledged: readonly Model[]): Model {
    const found = contentsOf(this.database!)
    const mayBe = [...acknowledged, ...(this.next === undefined ? [] : [this.next])]
    const state = mayBe.findLast((model) => isSame(model, found))
    if (state !== undefined) return state
    const expected = describe(mayBe.at(-1)!)
    throw new CheckError(`none of ${mayBe.length} states: ${describe(found)}, expected up to ${expected}`)
  }
}

function contentsOf(database: FileDatabase): Model {
  const { meta, log, keyring, logSeal } = database.read(undefined)
  const ids = database.listPages()
  const bytes = database.readPages(ids)
  return { meta, log, keyring, logSeal, pages: new Map(ids.map((id, index) => [id, bytes[index]!])) }
}

/** `found.log` lacks the record that equals the meta record's sequence. */
function isSame(model: Model, found: Model): boolean {
  const log = model.log.filter(({ sequence }) => sequence > (model.meta?.sequence ?? 0))
  return (
    model.meta?.generation === found.meta?.generation &&
    model.meta?.sequence === found.meta?.sequence &&
    sameBytes(model.meta?.bytes, found.meta?.bytes) &&
    sameBytes(model.keyring, found.keyring) &&
    sameBytes(model.logSeal, found.logSeal) &&
    log.length === found.log.length &&
    log.every((record, index) => sameBytes(record.bytes, found.log[index]!.bytes)) &&
    model.pages.size === found.pages.size &&
    [...model.pages].every(([id, bytes]) => sameBytes(bytes, found.pages.get(id)))
  )
}

function describe({ meta, log, pages }: Model): string {
  const sequences = log.map(({ sequence }) => sequence)
  return JSON.stringify({ generation: meta?.generation, sequence: meta?.sequence, sequences, pages: [...pages.keys()] })
}
