/**
 * A CouchDB database over HTTP as a replication peer. It speaks CouchDB's protocol, so it works with CouchDB, PouchDB
 * Server and Pannier's server. It tries the fastest requests first, and falls back to others if the server lacks them.
 */
import type { Environment } from '../../base/environment.ts'
import { isPannierError, PannierError } from '../../base/errors.ts'
import { LOCAL_PREFIX } from '../../document/document-id.ts'
import { isAboutContent, refusalStatus, refused, unreachable } from '../errors.ts'
import { selectorTest } from '../filter.ts'
import type {
  ChangesRequest,
  JsonDocument,
  PeerChanges,
  ReplicationPeer,
  RevisionName,
  RevisionsRead,
  RevisionsWritten,
  PeerRevision,
} from '../peer.ts'
import { changesOf, missingOf, objectOf } from './answers.ts'
import { changeWaitOf } from './change-wait.ts'
import { HttpClient, type HttpClientOptions, type HttpRequest } from './http-client.ts'
import { RevisionFetcher } from './fetch-revisions.ts'
import { documentPath } from './names.ts'
import { RevisionSender } from './send-revisions.ts'

/** How a replication talks to a server. */
export interface HttpPeerOptions extends HttpClientOptions {
  /** How often an idle server sends a heartbeat; 10,000 when left out. */
  readonly heartbeatMs?: number | undefined
}

const HEARTBEAT_MS_DEFAULT = 10_000
const REVISIONS_PER_DIFF_MAX = 5000
/** How long one waits for changes when others want to: of a server where each database is waited for by itself. */
const WAIT_MS_MIN = 500
/** Statuses of a server without `_selector`: then documents are tested here. */
const NO_SELECTORS: ReadonlySet<number | undefined> = new Set([400, 404, 501])

export class HttpPeer implements ReplicationPeer {
  readonly name: string
  readonly remote = true
  readonly #client: HttpClient
  readonly #root: HttpClient
  readonly #heartbeatMs: number
  readonly #fetcher: RevisionFetcher
  readonly #sender: RevisionSender
  readonly #rootUrl: URL
  readonly #options: HttpPeerOptions
  readonly #environment: Environment
  #hasSnapshots = false
  #hasWait = false
  #hasLocal = false
  #hasSelectors = true

  constructor(url: URL, options: HttpPeerOptions, environment: Environment) {
    this.#client = new HttpClient(url, options, environment)
    this.#rootUrl = new URL('.', url.href.replace(/\/*([?#].*)?$/, ''))
    this.#root = new HttpClient(this.#rootUrl, options, environment)
    this.#options = options
    this.#environment = environment
    this.name = this.#client.url
    this.#heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS_DEFAULT
    this.#fetcher = new RevisionFetcher(this.#client)
    this.#sender = new RevisionSender(this.#client, () => environment.randomId())
  }

