/**
 * The shared parts of one handle: its newest state, the commits since the last storage checkpoint, the held snapshots and the listeners
 * of commits.
 *
 * Guarantees: `state` only moves forward, and contains a commit exactly when it is durable. If the log has a commit
 * that can't be replayed, the state is the newest before it, and nothing is written any more.
 */
import type { CommitSequence, Generation } from '../base/brand.ts'
import type { Environment } from '../base/environment.ts'
import { isPannierError, PannierError } from '../base/errors.ts'
import { attempt } from '../base/miss.ts'
import { isPromise, type MaybePromise } from '../base/async.ts'
import { fromHex, toHex } from '../codec/bytes.ts'
import { parseNode, type Node } from '../btree/node.ts'
import { MissingPageError, PageCache } from '../pager/page-cache.ts'
import type { Durability, LogRecord, PageStore, StoreState } from '../storage/page-store.ts'
import { verifyLogRecord, WRITER_ID_BYTES, writerOf } from './commit-record.ts'
import type { Coordinator } from '../storage/coordinator.ts'
import type { CommitNotice, Snapshot } from './key-value-store.ts'
import { decodeMeta, emptyState } from './meta-body.ts'
import { commitNotice, directNotice, unknownChanges } from './notice.ts'
import { applyCommits, replay, type LoggedCommit } from './replay.ts'
import { StateSnapshot } from './snapshot.ts'
import type { State } from './state.ts'
import type { WaitLimits } from './wait-watch.ts'
import type { SealedTransaction } from './transaction.ts'

export interface CoreOptions {
  readonly store: PageStore
  readonly coordinator: Coordinator
  readonly environment: Environment
  /**
   * Memory for cached pages, or the share of one of `n` databases that are open in this realm. What one operation needs at once may
   * exceed it for as long as it runs.
   */
  readonly cacheBytesMax: number | ((databases: number) => number)
  readonly durability: Durability
  /** The limits of writes that wait for long; by default they wait. */
  readonly waits?: WaitLimits
}

/** A commit that is in the log and not yet in pages. */
interface TailCommit extends LoggedCommit {
  readonly bytes: number
}

export class Core {
  readonly options: CoreOptions
  readonly cache: PageCache<Node>
  #writerId: Uint8Array | undefined
  #state: State
  /** Reads the state; made with the first read. */
  #view: StateSnapshot | undefined
  #tail: TailCommit[] = []
  #damage: PannierError | undefined
  #logBytes = 0
  readonly #holds = new Map<Generation, number>()
  #pinned: Generation | undefined
  readonly #listeners = new Set<(notice: CommitNotice) => void>()
  /** Is called once, when the handle is of no use any more though nobody has closed it. */
  onLost: (error: PannierError) => void = () => {}
  /** Why the outcome of a write is not known: nothing more is written before `recover` has found out. */
  failure: unknown
  closed = false
  /** PANNIER_RESTORED: what is cached here is of a state that the store never had. PANNIER_CLOSED: the database is gone. */
  #lost: PannierError | undefined

