/** The live queries of a database, their costs, and the explanation of one of them or of a query that is typed. */
import type { Explanation } from 'pannier'
import { liveQueriesOf, type LiveFacts } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { parseSelector } from './documents.ts'
import { explainTree, type ExplainNode } from './explain-tree.ts'
import { Model, Throttled } from './model.ts'
import { questionText } from './question-text.ts'
import type { Source } from './source.ts'

/** A live query in the list. */
export interface LiveRow {
  readonly collection: string
  readonly text: string
  readonly status: string
  /** Rows that it holds; of a count the count. */
  readonly rows: number | undefined
  readonly counts: boolean
  readonly reads: number
  readonly subscribers: number
  readonly facts: LiveFacts
}

/** An explanation that is shown. */
export interface Explained {
  readonly title: string
  readonly tree: readonly ExplainNode[]
  readonly rows: number
  readonly documents: number
  readonly pages: number
  readonly ms: number
  readonly cost: number
  /** The index that would help most, as JSON. */
  readonly suggestion: string | undefined
}

/** A query that is typed. */
interface TypedQuery {
  readonly collection: string
  readonly selector: string
  readonly sort: string
  readonly limit: number | undefined
}

/** More live queries are only counted. */
const LIVE_MAX = 200
const REFRESH_MS = 400
/** Documents whose length stands for that of all. */
const SAMPLE = 100

export class QueriesModel extends Model {
  rows: readonly LiveRow[] = []
  total = 0
  /** The live query whose explanation is shown. */
  selected: LiveFacts['state'] | undefined
  explained: Explained | undefined
  isRunning = false
  readonly #source: Source
  readonly #environment: Environment
  readonly #refresh: Throttled
  readonly #stop: () => void
  #running: AbortController | undefined

  constructor(source: Source, environment: Environment) {
    super()
    this.#source = source
    this.#environment = environment
    this.#refresh = new Throttled(environment, REFRESH_MS, () => this.refresh())
    this.#stop = source.follow(() => this.#refresh.ask())
  }

  stop(): void {
    this.#stop()
    this.#refresh.stop()
    this.cancel()
  }

  async refresh(): Promise<void> {
    if (this.#source.ended !== undefined) return
    const all = await this.attempt(() => liveQueriesOf(this.#source.db))
    if (all === undefined) return
    this.total = all.length
    this.rows = all.slice(0, LIVE_MAX).map(rowOf)
    this.changed()
  }

  async explainLive({ collection, text, facts }: LiveRow): Promise<void> {
    this.selected = facts.state
    await this.#explain(`${collection}: ${text}`, collection, () => facts.explain())
  }

  async explain({ collection, selector, sort, limit }: TypedQuery): Promise<void> {
    this.selected = undefined
    await this.#explain(`${collection}: ${selector.trim() || 'all documents'}`, collection, (signal) => {
      const fields = sort.split(/[\s,]+/).filter((field) => field !== '')
      const query = this.#source
        .collection(collection)
        .find(parseSelector(selector))
        .sort(...(fields as never[]))
      return (limit === undefined ? query : query.limit(limit)).signal(signal).explain({ run: true })
    })
  }

  /** Ends the query that runs. */
  cancel(): void {
    this.#running?.abort()
  }

  async #explain(title: string, collection: string, run: (signal: AbortSignal) => Promise<Explanation>): Promise<void> {
    this.cancel()
    const running = new AbortController()
    this.#running = running
    this.isRunning = true
    this.changed()
    const found = await this.attempt(async () => {
      const startMs = this.#environment.now()
      const explanation = await run(running.signal)
      return { explanation, ms: this.#environment.now() - startMs, bytes: await this.#documentBytes(collection) }
    })
    if (this.#running !== running) return
    this.isRunning = false
    if (found !== undefined) this.explained = explainedOf(title, found.explanation, found.bytes, found.ms)
    this.changed()
  }

  async #documentBytes(collection: string): Promise<number> {
    const { rows } = await this.#source.collection(collection).list({ limit: SAMPLE, docs: true }).page()
    return rows.reduce((sum, { doc }) => sum + JSON.stringify(doc).length, 0) / Math.max(1, rows.length)
  }
}

function explainedOf(title: string, explanation: Explanation, documentBytes: number, ms: number): Explained {
  const { cost, suggestion, actual = { rows: explanation.rows, documents: 0, pages: 0 } } = explanation
  const index = suggestion === undefined ? undefined : JSON.stringify(suggestion)
  return { title, tree: explainTree(explanation, documentBytes), ...actual, ms, cost, suggestion: index }
}

function rowOf(facts: LiveFacts): LiveRow {
  const { collection, question, state, counts, reads, subscribers } = facts
  const { view, status } = state
  const rows = counts ? (view?.rows[0] as { readonly count: number } | undefined)?.count : view?.rows.length
  return { collection, text: questionText(question), status, rows, counts, reads, subscribers, facts }
}
