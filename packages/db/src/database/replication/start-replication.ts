/** Starts replications and combines their states. Loaded on first use. */
import type { Environment } from '../../base/environment.ts'
import { throwIfCancelled } from '../../base/long-work.ts'
import { isClosedByCaller, type PannierError } from '../../base/errors.ts'
import { callUser, functionToken, tellListener } from '../../base/callback.ts'
import { checkOptions, type OptionNames, badArgument } from '../../base/options.ts'
import { HttpPeer, type HttpPeerOptions } from '../../replication/http/http-peer.ts'
import { pathSegment } from '../../replication/http/names.ts'
import type { PeerFilter, ReplicationPeer } from '../../replication/peer.ts'
import { sumUp, PartWatcher } from '../../replication/part-progress.ts'
import {
  BATCHES_AHEAD_DEFAULT,
  BATCH_SIZE_DEFAULT,
  CALL,
  type RunOptions,
  type NetworkStatus,
  type ReplicationDirection,
  type ReplicationResult,
  type ReplicationEvent,
} from '../../replication/types.ts'
import { addressOf } from '../../replication/replication-id.ts'
import { Siblings, supervise, type Control } from '../../replication/supervisor.ts'
import { TransactionCollection } from '../collection/collection-operations.ts'
import type { JsonObject } from '../collection/document-types.ts'
import type { DatabaseContext } from '../database-context.ts'
import { LocalPeer, type LocalCollection } from './local-peer.ts'
import { oneTab, type OneTab } from './one-tab.ts'
import type {
  CollectionSide,
  DatabaseSyncOptions,
  DirectionOptions,
  RemoteSide,
  ReplicationJob,
  ReplicationOptions,
  ReplicationRequest,
  ReplicationSide,
  ReplicationState,
  ReplicationTarget,
} from './replication-options.ts'

const CHECKPOINT_INTERVAL_MS_DEFAULT = 5000