  constructor(options: CoreOptions) {
    this.options = { ...options, store: guardedStore(options.store, () => this.#damage) }
    const { store, cacheBytesMax } = options
    this.cache = new PageCache(store, parseNode, () =>
      typeof cacheBytesMax === 'number' ? cacheBytesMax : cacheBytesMax(realms.size || 1),
    )
    this.#state = emptyState()
  }

  get state(): State {
    return this.#state
  }

  /** Marks this handle's log records. Made when it is needed: random numbers take Node some milliseconds to load. */
  get writerId(): Uint8Array {
    return (this.#writerId ??= fromHex(this.options.environment.randomId(), WRITER_ID_BYTES))
  }

  /** Bytes in the log that are not in pages. */
  get logBytes(): number {
    return this.#logBytes
  }

  get logRecords(): number {
    return this.#tail.length
  }

  /** PANNIER_CORRUPT: why the newest commits are not in the state, and nothing can be written. Undefined while all is well. */
  get damage(): PannierError | undefined {
    return this.#damage
  }

  read<T>(read: (snapshot: Snapshot) => T): MaybePromise<T> {
    this.assertOpen()
    const view = (this.#view ??= new StateSnapshot(this.#state, this.cache))
    const release = this.hold(view.state.generation)
    let result: MaybePromise<T>
    try {
      result = attempt(() => read(view))
    } catch (error) {
      release()
      return this.#retryIfExpired(error, view, read)
    }
    if (!isPromise(result)) {
      release()
      return result
    }
    return result.finally(release).catch((error: unknown) => this.#retryIfExpired(error, view, read))
  }

  /** Keeps the pages of that generation until the function given is called. */
  hold(generation: Generation): () => void {
    this.#holds.set(generation, (this.#holds.get(generation) ?? 0) + 1)
    let held = true
    return () => {
      if (!held) return
      held = false
      const count = this.#holds.get(generation)! - 1
      if (count > 0) this.#holds.set(generation, count)
      else this.#holds.delete(generation)
      if (this.#pinned !== undefined && this.#pinned < this.#state.generation) this.#updatePin()
    }
  }

  onCommit(listener: (notice: CommitNotice) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** A commit of this handle is durable. `result` is the state after it if nothing else has changed the state meanwhile. */
  committed(base: State, result: State, commit: TailCommit): void {
    const before = this.#state
    this.#setState(before === base ? result : applyCommits(before, [commit]))
    this.#tail.push(commit)
    this.#logBytes += commit.bytes
    this.#notify(() => commitNotice(before, this.#state, commit.sequence, commit.body, true))
  }

  /** A storage checkpoint of this handle is durable: `base` is what the pages hold now, unless others have written on. */
  checkpointed(base: State): void {
    if (this.#state.generation < base.generation) this.#rebase(base, this.#tail)
  }

  /** As `checkpointed`, of a commit that skipped the log. */
  committedInPages(base: State, sealed: SealedTransaction): void {
    const before = this.#state
    if (before.generation >= base.generation) return
    this.#rebase(base, [])
    this.#notify(() => directNotice(before, base, sealed))
  }

  /** Takes over what `store.read` has found. */
  adopt({ meta, log, keyring }: StoreState): void {
    // A wrapper keeps the keyring to itself. One that arrives here is that of a database which nobody has unsealed.
    if (keyring) throw new PannierError('PANNIER_ENCRYPTED', 'The database is encrypted.')
    if (meta === undefined && log.length === 0 && this.#state.databaseId === '')
      this.#setState({ ...this.#state, databaseId: databaseIdOf(this.writerId) })
    const before = this.#state
    if (meta !== undefined && meta.generation !== before.generation) {
      const base = decodeMeta(meta)
      // The state never moves back: what it has already comes together.
      this.#rebase(
        base,
        log.filter(({ sequence }) => sequence <= before.sequence),
      )
      if (base.sequence > before.sequence) this.#notify(() => unknownChanges(before, base))
      this.#followOthers(this.#state, log)
      return
    }
    const isFirst = before.generation === 0 && before.sequence === 0
    const unseen = log.find(({ sequence }) => sequence > before.sequence)
    this.#followOthers(isFirst && unseen ? { ...before, databaseId: databaseIdOf(writerOf(unseen)) } : before, log)
  }

  /** Commits of other handles become the state one after another, so that who hears of one finds the state that it has made. */
  #followOthers(base: State, log: readonly LogRecord[]): void {
    const unseen = log.filter(({ sequence }) => sequence > base.sequence)
    const steps = this.#listeners.size === 0 && unseen.length > 0 ? [unseen] : unseen.map((record) => [record])
    let before = base
    for (const records of steps) {
      // Behind what could not be replayed nothing can be.
      if (this.#damage !== undefined) return
      const from = before
      for (const commit of this.#follow(from, records)) {
        this.#tail.push(commit)
        this.#logBytes += commit.bytes
        this.#notify(() => commitNotice(from, this.#state, commit.sequence, commit.body, false))
      }
      before = this.#state
    }
  }

  /** The commit with this sequence, if it is the newest and in the log. */
  lastCommit(sequence: CommitSequence): TailCommit | undefined {
    const last = this.#tail.at(-1)
    return last?.sequence === sequence ? last : undefined
  }

  /** Takes over a commit of another handle in this realm; false if this one is not at the state before it. */
  follow(commit: TailCommit, generation: Generation): boolean {
    const before = this.#state
    // The first commit also names the database.
    if (this.#damage !== undefined || before.sequence === 0) return false
    if (before.generation !== generation || before.sequence + 1 !== commit.sequence) return false
    this.#setState(applyCommits(before, [commit]))
    this.#tail.push(commit)
    this.#logBytes += commit.bytes
    this.#notify(() => commitNotice(before, this.#state, commit.sequence, commit.body, false))
    return true
  }

  /** Reads what is new in the store. Not while a write of this handle is under way. */
  async refresh(): Promise<void> {
    for (;;) {
      const before = this.#state
      const { generation, sequence } = before
      let found: StoreState
      try {
        found = await this.options.store.read({ generation, sequence })
      } catch (error) {
        this.noticeLoss(error)
        throw error
      }
      // What was found is older than what another handle of this realm has announced meanwhile.
      if (this.#state !== before) continue
      this.adopt(found)
      return
    }
  }

  /** Notes an error of the store, which may be the end of this handle: from then on it reads nothing either. */
  noticeLoss(error: unknown): void {
    if (this.closed || this.#lost !== undefined) return
    if (!isPannierError(error, 'PANNIER_RESTORED') && !isPannierError(error, 'PANNIER_CLOSED')) return
    this.#lost = error
    this.onLost(error)
  }

  assertWritable(): void {
    this.assertOpen()
    if (this.#damage !== undefined) throw this.#damage
  }

  /** Refuses a lost handle. Work that was begun before a close ends as it can; lost data is not shown any more. */
  assertFound(): void {
    if (this.#lost !== undefined) throw this.#lost
  }

  assertOpen(): void {
    this.assertFound()
    if (this.closed) throw new PannierError('PANNIER_CLOSED', 'The database handle is closed.')
  }

  /** States the oldest generation that is still read here. */
  async pinNow(): Promise<void> {
    const oldest = Math.min(this.#state.generation, ...this.#holds.keys()) as Generation
    if (oldest === this.#pinned) return
    this.#pinned = oldest
    await this.options.coordinator.pin(oldest)
  }

  #updatePin(): void {
    if (this.closed) return
    // Until the new pin is seen the old one keeps more pages than needed, never fewer.
    this.pinNow().catch(() => (this.#pinned = undefined))
  }

  #rebase(base: State, tail: readonly (LogRecord | TailCommit)[]): void {
    this.#damage = undefined
    this.#tail = this.#follow(
      base,
      tail.filter(({ sequence }) => sequence > base.sequence),
    )
    this.#logBytes = this.#tail.reduce((sum, { bytes }) => sum + bytes, 0)
    this.#updatePin()
  }

  /** The state becomes that after these commits, or after the last one before something is wrong with them. Gives those that are in it. */
  #follow(base: State, tail: readonly (LogRecord | TailCommit)[]): TailCommit[] {
    const { commits, failure } = readCommits(tail)
    const replayed = replay(base, commits)
    const cause = replayed.failure ?? failure
    if (cause !== undefined) this.#damage = logDamage(cause, replayed.state.sequence)
    this.#setState(replayed.state)
    return commits.slice(0, replayed.count)
  }

  #setState(state: State): void {
    this.#state = state
    this.#view = undefined
  }

  #notify(make: () => CommitNotice): void {
    if (this.#listeners.size === 0) return
    const notice = make()
    for (const listener of this.#listeners) {
      try {
        listener(notice)
      } catch (error) {
        // A listener's error is not the writer's: it is reported as uncaught, and the others are called.
        void Promise.reject(error)
      }
    }
  }

  /**
   * Pages may have been reclaimed under a view that was too old by the time it was used; the newest one has its pages. This
   * handle may not know the newest one: its pin was given up while it was frozen.
   */
  #retryIfExpired<T>(error: unknown, view: StateSnapshot, read: (snapshot: Snapshot) => T): MaybePromise<T> {
    if (!(error instanceof MissingPageError)) {
      this.noticeLoss(error)
      throw error
    }
    if (view.state.generation < this.#state.generation) return this.read(read)
    return this.refresh().then(() => {
      // The newest generation has all its pages: this one is lost.
      if (view.state.generation === this.#state.generation) throw error
      return this.read(read)
    })
  }
}

// Handles of one database in one realm (a page, a worker, a process). A commit of one is visible to the others when it
// is acknowledged. Between realms messages do that a moment later (storage/coordinator.ts).

const realms = new Map<string, Set<Core>>()

/** The function returned leaves it. */
export function joinRealm(key: string, core: Core): () => void {
  let cores = realms.get(key)
  if (cores === undefined) {
    realms.set(key, (cores = new Set()))
    // The others' shares of the memory are smaller now.
    for (const others of realms.values()) for (const { cache } of others) cache.evict()
  }
  cores.add(core)
  return () => {
    cores.delete(core)
    if (cores.size === 0 && realms.get(key) === cores) realms.delete(key)
  }
}

/** Called while the handle that has made that commit holds the lease. If it went to pages, the others have to look. */
export function notifyLocalHandles(core: Core, sequence: CommitSequence): MaybePromise<void> {
  const cores = realms.get(core.options.coordinator.realm ?? '')
  if (cores === undefined || cores.size === 1) return
  const commit = core.lastCommit(sequence)
  const looking: Promise<void>[] = []
  for (const other of cores) {
    if (other === core || other.closed || (commit !== undefined && other.follow(commit, core.state.generation)))
      continue
    // One that can't look now hears of it again, by the hint.
    looking.push(other.refresh().catch(() => {}))
  }
  if (looking.length > 0) return Promise.all(looking).then(() => {})
}

/** Up to the first record that can't be read. */
function readCommits(tail: readonly (LogRecord | TailCommit)[]): { commits: TailCommit[]; failure?: PannierError } {
  const commits: TailCommit[] = []
  for (const entry of tail) {
    try {
      commits.push('body' in entry ? entry : tailCommit(entry))
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_CORRUPT')) throw error
      return { commits, failure: error }
    }
  }
  return { commits }
}

function logDamage(cause: PannierError, sequence: CommitSequence): PannierError {
  const message =
    `The log of the database is damaged after commit ${sequence}. What was committed until then can be read and exported; ` +
    'nothing can be written. `repair` makes a healthy database of what can be saved.'
  return new PannierError('PANNIER_CORRUPT', message, { cause, details: { sequence } })
}

/** Throws PANNIER_CORRUPT or PANNIER_FORMAT_NEWER unless the record is sound. It is not decoded. */
function tailCommit(record: LogRecord): TailCommit {
  verifyLogRecord(record)
  const { sequence, bytes } = record
  return { sequence, body: bytes, bytes: bytes.length }
}

/**
 * The database is named by the handle that made it: the one that wrote first. So all handles agree on it from the first commit
 * on, whether that is in the log or in pages, whose meta record holds it. A writer's id is random, and half as long.
 */
function databaseIdOf(writerId: Uint8Array): string {
  return toHex(writerId).repeat(2)
}

/**
 * A page store that refuses writes while something is wrong with the database: what is stored then is all that there is to
 * save it from. `damage`: why it can't be written to at this time; undefined if it can.
 */
function guardedStore(store: PageStore, damage: () => PannierError | undefined): PageStore {
  const unlessDamaged = <T>(write: () => MaybePromise<T>): MaybePromise<T> => {
    const error = damage()
    if (error !== undefined) throw error
    return write()
  }
  return {
    read: (known) => store.read(known),
    readPages: (ids, arrived) => store.readPages(ids, arrived),
    append: (record, durability, logSeal) => unlessDamaged(() => store.append(record, durability, logSeal)),
    claim: (token, generation, first) => unlessDamaged(() => store.claim(token, generation, first)),
    stage: (token, pages) => unlessDamaged(() => store.stage(token, pages)),
    commit: (commit) => unlessDamaged(() => store.commit(commit)),
    putKeyring: (expected, keyring, durability) => unlessDamaged(() => store.putKeyring(expected, keyring, durability)),
    replacePages: (keyring, pages) => unlessDamaged(() => store.replacePages(keyring, pages)),
    listPages: () => store.listPages(),
    usedBytes: () => store.usedBytes(),
    close: () => store.close(),
  }
}