  async identify(create: boolean, signal: AbortSignal): Promise<string> {
    for (const client of [this.#client, this.#root]) client.begin()
    await this.#open(create, signal)
    const root = await this.#orNone(this.#root.json({ path: '/', signal }))
    const { uuid, features } = (root ?? {}) as { uuid?: unknown; features?: unknown }
    const has = (feature: string): boolean => Array.isArray(features) && features.includes(feature)
    this.#hasSnapshots = has('pannier-snapshot-2')
    this.#hasWait = has('pannier-wait')
    this.#hasLocal = has('pannier-local')
    // A server that moves stays the same one; one without a name of its own is known by its address.
    return typeof uuid === 'string' ? `${uuid}/${this.#path}` : this.name
  }

  async readDesign(id: string, signal: AbortSignal): Promise<JsonDocument | undefined> {
    const path = documentPath(id)
    if (path === undefined) return undefined
    try {
      const answer = await this.#orNone(this.#client.json({ path, signal }))
      return answer === undefined ? undefined : objectOf(this.name, answer)
    } catch (error) {
      // The feed reports whether its filter may be used.
      if (refusalStatus(error) === undefined) throw error
      return undefined
    }
  }

  async readChanges(request: ChangesRequest): Promise<PeerChanges> {
    if (!request.wait) return this.#readFeed(request)
    if (this.#hasWait) {
      const name = decodeURIComponent(this.#path)
      const wait = changeWaitOf(this.#rootUrl, this.#options, this.#heartbeatMs, this.#environment)
      await wait.next(name, sinceText(request.since), request.signal)
      return this.#readFeed({ ...request, wait: false })
    }
    return this.#readWithPermit(request)
  }

  /** Waits for changes with a connection of its own, for a short while if others want to wait as well. */
  async #readWithPermit(request: ChangesRequest): Promise<PeerChanges> {
    const { signal, since } = request
    const permit = await this.#client.connections.waits.acquire(signal)
    const over = new AbortController()
    let cancel = (): void => {}
    const beganMs = this.#environment.now()
    permit.onWanted(() => {
      cancel()
      const remainingMs = Math.max(0, beganMs + WAIT_MS_MIN - this.#environment.now())
      cancel = this.#environment.after(remainingMs, () => over.abort())
    })
    try {
      return await this.#readFeed({ ...request, signal: AbortSignal.any([signal, over.signal]) })
    } catch (error) {
      if (!over.signal.aborted || signal.aborted) throw error
      return { changes: [], lastSeq: since, pending: undefined, ended: true }
    } finally {
      cancel()
      permit.release()
    }
  }

  /** The last part of its URL, as it stands there. */
  get #path(): string {
    return this.name.slice(this.name.lastIndexOf('/') + 1)
  }

  async #readFeed(request: ChangesRequest): Promise<PeerChanges> {
    const { since, limit, wait, style, filter, signal } = request
    const { ids, selector, accept, name, parameters } = filter
    // A server applies one filter: what else there is, is tested here.
    const asksSelector = selector !== undefined && ids === undefined && name === undefined && this.#hasSelectors
    const asksIds = ids !== undefined && name === undefined
    const test = selector === undefined || asksSelector ? undefined : await selectorTest(selector)
    const body = asksIds ? { doc_ids: ids } : asksSelector ? { selector } : undefined
    const filterName = name ?? (asksIds ? '_doc_ids' : asksSelector ? '_selector' : undefined)
    const asked = this.#client.json({
      path: '_changes',
      method: body === undefined ? 'GET' : 'POST',
      query: {
        ...(name === undefined ? {} : parameters),
        style: style === 'all' ? 'all_docs' : 'main_only',
        since: sinceText(since),
        limit: String(limit),
        seq_interval: wait ? undefined : String(limit),
        feed: wait ? 'longpoll' : 'normal',
        heartbeat: wait ? String(this.#heartbeatMs) : undefined,
        filter: filterName,
        include_docs: accept !== undefined || test !== undefined ? 'true' : undefined,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal,
      ...(wait ? { silenceMsMax: 3 * this.#heartbeatMs, waits: true } : {}),
    })
    const answer = await asked.catch((error: unknown) => {
      if (!asksSelector || !NO_SELECTORS.has(refusalStatus(error))) throw error
      this.#hasSelectors = false
    })
    if (answer === undefined) return this.#readFeed(request)
    const { changes, lastSeq, pending } = changesOf(this.name, answer)
    const passing = changes.filter(
      ({ id, document }) =>
        (asksIds || ids === undefined || ids.includes(id)) &&
        (accept === undefined || (document !== undefined && accept(document))) &&
        (test === undefined || (document !== undefined && test(document))),
    )
    return { changes: passing, lastSeq, pending, ended: changes.length < limit }
  }

  async missingRevisions(
    revisions: ReadonlyMap<string, readonly string[]>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const missing = new Map<string, readonly string[]>()
    const entries = [...revisions]
    for (let at = 0; at < entries.length; at += REVISIONS_PER_DIFF_MAX) {
      const asked = entries.slice(at, at + REVISIONS_PER_DIFF_MAX)
      for (const [id, revs] of await this.#missing(asked, signal)) missing.set(id, revs)
    }
    return missing
  }

  /** A revision whose name is refused counts as missing: writing it then reports the reason. */
  async #missing(
    asked: readonly (readonly [string, readonly string[]])[],
    signal: AbortSignal,
  ): Promise<readonly (readonly [string, readonly string[]])[]> {
    const body = JSON.stringify(Object.fromEntries(asked))
    try {
      const answer = await this.#client.json({ path: '_revs_diff', method: 'POST', body, signal })
      return [...missingOf(this.name, answer, new Map(asked))]
    } catch (error) {
      if (!isAboutContent(error)) throw error
      if (asked.length === 1) return asked
      const half = asked.length >> 1
      return [
        ...(await this.#missing(asked.slice(0, half), signal)),
        ...(await this.#missing(asked.slice(half), signal)),
      ]
    }
  }

  readRevisions(names: readonly RevisionName[], signal: AbortSignal): Promise<RevisionsRead> {
    return this.#fetcher.read(names, signal)
  }

  writeRevisions(revisions: readonly PeerRevision[], signal: AbortSignal): Promise<RevisionsWritten> {
    return this.#sender.write(revisions, signal)
  }

  async getLocal(name: string, signal: AbortSignal): Promise<JsonDocument | undefined> {
    if (this.#hasLocal) {
      const answer = await this.#client.json({ path: `_pannier/local/${encodeURIComponent(name)}`, signal })
      const { document } = objectOf(this.name, answer)
      return document === null ? undefined : objectOf(this.name, document)
    }
    const answer = await this.#orNone(this.#client.json({ path: localPath(name), signal }))
    return answer === undefined ? undefined : objectOf(this.name, answer)
  }

  async putLocal(name: string, document: JsonDocument, signal: AbortSignal): Promise<string> {
    const body = JSON.stringify({ ...document, _id: LOCAL_PREFIX + name })
    try {
      const answer = await this.#client.json({ path: localPath(name), method: 'PUT', body, signal })
      const { rev } = objectOf(this.name, answer)
      if (typeof rev !== 'string') throw unreachable(this.name, 'the answer has no revision')
      return rev
    } catch (error) {
      if (refusalStatus(error) !== 409) throw error
      throw new PannierError('PANNIER_CONFLICT', `${this.name}: the replication checkpoint was changed.`, {
        cause: error,
      })
    }
  }

  async openSnapshot(signal: AbortSignal): Promise<ReadableStream<Uint8Array> | undefined> {
    if (!this.#hasSnapshots) return undefined
    return await this.#client.stream({ path: '_pannier/snapshot', accept: 'application/x-ndjson', signal })
  }

  async #open(create: boolean, signal: AbortSignal): Promise<void> {
    const look: HttpRequest = { path: '', signal }
    const found = await this.#orNone(this.#client.json(look))
    if (found !== undefined) return this.#checkDatabase(found)
    if (!create) throw new PannierError('PANNIER_NOT_FOUND', `There is no database ${this.name}.`)
    try {
      await this.#client.json({ path: '', method: 'PUT', signal })
    } catch (error) {
      // Another has made it just now.
      if (refusalStatus(error) !== 412) throw error
    }
  }

  /** A URL of another website may answer any JSON. */
  #checkDatabase(answer: unknown): void {
    if (objectOf(this.name, answer)['update_seq'] === undefined)
      throw refused(this.name, 200, 'not_a_database', 'what is there is not a CouchDB database')
  }

  /** Undefined where there is nothing of that name (404). */
  async #orNone(answer: Promise<unknown>): Promise<unknown> {
    try {
      return await answer
    } catch (error) {
      if (isPannierError(error, 'PANNIER_PEER_REFUSED') && error.details['status'] === 404) return undefined
      throw error
    }
  }
}

function sinceText(since: unknown): string {
  return since === undefined ? '0' : typeof since === 'string' ? since : JSON.stringify(since)
}

function localPath(name: string): string {
  return LOCAL_PREFIX + encodeURIComponent(name)
}