export async function startReplication(
  context: DatabaseContext,
  state: ReplicationState,
  request: ReplicationRequest,
  options: ReplicationOptions,
): Promise<ReplicationResult> {
  checkReplicationOptions(request, options)
  const { environment, closing } = context
  const startTime = new Date(environment.wallClock()).toISOString()
  const runs =
    'source' in request
      ? [runBetween(context, request, options)]
      : jobsOf(request, options).flatMap((job) => runsOf(context, job, options))
  const emit: PartWatcher['emit'] = (event) => {
    for (const listener of Array.from(state.listeners)) tellListener(() => listener(event))
  }
  const watchers = runs.map(({ run }) => new PartWatcher(run, (event) => tab.heard(event)))
  state.view = sumUp(watchers)
  state.unsent = () => unsentOf(runs, state)
  const listeners = new Set<() => void>()
  const changed = (): void => {
    for (const listener of Array.from(listeners)) listener()
  }
  const tab = oneTab(context.tabs, runs, state, context.environment, emit, changed)
  state.changed = () => {
    tab.follow()
    changed()
  }
  const { signal } = options
  const control = controlOf(state, tab, listeners)
  const cancel = (): void => {
    state.cancelled = true
    state.changed?.()
  }
  const signals = [closing, ...(signal === undefined ? [] : [signal])]
  for (const one of signals) one.addEventListener('abort', cancel)
  if (signals.some(({ aborted }) => aborted)) cancel()
  try {
    await tab.begin()
    const ends = await Promise.allSettled(
      runs.map(async ({ run, source, target, siblings }, at) => {
        try {
          watchers[at]!.status(await supervise(source, target, run, control, watchers[at]!, siblings))
        } catch (error) {
          watchers[at]!.status('failed', error as PannierError)
          // The other direction and the other collections go no further than this one.
          cancel()
          throw error
        }
      }),
    )
    const failed = ends.find((end) => end.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    throwIfCancelled(signal, 'The replication')
    if (closing.aborted && !isClosedByCaller(closing.reason)) throw closing.reason
    return resultOf(state, startTime, new Date(environment.wallClock()).toISOString())
  } finally {
    tab.end()
    for (const one of signals) one.removeEventListener('abort', cancel)
  }
}

const DIRECTION_OPTIONS: OptionNames<DirectionOptions> = {
  ids: true,
  selector: true,
  filter: true,
  parameters: true,
  view: true,
  version: true,
  tombstones: true,
  since: true,
  style: true,
  batchSize: true,
  batchesAhead: true,
  checkpoint: true,
  checkpointIntervalMs: true,
  snapshot: true,
}

const HTTP_OPTIONS: OptionNames<HttpPeerOptions> = {
  headers: true,
  auth: true,
  fetch: true,
  silenceMsMax: true,
  connectionsMax: true,
  heartbeatMs: true,
}

const REPLICATION_OPTIONS: OptionNames<ReplicationOptions> = {
  live: true,
  retry: true,
  backOff: true,
  create: true,
  signal: true,
  network: true,
  push: true,
  pull: true,
  ...HTTP_OPTIONS,
  ...DIRECTION_OPTIONS,
}

const REMOTE_SIDE: OptionNames<RemoteSide> = { url: true, ...HTTP_OPTIONS }
const COLLECTION_SIDE: OptionNames<CollectionSide> = {
  collection: true,
  around: true,
  admit: true,
  store: true,
  accept: true,
}

const SYNC_OPTIONS: OptionNames<DatabaseSyncOptions> = { collections: true, ...REPLICATION_OPTIONS }

function checkReplicationOptions(request: ReplicationRequest, options: ReplicationOptions): void {
  if ('url' in request) {
    checkOptions('sync()', options ?? {}, SYNC_OPTIONS)
    const { collections } = (options ?? {}) as Partial<DatabaseSyncOptions>
    if (typeof collections !== 'object' || collections === null)
      throw badArgument('sync()', "collections must be given, as in { collections: ['people'] }", collections)
  } else checkOptions(CALL, options, REPLICATION_OPTIONS)
  for (const own of [options.push, options.pull]) if (own !== undefined) checkOptions(CALL, own, DIRECTION_OPTIONS)
}

/** Through which the handle and what does the work talk. */
function controlOf(state: ReplicationState, tab: OneTab, listeners: Set<() => void>): Control {
  return {
    get paused() {
      return state.paused || !tab.leads
    },
    get cancelled() {
      return state.cancelled
    },
    subscribe(listener) {
      // A function of its own, so that one listener that is added twice is called twice.
      const own = (): void => listener()
      listeners.add(own)
      return () => void listeners.delete(own)
    },
  }
}

/** By what this tab, or the one that replicates, has sent, or else by what was recorded last. */
async function unsentOf(runs: readonly Run[], { view }: ReplicationState): Promise<number> {
  const { parts } = view
  const counts = runs.map(async ({ run, source, target }, at) => {
    if (run.direction !== 'push' || !(source instanceof LocalPeer)) return 0
    const sent = parts[at]?.progress.lastSeq
    return source.changesAfter(sent ?? (await source.recorded(addressOf(source, target, run.filter, run.style))))
  })
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
}

function resultOf({ view }: ReplicationState, startTime: string, endTime: string): ReplicationResult {
  const { progress, parts } = view
  const isComplete = view.status === 'complete'
  const status = isComplete ? 'complete' : 'cancelled'
  return { ...progress, ok: isComplete && progress.docsDenied === 0, status, startTime, endTime, parts: [...parts] }
}

type SidesRequest = Extract<ReplicationRequest, { readonly source: unknown }>

interface Run {
  readonly run: RunOptions
  readonly source: ReplicationPeer
  readonly target: ReplicationPeer
  readonly siblings: Siblings
}

function jobsOf(request: Exclude<ReplicationRequest, SidesRequest>, options: ReplicationOptions): ReplicationJob[] {
  if ('collection' in request) return [request]
  const { collections } = options as DatabaseSyncOptions
  const below = String(request.url).replace(/\/+$/, '')
  const targets = Array.isArray(collections)
    ? collections.map((name: string) => [name, `${below}/${segmentOf(name)}`] as const)
    : Object.entries(collections as Record<string, ReplicationTarget>)
  const directions: readonly ReplicationDirection[] = ['push', 'pull']
  return targets.map(([name, target]) => ({ collection: request.open(name), target, directions }))
}

function segmentOf(name: string): string {
  const segment = pathSegment(name)
  if (segment !== undefined) return segment
  throw badArgument(
    'sync()',
    'a collection whose name no URL can hold must be given with its URL, as { name: url }',
    name,
  )
}

function runsOf(context: DatabaseContext, job: ReplicationJob, options: ReplicationOptions): Run[] {
  const collection = job.collection as LocalCollection
  const here = new LocalPeer(collection)
  const there = peerOf(context, job.target, options)
  const siblings = new Siblings()
  return job.directions.map((direction) => {
    const own = direction === 'push' ? options.push : options.pull
    const run = runOptions(context, collection.name, direction, job.directions.length > 1, { ...options, ...own })
    const [source, target] = direction === 'push' ? [here, there] : [there, here]
    checkFilter(run, source)
    return { run, source, target, siblings }
  })
}

/** A push from a collection, or else a pull. */
function runBetween(context: DatabaseContext, { source, target }: SidesRequest, options: ReplicationOptions): Run {
  const [from, to] = [sideOf(context, source, options), sideOf(context, target, options)]
  const direction = from.remote ? 'pull' : 'push'
  const collection = [from, to].find((peer) => peer instanceof LocalPeer)?.collectionName ?? to.name
  const run = runOptions(context, collection, direction, false, options)
  checkFilter(run, from)
  return { run, source: from, target: to, siblings: new Siblings() }
}

function checkFilter({ filter }: RunOptions, source: ReplicationPeer): void {
  if (filter.name !== undefined && source instanceof LocalPeer && !source.filters)
    throw badArgument(CALL, 'filter must be a function for a local source', filter.name)
}

function sideOf(context: DatabaseContext, side: ReplicationSide, options: ReplicationOptions): ReplicationPeer {
  if (typeof side !== 'object' || side === null || side instanceof URL) return peerOf(context, side, options)
  if ('url' in side) {
    checkOptions('replicate()', side, REMOTE_SIDE)
    return peerOf(context, side.url, { ...options, ...side })
  }
  if (!('collection' in side && typeof side.collection === 'object'))
    return peerOf(context, side as ReplicationTarget, options)
  checkOptions('replicate()', side, COLLECTION_SIDE)
  return new LocalPeer(collectionOf(side.collection), side)
}

function collectionOf(target: ReplicationTarget): LocalCollection {
  if (target instanceof TransactionCollection && 'changes' in target) return target as LocalCollection
  throw badArgument(CALL, 'a source or target must be the URL of a database or a collection', target)
}

function peerOf(context: DatabaseContext, target: ReplicationTarget, options: ReplicationOptions): ReplicationPeer {
  if (typeof target !== 'string' && !(target instanceof URL)) return new LocalPeer(collectionOf(target))
  const url = URL.canParse(String(target)) ? new URL(target) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw badArgument(CALL, 'the URL must begin with http: or https:', String(target))
  return new HttpPeer(url, options, context.environment)
}

function runOptions(
  { environment }: DatabaseContext,
  collection: string,
  direction: ReplicationDirection,
  bothWays: boolean,
  options: ReplicationOptions,
): RunOptions {
  const { live = false, retry = live, style = 'all', checkpoint = 'both', create = true } = options
  const { batchSize = BATCH_SIZE_DEFAULT, batchesAhead = BATCHES_AHEAD_DEFAULT } = options
  for (const [name, count] of Object.entries({ batchSize, batchesAhead }))
    if (!isCount(count)) throw badArgument(CALL, `${name} must be a whole number from 1`, count)
  const { connectionsMax = Infinity } = options
  if (connectionsMax !== Infinity && !(isCount(connectionsMax) && connectionsMax >= 2))
    throw badArgument(CALL, 'connectionsMax must be a whole number from 2', connectionsMax)
  if (style !== 'all' && style !== 'winner') throw badArgument(CALL, "style must be 'winner' or 'all'", style)
  if (!['both', 'source', 'target', 'none'].includes(checkpoint))
    throw badArgument(CALL, "`checkpoint` must be 'both', 'source', 'target' or 'none'", checkpoint)
  const filter = filterOf(options, environment)
  return {
    collection,
    direction,
    live,
    retry,
    backOff: options.backOff,
    filter,
    style,
    since: options.since,
    batchSize,
    batchesAhead,
    checkpoint: filter.isLasting === false ? 'none' : checkpoint,
    checkpointIntervalMs: options.checkpointIntervalMs ?? CHECKPOINT_INTERVAL_MS_DEFAULT,
    snapshot: options.snapshot ?? true,
    createSource: bothWays && create,
    createTarget: create,
    network: options.network ?? browserNetwork(),
    environment,
  }
}

function filterOf(options: DirectionOptions, environment: Environment): PeerFilter {
  const { ids, filter, parameters, view, version, tombstones = 'all' } = options
  if (tombstones !== 'all' && tombstones !== 'selected')
    throw badArgument(CALL, "tombstones must be 'all' or 'selected'", tombstones)
  const selector =
    options.selector === undefined || tombstones === 'selected'
      ? options.selector
      : { $or: [{ _deleted: true }, options.selector] }
  if (ids !== undefined && !(Array.isArray(ids) && ids.every((id) => typeof id === 'string')))
    throw badArgument(CALL, 'ids must be an array of ids', ids)
  if (filter !== undefined && typeof filter !== 'string' && typeof filter !== 'function')
    throw badArgument(CALL, 'filter must be a function or the name of a filter on the server', filter)
  if (version !== undefined && typeof version !== 'string' && typeof version !== 'number')
    throw badArgument(CALL, 'version must be a string or a number', version)
  const name = view !== undefined ? '_view' : typeof filter === 'string' ? filter : undefined
  if (typeof filter !== 'function' || name !== undefined)
    return { ids, selector, name, parameters: view === undefined ? parameters : { ...parameters, view } }
  const isLasting = version !== undefined || parameters !== undefined
  return {
    ids,
    selector,
    accept: (document) => Boolean(callUser(CALL, 'filter', () => filter(document as JsonObject, parameters))),
    identity: isLasting ? [String(filter), version ?? null] : functionToken(environment, filter),
    isLasting,
    parameters,
  }
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1
}

/** The network status of a page or a worker; undefined in Node. */
function browserNetwork(): NetworkStatus | undefined {
  if (typeof navigator === 'undefined' || typeof navigator.onLine !== 'boolean') return undefined
  if (typeof globalThis.addEventListener !== 'function') return undefined
  return {
    isOnline: () => navigator.onLine,
    subscribe: (listener) => {
      for (const event of ['online', 'offline']) globalThis.addEventListener(event, listener)
      return () => {
        for (const event of ['online', 'offline']) globalThis.removeEventListener(event, listener)
      }
    },
  }
}

/** The events of a replication as they come. Loaded when they are looped over. */
interface Watched extends PromiseLike<unknown> {
  subscribe(listener: (event: ReplicationEvent) => void): () => void
}

/** To its end. Its failure is thrown. `events`: those that have come already, which are no longer added to after `stop`. */
export async function* replicationEvents(
  replication: Watched,
  events: ReplicationEvent[],
  stop: () => void,
): AsyncGenerator<ReplicationEvent, void, undefined> {
  let wake = (): void => {}
  let ended = false
  const isEnded = (): boolean => ended
  const unsubscribe = replication.subscribe((event) => {
    events.push(event)
    wake()
  })
  stop()
  const end = (): void => {
    ended = true
    wake()
  }
  replication.then(end, end)
  try {
    for (;;) {
      yield* events.splice(0)
      if (events.length > 0) continue
      if (isEnded()) break
      await new Promise<void>((resolve) => (wake = resolve))
    }
    await replication
  } finally {
    unsubscribe()
  }
}
