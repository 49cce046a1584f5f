/**
 * A disk for the file logic of storage/opfs/, whose failures are chosen. These are legal for files, so these are what it can do:
 *
 * - an operation fails, having happened in part;
 * - the process goes at an operation, of which a part has happened; what was written is there;
 * - the power goes at an operation: of what was written since the last flush of a file, each sector survives or not, in any
 *   order, or is torn within; so does each change of the size; what a file has grown by unwritten may be anything;
 * - a flush fails, having reached the disk or not;
 * - there is no room left.
 *
 * All of it follows from `random`, so a seed replays a whole run.
 */
import { PannierError } from '../src/base/errors.ts'
import type { ErrorCode } from '../src/base/errors.ts'
import type { DatabaseFiles, RawFile } from '../src/storage/opfs/access-files.ts'
import type { Random } from './random.ts'

export type DiskFault = { readonly kind: 'error'; readonly code: ErrorCode } | { readonly kind: 'gone' | 'power' }

/** What every operation throws once the process is gone. */
export class GoneError extends Error {}

const SECTOR_BYTES = 512
const FILE_NAMES = ['pages', 'journal-a', 'journal-b'] as const

export class SimulatedDisk {
  /** Writes, flushes and changes of size up to now. */
  operations = 0
  quotaBytes: number = Infinity
  readonly random: Random
  /** The process that uses the disk: when it goes, its files are dead, and the next one opens them again. */
  life = 0
  private readonly files = new Map<string, SimulatedFile>()
  private fault: { readonly operation: number; readonly fault: DiskFault } | undefined

  constructor(random: Random) {
    this.random = random
  }

  /** The operation with that number (the first is 1) meets the fault. */
  failAt(operation: number, fault: DiskFault): void {
    this.fault = { operation, fault }
  }

  disarm(): void {
    this.fault = undefined
  }

  open(folder: string): DatabaseFiles {
    const [pages, first, second] = FILE_NAMES.map((name) => this.file(`${folder}/${name}`).handle(this.life))
    return { pages: pages!, journals: [first!, second!] }
  }

  has(folder: string): boolean {
    return FILE_NAMES.some((name) => this.files.has(`${folder}/${name}`))
  }

  remove(folder: string): void {
    for (const name of FILE_NAMES) this.files.delete(`${folder}/${name}`)
  }

  /** Bytes of a file, for tests that damage it. */
  file(path: string): SimulatedFile {
    let file = this.files.get(path)
    if (file === undefined) this.files.set(path, (file = new SimulatedFile(this)))
    return file
  }

  endProcess(): void {
    this.life++
  }

  losePower(): void {
    this.life++
    for (const file of this.files.values()) file.losePower(this.random)
  }

  usedBytes(): number {
    return [...this.files.values()].reduce((total, file) => total + file.length, 0)
  }

  /** Used by the files: counts an operation and tells its fate. */
  nextFault(): DiskFault | undefined {
    this.operations++
    return this.fault?.operation === this.operations ? this.fault.fault : undefined
  }

  /** Used by the files: ends an operation that meets a fault. */
  strike(fault: DiskFault): never {
    if (fault.kind === 'error') throw new PannierError(fault.code, `Simulated: ${fault.code}.`)
    if (fault.kind === 'power') this.losePower()
    else this.endProcess()
    throw new GoneError('the process is gone')
  }
}

export class SimulatedFile {
  length = 0
  bytes: Uint8Array = new Uint8Array(0)
  private readonly disk: SimulatedDisk
  /** Whole sectors that were written since the last flush, before and after each write. */
  private unflushed: { readonly at: number; readonly before: Uint8Array; readonly after: Uint8Array }[] = []
  /** Sizes since the last flush, that of the flush first. */
  private sizes = [0]

  constructor(disk: SimulatedDisk) {
    this.disk = disk
  }

