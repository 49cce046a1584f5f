/**
 * The lease and news among the handles of one process, for page stores that only this process can reach.
 * In an origin without Web Locks tabs have a lease each, and the fences of the page store do the rest. They hear of one another's
 * commits by a `channel`. Pins are not shared there: a long read of one tab may find its pages reclaimed by another.
 *
 * First come, first served. A holder can't be frozen while others run, so no lease is ever taken away. A
 * holder that does not release a wanted lease has a reason, or is closed.
 */
import { assert, PannierError } from '../../base/errors.ts'
import type { Generation } from '../../base/brand.ts'
import type { Environment } from '../../base/environment.ts'
import type { Coordinator, Hint, WriterLease } from '../../storage/coordinator.ts'
import { Lease } from './lease.ts'
import { listenForWaking } from './web-coordinator.ts'

interface LocalCoordinatorOptions {
  /** Handles with the same key are handles of the same database. */
  readonly key: string
  readonly environment: Environment
  /** The name of the channel by which other processes hear of commits. */
  readonly channel?: string | undefined
}

export function localCoordinator({ key, environment, channel }: LocalCoordinatorOptions): Coordinator {
  let group = groups.get(key)
  if (!group) groups.set(key, (group = { key, members: new Set(), waiting: [], lease: undefined }))
  return new LocalCoordinator(group, environment, channel)
}

/** The handles of one database. */
interface Group {
  readonly key: string
  readonly members: Set<LocalCoordinator>
  /** The waiting writers in the order in which they asked. */
  readonly waiting: WaitingWriter[]
  lease: Lease | undefined
}

interface WaitingWriter {
  readonly member: LocalCoordinator
  resolve(lease: WriterLease): void
  reject(error: PannierError): void
}

const groups = new Map<string, Group>()

class LocalCoordinator implements Coordinator {
  readonly realm: string
  readonly #group: Group
  readonly #environment: Environment
  #lease: Lease | undefined
  #listener: (hint: Hint | undefined) => void = () => (this.#missed = true)
  /** Whether something was missed: it came before there was a listener. */
  #missed = false
  #pinned: Generation | undefined
  /** The newest hint on its way to this handle. */
  #news: Hint | undefined
  #closed = false
  readonly #channel: BroadcastChannel | undefined
  readonly #closing = new AbortController()

  constructor(group: Group, environment: Environment, channel: string | undefined) {
    this.realm = `local:${group.key}`
    this.#group = group
    this.#environment = environment
    group.members.add(this)
    if (channel === undefined) return
    const opened: BroadcastChannel & { unref?(): void } = new BroadcastChannel(channel)
    // It would keep a Node process alive.
    opened.unref?.()
    opened.onmessage = ({ data }: MessageEvent<Hint>) => this.#tell(data)
    this.#channel = opened
    listenForWaking(() => this.#listener(undefined), this.#closing.signal)
  }

  acquireWriter(): Promise<WriterLease> {
    const group = this.#group
    if (this.#closed) return Promise.reject(closedError())
    assert(!this.#lease && group.waiting.every((waiting) => waiting.member !== this), 'one lease or request a handle')
    return new Promise((resolve, reject) => {
      group.waiting.push({ member: this, resolve, reject })
      if (group.lease) group.lease.want()
      else grantNext(group)
    })
  }

  announce(hint: Hint): void {
    for (const member of this.#group.members) if (member !== this) member.#tell(hint)
    this.#channel?.postMessage(hint)
  }

  onHint(listener: (hint: Hint | undefined) => void): void {
    this.#listener = listener
    if (this.#missed) listener(undefined)
    this.#missed = false
  }

  async pin(generation: Generation): Promise<void> {
    if (!this.#closed) this.#pinned = generation
  }

  async oldestPinned(): Promise<Generation | undefined> {
    const pins = Array.from(this.#group.members, (member) => member.#pinned).filter((pinned) => pinned !== undefined)
    return pins.length > 0 ? (Math.min(...pins) as Generation) : undefined
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#closing.abort()
    this.#channel?.close()
    const group = this.#group
    const index = group.waiting.findIndex((waiting) => waiting.member === this)
    if (index >= 0) group.waiting.splice(index, 1)[0]!.reject(closedError())
    this.#lease?.release()
    group.members.delete(this)
    if (group.members.size === 0) groups.delete(group.key)
  }

  /** Used by `grantNext`: this handle gets the lease. */
  hold(): Lease {
    const group = this.#group
    this.#lease = new Lease(() => {
      group.lease = this.#lease = undefined
      grantNext(group)
    })
    this.#lease.isShared = this.#channel !== undefined
    return this.#lease
  }

  /** Arrives in a later task, as it does between tabs; several hints arrive as the newest of them. */
  #tell(hint: Hint): void {
    const onItsWay = this.#news !== undefined
    this.#news = hint
    if (onItsWay) return
    void this.#environment.yield().then(() => {
      const news = this.#news
      this.#news = undefined
      if (!this.#closed) this.#listener(news)
    })
  }
}

function grantNext(group: Group): void {
  const next = group.waiting.shift()
  if (!next) return
  group.lease = next.member.hold()
  if (group.waiting.length > 0) group.lease.want()
  next.resolve(group.lease)
}

function closedError(): PannierError {
  return new PannierError('PANNIER_CLOSED', 'The handle is closed.')
}
