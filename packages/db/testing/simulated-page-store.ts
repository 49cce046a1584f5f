/**
 * A page store whose failures are chosen: for simulations that fail every call in turn and compare with a model.
 *
 * These faults, and no others, are legal for a page store, so these are what it can do:
 * - a call fails with a code, having happened or not (an unknown outcome);
 * - the process goes at a call, which has happened or not; neither it nor any later call of that handle is answered;
 * - the connection is closed underneath: that call and later ones of the handle fail with PANNIER_CLOSED;
 * - the power goes: every handle is gone, and of the changes since the last strict one a suffix is lost;
 * - there is no room left;
 * - calls are answered late and in another order than they were made; those of one handle take effect in order.
 *
 * All of it follows from `random` and `schedule`, so a seed replays a whole run. Each handle stands for a process of its
 * own. The contract's demands on the caller are checked all along: a violation is an AssertionError.
 */
import { assert, PannierError, type ErrorCode } from '../src/base/errors.ts'
import type { Generation, PageId } from '../src/base/brand.ts'
import type { MaybePromise } from '../src/base/async.ts'
import type {
  Commit,
  Durability,
  KnownState,
  LogRecord,
  Page,
  PageStore,
  SharingScope,
  DatabaseStorage,
  StoreState,
} from '../src/storage/page-store.ts'
import { SimulatedDatabase } from './simulated-database.ts'

/** `happens`: whether the call takes effect all the same. */
export type Fault =
  | { readonly kind: 'error'; readonly code: ErrorCode; readonly happens: boolean }
  | { readonly kind: 'gone'; readonly happens: boolean }
  | { readonly kind: 'power'; readonly happens: boolean }
  | { readonly kind: 'closed' }

/** Which faults a simulated storage has. */
export interface SimulationOptions {
  /** Makes every choice: 0 <= random() < 1. Left out: a loss of power loses everything that may be lost. */
  readonly random?: () => number
  /** Runs a step later. Left out: every call is synchronous. `randomOrder` makes one. */
  readonly schedule?: (step: () => void) => void
}

/** A storage in memory that fails, delays and loses what a real one may. */
export class SimulatedStorage implements DatabaseStorage {
  /** 'simulated'. */
  readonly kind: string = 'simulated'
  /** Who shares its databases. */
  readonly scope: SharingScope = 'process'
  /** Calls made up to now: opens, reads, reads of pages and whatever writes, of all handles. */
  calls = 0
  /** Writes beyond it fail with PANNIER_QUOTA_EXCEEDED. */
  quotaBytes: number = Infinity
  /** Called when a fault has made handles go: what waits for them waits for ever. */
  onGone: () => void = () => {}
  /** Runs an answer, at once or later. */
  readonly schedule: ((step: () => void) => void) | undefined
  private readonly random: () => number
  private readonly faults = new Map<number, Fault>()
  private readonly databases = new Map<string, SimulatedDatabase>()
  private readonly handles = new Set<SimulatedPageStore>()
  private readonly number = ++storagesMade

  constructor({ random = () => 0, schedule }: SimulationOptions = {}) {
    this.random = random
    this.schedule = schedule
  }

  /** The call with that number (`calls` counts them, the first is 1) meets the fault. */
  failAt(call: number, fault: Fault): void {
    this.faults.set(call, fault)
  }

  /** No call meets a fault from now on. */
  disarm(): void {
    this.faults.clear()
  }

  /** Names a database. */
  identify(name: string): string {
    return `simulated:${this.number}:${name}`
  }

  /** Whether a database was opened under that name. */
  async has(name: string): Promise<boolean> {
    return this.databases.has(name)
  }

  /** Opens a database, and makes it if there is none. */
  async open(name: string): Promise<PageStore> {
    const fault = this.nextFault()
    if (fault?.kind === 'error') throw simulatedError(fault.code)
    if (fault?.kind === 'closed') throw simulatedError('PANNIER_OPEN_FAILED')
    let database = this.databases.get(name)
    if (!database) this.databases.set(name, (database = new SimulatedDatabase()))
    const handle = new SimulatedPageStore(database, this)
    this.handles.add(handle)
    if (fault) return this.strike(handle, fault)
    return handle
  }

  /** Deletes a database. */
  async destroy(name: string): Promise<void> {
    const fault = this.nextFault()
    if (fault?.kind === 'closed') throw simulatedError('PANNIER_BLOCKED')
    if (fault === undefined || fault.happens) {
      this.databases.get(name)?.destroy()
      this.databases.delete(name)
    }
    if (fault?.kind === 'error') throw simulatedError(fault.code)
    if (fault !== undefined) return this.strike(undefined, fault)
  }

  /** Every handle is gone; what was not durable is lost, or the newest part of it. */
  losePower(): void {
    for (const handle of this.handles) handle.gone = true
    this.handles.clear()
    for (const database of this.databases.values()) database.losePower(this.random())
    this.onGone()
  }

  /** Used by the handles: counts a call and tells its fate. */
  nextFault(): Fault | undefined {
    return this.faults.get(++this.calls)
  }

