/**
 * Replication checkpoints: how far the target has the source's revisions. Both peers keep them in a `_local` document
 * with the form of CouchDB and PouchDB.
 *
 * Guarantees: a replication never continues beyond what the target holds. Each replication checkpoint has its own
 * session id, is written to the target first, and never changes: the next one only follows it. So the newest session
 * that both peers know is a point that both have reached, whatever either has lost since. Sequences are never compared.
 * A remote target without a replication checkpoint gets a mark before anything is compared or written. If the target is
 * created again before the first replication checkpoint, the mark is missing. Relies on: a peer that loses data (a
 * wiped store, a restored copy) loses its replication checkpoints of that time too. A peer that may lose data between
 * two replication checkpoints reports it (`restarted` in errors.ts).
 */
import { isPannierError } from '../base/errors.ts'
import type { Environment } from '../base/environment.ts'
import { checkpointContested, checkpointLost, refusalStatus } from './errors.ts'
import { isSequence, type JsonDocument, type ReplicationPeer, type ReplicationSequence } from './peer.ts'

const CHECKPOINT_HISTORY_MAX = 5
const CHECKPOINT_VERSION = 1
/** Retries when others record at the same time. */
const CONFLICT_RETRIES_MAX = 20

/** The peers that keep replication checkpoints. One peer alone must trust that the other has lost nothing. */
export type CheckpointSides = 'both' | 'source' | 'target' | 'none'

interface Session {
  readonly session_id: string
  readonly recorded_seq: ReplicationSequence
}

/** The sessions in a replication checkpoint, newest first; the start of a long history. */
export function sessionsOf(document: JsonDocument | undefined): Session[] {
  const history = Array.isArray(document?.['history']) ? (document['history'] as unknown[]) : []
  return history.slice(0, CHECKPOINT_HISTORY_MAX).flatMap((entry) => {
    const { session_id, recorded_seq, last_seq } = (entry ?? {}) as Record<string, unknown>
    const sequence = recorded_seq ?? last_seq
    return typeof session_id === 'string' && isSequence(sequence) ? [{ session_id, recorded_seq: sequence }] : []
  })
}

/** The sessions that both know, newest first; empty: start from the beginning. */
function commonSessions(source: JsonDocument | undefined, target: JsonDocument | undefined): Session[] {
  const known = sessionsOf(target)
  const ofSource = sessionsOf(source)
  const at = ofSource.findIndex((session) => known.some(({ session_id }) => session_id === session.session_id))
  return at < 0 ? [] : ofSource.slice(at)
}

export class CheckpointLog {
  readonly #source: ReplicationPeer
  readonly #target: ReplicationPeer
  readonly #name: string
  readonly #environment: Environment
  #sides: CheckpointSides
  /** The sessions as last read: of this replication, and of the same one in other tabs. */
  #history: readonly Session[] = []
  /** The last session that this one has read or written. */
  #last: Session | undefined
  readonly #address: string
  readonly #revisions = new Map<ReplicationPeer, unknown>()
  /** The mark of the target, which stays as long as the store is the same. */
  #mark: unknown

  constructor(
    source: ReplicationPeer,
    target: ReplicationPeer,
    name: string,
    address: string,
    sides: CheckpointSides,
    environment: Environment,
  ) {
    this.#source = source
    this.#target = target
    this.#name = name
    this.#address = address
    this.#sides = sides
    this.#environment = environment
  }

