/**
 * Clients that write and read at several servers at the same time, and note what they were answered. They make documents of their own,
 * and add to lists that they share, by `_rev`. Documents are registers with one token.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { History, violationsOf, type End, type Operation, type Violation } from '../../../../tools/test/history.ts'
import { EMAIL, PASSWORD } from '../rest/rest-server.ts'
import { basic } from '../test-server.ts'

const HEADERS = { authorization: basic(`${EMAIL}:${PASSWORD}`), 'content-type': 'application/json' }
const LISTS = ['r0', 'r1', 'r2']
/** What says for sure that nothing was written. */
const REFUSED: ReadonlySet<number> = new Set([401, 403, 404, 409, 412])
/** The n-th reads that ask for all that was acknowledged before. */
const FRESH_EACH = 3
const ANSWER_MS_MAX = 90_000

interface ListDocument {
  readonly _id: string
  readonly _rev: string
  readonly tokens?: readonly string[]
}

interface Answer {
  readonly status: number
  readonly body: unknown
}

export class Load {
  readonly history: History = new History()
  readonly #own: string
  /** The newest sequence that any answer has named. */
  #newest = 0
  #isOver = false
  #working: Promise<unknown> = Promise.resolve()

  /** `urls`: of the servers, by which their clients reach them. `own`: by which one is reached without fail. */
  static async start(urls: readonly string[], own: string = urls[0]!): Promise<Load> {
    const load = new Load(own)
    await load.#ask(own, 'PUT', '/load')
    for (const id of LISTS) await load.#ask(own, 'PUT', `/load/${id}`, { tokens: [] })
    load.#working = Promise.all(urls.map((url, at) => load.#work(url, `s${at}`)))
    return load
  }

  private constructor(own: string) {
    this.#own = own
  }

  /** Whether some more writes are acknowledged in time. */
  async goesOn(msMax: number): Promise<boolean> {
    const before = this.history.acknowledged
    for (const end = performance.now() + msMax; performance.now() < end; await sleep(50))
      if (this.history.acknowledged > before + 10) return true
    return false
  }

  /** Resolves when no request is under way. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.#working
  }

  /** What is there. */
  async end(): Promise<End> {
    const url = this.#own
    const all = await this.#ask(url, 'POST', '/load/_all_docs?include_docs=true', {})
    const { rows } = all.body as { rows: { doc: ListDocument }[] }
    const lists = Object.fromEntries(rows.map(({ doc }) => [doc._id, doc.tokens ?? []]))
    const { update_seq: newest } = (await this.#ask(url, 'GET', '/load')).body as { update_seq: unknown }
    return { lists, sequence: { newest: Number.parseInt(String(newest), 10), others: LISTS.length } }
  }

  async violations(): Promise<readonly Violation[]> {
    return violationsOf(this.history.operations, await this.end())
  }

  /** The longest times between two writes that were acknowledged, in milliseconds, the longest first. */
  pauses(count: number): readonly number[] {
    const ends = this.history.operations.filter(isAcknowledgedWrite).map(({ endMs }) => endMs)
    const sorted = ends.toSorted((a, b) => a - b)
    const pauses = sorted.slice(1).map((endMs, at) => Math.round(endMs - sorted[at]!))
    return pauses.toSorted((a, b) => b - a).slice(0, count)
  }

  get summary(): string {
    const { operations } = this.history
    const writes = operations.filter(({ write }) => write !== undefined)
    const unknown = writes.filter(({ outcome }) => outcome === 'unknown').length
    const reads = operations.length - writes.length
    return `${writes.filter(isAcknowledgedWrite).length} writes acknowledged, ${unknown} of unknown outcome, ${reads} reads`
  }

  async #work(url: string, server: string): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      const token = `${server}-${n}`
      await this.#write(url, server, token, token, [token])
      const id = LISTS[n % LISTS.length]!
      const list = await this.#read(url, server, id, n % FRESH_EACH === 0)
      if (list !== undefined) await this.#write(url, server, id, `${token}l`, [...list.tokens!, `${token}l`], list._rev)
    }
  }

  async #write(url: string, server: string, id: string, token: string, tokens: string[], rev?: string): Promise<void> {
    const ended = this.history.begin({ server, write: { token, registers: [id] } })
    const { status } = await this.#ask(url, 'PUT', `/load/${id}`, { ...(rev !== undefined && { _rev: rev }), tokens })
    if (status === 201) ended({ outcome: 'done', found: { [id]: tokens } })
    else ended({ outcome: REFUSED.has(status) ? 'refused' : 'unknown' })
    if (status === 0) await sleep(50)
  }

  async #read(url: string, server: string, id: string, isFresh: boolean): Promise<ListDocument | undefined> {
    const headers = isFresh ? { 'pannier-sequence': String(this.#newest) } : {}
    const ended = this.history.begin({ server, isFresh })
    const { status, body } = await this.#ask(url, 'GET', `/load/${id}`, undefined, headers)
    if (status !== 200) {
      ended({ outcome: 'unknown' })
      return undefined
    }
    const list = body as ListDocument
    ended({ outcome: 'done', found: { [id]: list.tokens! } })
    return list
  }

  /** Status 0: no answer. */
  async #ask(url: string, method: string, path: string, sent?: unknown, headers = {}): Promise<Answer> {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX)
    try {
      const answer = await fetch(url + path, {
        method,
        headers: { ...HEADERS, ...headers },
        signal,
        ...(sent !== undefined && { body: JSON.stringify(sent) }),
      })
      const body: unknown = await answer.json()
      this.#newest = Math.max(this.#newest, Number(answer.headers.get('pannier-sequence') ?? 0))
      return { status: answer.status, body }
    } catch {
      return { status: 0, body: undefined }
    }
  }
}

function isAcknowledgedWrite({ write, outcome }: Operation): boolean {
  return write !== undefined && outcome === 'done'
}