  handle(life: number): RawFile {
    const check = (): void => {
      if (life !== this.disk.life) throw new GoneError('the process is gone')
    }
    const change = (partly: (share: number) => void): void => {
      check()
      const fault = this.disk.nextFault()
      if (fault === undefined) return partly(1)
      partly(this.disk.random.pick([0, this.disk.random.next(), 1]))
      this.disk.strike(fault)
    }
    return {
      read: (into, at) => {
        check()
        const part = this.bytes.subarray(at, Math.max(at, Math.min(this.length, at + into.length)))
        into.set(part)
        return part.length
      },
      write: (bytes, at) =>
        change((share) => {
          this.checkRoom(at + bytes.length)
          this.write(bytes.subarray(0, Math.ceil(bytes.length * share)), at)
        }),
      flush: () => change((share) => share >= 0.5 && this.flush()),
      truncate: (size) =>
        change((share) => {
          this.checkRoom(size)
          if (share >= 0.5) this.truncate(size)
        }),
      size: () => {
        check()
        return this.length
      },
      close: () => {},
    }
  }

  losePower(random: Random): void {
    const survival = random.pick([0, 1, random.next(), random.next()])
    const [flushedSize] = this.sizes
    for (const [at, versions] of this.sectorVersions()) {
      const pick = (): Uint8Array => (random.chance(survival) ? versions.at(-1)! : random.pick(versions))
      const chosen = survival === 0 ? versions[0]! : pick()
      this.bytes.set(chosen, at)
      if (survival > 0 && random.chance(0.1)) this.bytes.set(pick().subarray(0, random.below(SECTOR_BYTES)), at)
    }
    this.length = survival === 0 ? flushedSize! : survival === 1 ? this.sizes.at(-1)! : random.pick(this.sizes)
    this.reserve(this.length)
    this.bytes.fill(0, this.length)
    this.unflushed = []
    if (this.length > flushedSize! && random.chance(0.2)) this.scribble(random, flushedSize!)
    this.sizes = [this.length]
  }

  /** A sector that was never written, in what the file has grown by. */
  private scribble(random: Random, from: number): void {
    const start = from + random.below(this.length - from)
    const end = Math.min(this.length, start + random.below(SECTOR_BYTES))
    if (this.bytes.subarray(start, end).some((byte) => byte !== 0)) return
    for (let at = start; at < end; at++) this.bytes[at] = random.below(256)
  }

  private write(bytes: Uint8Array, at: number): void {
    if (bytes.length === 0) return
    const end = at + bytes.length
    this.reserve(end)
    this.changing(at, end, () => this.bytes.set(bytes, at))
    if (end > this.length) this.resize(end)
  }

  private truncate(size: number): void {
    this.reserve(size)
    if (size < this.length) this.changing(size, this.length, () => this.bytes.fill(0, size, this.length))
    this.resize(size)
  }

  private flush(): void {
    this.unflushed = []
    this.sizes = [this.length]
  }

  private changing(from: number, to: number, change: () => void): void {
    const at = Math.floor(from / SECTOR_BYTES) * SECTOR_BYTES
    const end = Math.ceil(to / SECTOR_BYTES) * SECTOR_BYTES
    const before = this.bytes.slice(at, end)
    change()
    this.unflushed.push({ at, before, after: this.bytes.slice(at, end) })
  }

  /** For each sector that was written since the last flush: what it held then, and after each write. */
  private sectorVersions(): ReadonlyMap<number, readonly Uint8Array[]> {
    const sectors = new Map<number, Uint8Array[]>()
    for (const { at, before, after } of this.unflushed) {
      for (let offset = 0; offset < after.length; offset += SECTOR_BYTES) {
        const [held, holds] = [before, after].map((bytes) => bytes.subarray(offset, offset + SECTOR_BYTES))
        const versions = sectors.get(at + offset)
        if (versions === undefined) sectors.set(at + offset, [held!, holds!])
        else versions.push(holds!)
      }
    }
    return sectors
  }

  private resize(size: number): void {
    this.length = size
    this.sizes.push(size)
  }

  /** Whole sectors. */
  private reserve(size: number): void {
    if (size <= this.bytes.length) return
    const grown = new Uint8Array(Math.ceil((size * 1.5) / SECTOR_BYTES) * SECTOR_BYTES)
    grown.set(this.bytes)
    this.bytes = grown
  }

  private checkRoom(size: number): void {
    const growth = size - this.length
    if (growth > 0 && this.disk.usedBytes() + growth > this.disk.quotaBytes)
      throw new PannierError('PANNIER_QUOTA_EXCEEDED', 'Simulated: no room.')
  }
}