  /** Where to continue; undefined: at the beginning. */
  async open(startTime: string, signal: AbortSignal): Promise<ReplicationSequence> {
    if (this.#sides === 'none') return undefined
    const read = async (peer: ReplicationPeer): Promise<JsonDocument | undefined> => {
      const document = await peer.getLocal(this.#name, signal)
      this.#revisions.set(peer, document?.['_rev'])
      return document
    }
    const [source, target] = await Promise.all([read(this.#source), read(this.#target)])
    const alone = this.#sides === 'both' ? source === undefined && target?.['one_sided'] === true : true
    const one = this.#sides === 'source' ? source : target
    this.#history = alone ? sessionsOf(one) : commonSessions(source, target)
    this.#last = this.#history[0]
    this.#mark = target?.['mark']
    if (this.#last === undefined && target === undefined) await this.#markTarget(startTime, signal)
    return this.#last?.recorded_seq
  }

  async #markTarget(startTime: string, signal: AbortSignal): Promise<void> {
    if (!this.#target.remote || this.#sides === 'source') return
    this.#mark = this.#environment.randomId()
    try {
      await this.#putOnce(this.#target, undefined, startTime, signal)
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_CONFLICT')) throw error
      // A mark of the same replication in another tab is as good.
      const document = await this.#target.getLocal(this.#name, signal)
      this.#revisions.set(this.#target, document?.['_rev'])
      this.#mark = document?.['mark']
    }
  }

  /** Records that the target has everything up to `sequence`. */
  async write(sequence: ReplicationSequence, startTime: string, signal: AbortSignal): Promise<boolean> {
    if (this.#sides === 'none' || sequence === this.#last?.recorded_seq) return false
    // A server that is not what it was says so now, before both sides agree on a place in what it has lost.
    if (this.#source.remote) await this.look(signal)
    if (this.#last === undefined && this.#mark !== undefined) {
      const document = await this.#target.getLocal(this.#name, signal)
      if (document?.['mark'] !== this.#mark) throw checkpointLost(this.#target.name)
    }
    const session: Session = { session_id: this.#environment.randomId(), recorded_seq: sequence }
    if (this.#sides !== 'source') await this.#put(this.#target, session, startTime, signal)
    if (this.#sides !== 'target') {
      try {
        await this.#put(this.#source, session, startTime, signal)
      } catch (error) {
        const status = refusalStatus(error)
        if (this.#sides !== 'both' || (status !== 401 && status !== 403)) throw error
        // A source that may only be read: the target's word has to do.
        this.#sides = 'target'
        await this.#put(this.#target, session, startTime, signal)
      }
    }
    this.#history = [session, ...this.#history].slice(0, CHECKPOINT_HISTORY_MAX)
    this.#last = session
    return true
  }

  /** Shows that the source answers. */
  async look(signal: AbortSignal): Promise<void> {
    await this.#source.getLocal(this.#name, signal)
  }

  /** Proves that the target takes writes, by one that changes nothing: it records the same again. */
  async touch(startTime: string, signal: AbortSignal): Promise<void> {
    if (this.#sides === 'both' || this.#sides === 'target') await this.#put(this.#target, undefined, startTime, signal)
    else await this.#target.getLocal(this.#name, signal)
  }

  async #put(
    peer: ReplicationPeer,
    session: Session | undefined,
    startTime: string,
    signal: AbortSignal,
  ): Promise<void> {
    for (let retries = 0; ; retries++) {
      try {
        return await this.#putOnce(peer, session, startTime, signal)
      } catch (error) {
        if (!isPannierError(error, 'PANNIER_CONFLICT') || retries === CONFLICT_RETRIES_MAX) throw error
        await this.#reread(peer, session, signal)
      }
    }
  }

  async #putOnce(
    peer: ReplicationPeer,
    session: Session | undefined,
    startTime: string,
    signal: AbortSignal,
  ): Promise<void> {
    const current = this.#revisions.get(peer)
    const history = [...(session === undefined ? [] : [session]), ...this.#history].slice(0, CHECKPOINT_HISTORY_MAX)
    const [newest] = history
    const rev = await peer.putLocal(
      this.#name,
      {
        ...(typeof current === 'string' ? { _rev: current } : {}),
        ...(newest === undefined ? {} : headOf(newest)),
        history: history.map((one) => ({ ...one, last_seq: one.recorded_seq })),
        replicator: 'pannier',
        version: CHECKPOINT_VERSION,
        replication_id_version: CHECKPOINT_VERSION,
        start_time: startTime,
        ...(this.#sides === 'target' ? { one_sided: true } : {}),
        ...(peer.remote ? {} : { address: this.#address }),
        ...(peer === this.#target && this.#mark !== undefined ? { mark: this.#mark } : {}),
      },
      signal,
    )
    this.#revisions.set(peer, rev)
  }

  /**
   * After a conflict. Perhaps an answer was lost, or the same replication runs in another tab, whose sessions are true
   * too. Or the store has lost data: then it does not know the last session, though it may know earlier ones.
   */
  async #reread(peer: ReplicationPeer, session: Session | undefined, signal: AbortSignal): Promise<void> {
    const current = await peer.getLocal(this.#name, signal)
    const known = sessionsOf(current)
    const has = (one: Session | undefined): boolean => known.some(({ session_id }) => session_id === one?.session_id)
    const isMarked = peer === this.#target && this.#mark !== undefined && current?.['mark'] === this.#mark
    const isNew = known.length === 0 && this.#revisions.get(peer) === undefined
    const isFirst = this.#last === undefined && (isMarked || isNew)
    if (!has(session) && !has(this.#last) && !isFirst)
      throw known.length > 0 ? checkpointContested(peer.name) : checkpointLost(peer.name)
    this.#history = known.filter(({ session_id }) => session_id !== session?.session_id)
    this.#revisions.set(peer, current?.['_rev'])
  }
}

function headOf({ session_id, recorded_seq }: Session): JsonDocument {
  return { session_id, last_seq: recorded_seq, source_last_seq: recorded_seq }
}
