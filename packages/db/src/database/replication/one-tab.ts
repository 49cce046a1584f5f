/**
 * Live replications of one kind in several tabs: one tab replicates, the others show its state
 * (docs/internals/replication.md). Correctness does not depend on it: two tabs that replicate do the same work twice.
 */
import { PannierError } from '../../base/errors.ts'
import type { Environment } from '../../base/environment.ts'
import { hash128 } from '../../codec/hash.ts'
import { toHex } from '../../codec/bytes.ts'
import type { RunOptions, ReplicationEvent, ReplicationPart } from '../../replication/types.ts'
import type { ReplicationPeer } from '../../replication/peer.ts'
import { addressOf } from '../../replication/replication-id.ts'
import { WebLeader } from '../coordination/web-leader.ts'
import type { ReplicationState, ReplicationView } from './replication-options.ts'

interface Run {
  readonly run: RunOptions
  readonly source: ReplicationPeer
  readonly target: ReplicationPeer
}

/** Errors as they go from tab to tab. */
interface TabPart extends Omit<ReplicationPart, 'error'> {
  readonly error: Pick<PannierError, 'code' | 'message' | 'details'> | undefined
}

interface News extends Pick<ReplicationView, 'status' | 'progress'> {
  readonly parts: readonly TabPart[]
}

export interface OneTab {
  /** False: another tab replicates. */
  readonly leads: boolean
  /** An event of a part here. */
  heard(event: ReplicationEvent): void
  /** Follows a change of the handle's wish. */
  follow(): void
  /** Resolves when it is known which tab leads. */
  begin(): Promise<void>
  end(): void
}

/**
 * `tabs` names the database for all tabs that share it. From here on `state.view` is that of the leader, `emit` hears of its parts,
 * and `changed` is called when it is another one.
 */
export function oneTab(
  tabs: string | undefined,
  runs: readonly Run[],
  state: ReplicationState,
  environment: Environment,
  emit: (event: ReplicationEvent) => void,
  changed: () => void,
): OneTab {
  const isShared = runs.every(({ run, source, target }) => run.live && source.remote !== target.remote)
  if (tabs === undefined || !isShared)
    return { leads: true, heard: emit, follow: () => {}, begin: async () => {}, end: () => {} }
  const own = state.view
  let shown: ReplicationView | undefined
  let led = false
  const leader: WebLeader = new WebLeader({
    name: `pannier:${tabs}:sync:${identityOf(runs)}`,
    environment,
    tell: () => newsOf(own),
    onChange: () => {
      const news = leader.news as News | undefined
      const before = shown
      shown = news && viewOf(news)
      if (led !== leader.leads) {
        led = leader.leads
        changed()
      }
      if (shown !== undefined && follows()) tellParts(before, shown, emit)
    },
  })
  const follows = (): boolean => !leader.leads && !state.paused && !state.cancelled
  const view = (): ReplicationView => (follows() && shown !== undefined ? shown : own)
  state.view = {
    get status() {
      return view().status
    },
    get error() {
      return view().error
    },
    get progress() {
      return view().progress
    },
    get parts() {
      return view().parts
    },
  }
  const follow = (): Promise<void> => {
    if (!state.paused && !state.cancelled) return leader.want()
    leader.leave()
    return Promise.resolve()
  }
  return {
    get leads() {
      return leader.leads
    },
    heard(event) {
      leader.changed()
      // That this one waits is no news of the replication.
      if (event.type !== 'status' || !follows()) emit(event)
    },
    follow: () => void follow(),
    begin: follow,
    end: () => leader.close(),
  }
}

/** An identity for equal collections, servers and options; credentials are no part of it. */
function identityOf(runs: readonly Run[]): string {
  const facts = runs.map(({ run, source, target }) => [
    run.collection,
    run.direction,
    run.since ?? null,
    addressOf(source, target, run.filter, run.style),
  ])
  return toHex(hash128(new TextEncoder().encode(JSON.stringify(facts))))
}

function newsOf({ status, progress, parts }: ReplicationView): News {
  return {
    status,
    progress,
    parts: parts.map(({ error, ...part }) => ({
      ...part,
      // Details may hold what can't be sent.
      error: error && { code: error.code, message: error.message, details: JSON.parse(JSON.stringify(error.details)) },
    })),
  }
}

function viewOf({ status, progress, parts }: News): ReplicationView {
  const made = parts.map(({ error, ...part }) => ({
    ...part,
    error: error && new PannierError(error.code, error.message, { details: error.details }),
  }))
  return { status, progress, parts: made, error: made.find((part) => part.status === status)?.error }
}

/** Emits the events of each part that has changed. */
function tellParts(
  before: ReplicationView | undefined,
  { parts }: ReplicationView,
  emit: (event: ReplicationEvent) => void,
): void {
  parts.forEach(({ collection, direction, status, error, waitMs, progress }, at) => {
    const last = before?.parts[at]
    if (last?.status === status && last.progress.pending === progress.pending) return
    const why = { ...(error && { error }), ...(waitMs !== undefined && { waitMs }) }
    emit({ type: 'status', collection, direction, status, ...why })
  })
}