  /** Used by the handles: the process, or all of them, went. */
  strike(handle: SimulatedPageStore | undefined, fault: Fault): Promise<never> {
    if (fault.kind === 'power') this.losePower()
    else {
      if (handle !== undefined) {
        handle.gone = true
        this.handles.delete(handle)
      }
      this.onGone()
    }
    return new Promise(() => {})
  }
}

let storagesMade = 0

class SimulatedPageStore implements PageStore {
  gone = false
  private closed = false
  private readonly database: SimulatedDatabase
  private readonly owner: SimulatedStorage
  private readonly waiting: (() => void)[] = []

  constructor(database: SimulatedDatabase, owner: SimulatedStorage) {
    this.database = database
    this.owner = owner
  }

  read(known?: KnownState): MaybePromise<StoreState> {
    return this.call(0, () => this.database.read(known))
  }

  readPages(ids: readonly PageId[]): MaybePromise<readonly (Uint8Array | undefined)[]> {
    return this.call(0, () => this.database.readPages(ids))
  }

  append(record: LogRecord, durability: Durability, logSeal?: Uint8Array): MaybePromise<void> {
    return this.call(record.bytes.length, () => this.database.append(record, durability, logSeal))
  }

  claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): MaybePromise<void> {
    return this.call(0, () => this.database.claim(token, expectedGeneration, firstNewPageId))
  }

  stage(token: string, pages: readonly Page[]): MaybePromise<void> {
    return this.call(sizeOf(pages), () => this.database.stage(token, pages))
  }

  commit(commit: Commit): MaybePromise<void> {
    const pages = [...commit.pages]
    const bytes = sizeOf(pages) + commit.meta.bytes.length + (commit.record?.bytes.length ?? 0)
    return this.call(bytes, () => this.database.commit({ ...commit, pages }))
  }

  putKeyring(expected: Uint8Array | undefined, keyring: Uint8Array, durability: Durability): MaybePromise<void> {
    return this.call(keyring.length, () => this.database.putKeyring(expected, keyring, durability))
  }

  replacePages(keyring: Uint8Array, pages: readonly Page[]): MaybePromise<void> {
    return this.call(sizeOf(pages), () => this.database.replacePages(keyring, pages))
  }

  /** Never fails and counts as no call: it is for checks. */
  listPages(): MaybePromise<readonly PageId[]> {
    this.checkOpen()
    return this.database.listPages()
  }

  usedBytes(): MaybePromise<number | undefined> {
    this.checkOpen()
    return this.database.usedBytes()
  }

  close(): MaybePromise<void> {
    this.closed = true
  }

  private call<T>(bytesAdded: number, effect: () => T): MaybePromise<T> {
    if (this.gone) return new Promise(() => {})
    this.checkOpen()
    const fault = this.owner.nextFault()
    const run = (): MaybePromise<T> =>
      fault ? this.suffer(fault, bytesAdded, effect) : this.happen(bytesAdded, effect)
    const { schedule } = this.owner
    if (!schedule) return run()
    return new Promise((resolve, reject) => {
      this.waiting.push(() => {
        // The answer is on its way for a while after the call has taken effect.
        try {
          const answer = run()
          schedule(() => !this.gone && resolve(answer))
        } catch (error) {
          schedule(() => !this.gone && reject(error))
        }
      })
      schedule(() => {
        const next = this.waiting.shift()
        assert(next !== undefined, 'one step is scheduled for each call')
        if (!this.gone) next()
      })
    })
  }

  private happen<T>(bytesAdded: number, effect: () => T): T {
    if (this.database.destroyed) throw simulatedError('PANNIER_CLOSED')
    const full = bytesAdded > 0 && this.database.usedBytes() + bytesAdded > this.owner.quotaBytes
    if (full) throw simulatedError('PANNIER_QUOTA_EXCEEDED')
    return effect()
  }

  private suffer<T>(fault: Fault, bytesAdded: number, effect: () => T): MaybePromise<T> {
    if (fault.kind === 'closed') {
      this.closed = true
      throw simulatedError('PANNIER_CLOSED')
    }
    if (fault.happens) this.happen(bytesAdded, effect)
    if (fault.kind === 'error') throw simulatedError(fault.code)
    return this.owner.strike(this, fault)
  }

  private checkOpen(): void {
    if (this.closed || this.database.destroyed) throw simulatedError('PANNIER_CLOSED')
  }
}

/** Runs steps one at a time, in an order that `random` chooses. `turn` says when the next one runs. */
export function randomOrder(random: () => number, turn: () => Promise<void> = microtask): (step: () => void) => void {
  const steps: (() => void)[] = []
  let running = false
  const run = async (): Promise<void> => {
    while (steps.length > 0) {
      await turn()
      const [step] = steps.splice(Math.floor(random() * steps.length), 1)
      step!()
    }
    running = false
  }
  return (step) => {
    steps.push(step)
    if (running) return
    running = true
    void run()
  }
}

function microtask(): Promise<void> {
  return Promise.resolve()
}

function sizeOf(pages: readonly Page[]): number {
  return pages.reduce((total, page) => total + page.bytes.length, 0)
}

function simulatedError(code: ErrorCode): PannierError {
  return new PannierError(code, `Simulated: ${code}.`)
}
