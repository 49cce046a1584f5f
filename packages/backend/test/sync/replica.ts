/** What a client keeps of the feeds of one account, as docs/internals/ruled-sync.md says. */
import type { PulledPage } from '../../src/sync/feed/feed.ts'
import type { FeedToken } from '../../src/sync/feed/feed-token.ts'

interface ReplicaRecord {
  readonly rev: string
  readonly fields: string
  readonly mark: string | undefined
}

/** What is kept of one collection. */
export class Replica {
  /** The account; `null`: a guest. */
  readonly user: string | null
  readonly collection: string
  /** The part that it wants, as a filter. Its app may change it. */
  filter: string = ''
  readonly records: Map<string, ReplicaRecord> = new Map()
  token: FeedToken | undefined
  #filterOfToken = ''

  constructor(user: string | null, collection: string = 'docs') {
    this.user = user
    this.collection = collection
  }

  /** In one transaction. */
  apply(page: PulledPage): void {
    this.#store(page)
    // As it comes back from the network.
    this.token = JSON.parse(JSON.stringify(page.token)) as FeedToken
    this.#filterOfToken = this.filter
  }

  /** Whether it wants the part that its token is for. */
  get isSamePart(): boolean {
    return this.filter === this.#filterOfToken
  }

  has(id: string, rev: string): boolean {
    return this.records.get(id)?.rev === rev
  }

  /** The client ends before it has applied a page: nothing of it is stored. */
  lose(_page: PulledPage): void {}

  #store({ rows }: PulledPage): void {
    for (const row of rows) {
      if ('left' in row) this.records.delete(row.left)
      else if ('end' in row) {
        for (const [id, { mark }] of this.records) if (mark !== row.end) this.records.delete(id)
      } else if ('rev' in row) this.records.set(row.id, { ...this.records.get(row.id)!, mark: row.mark })
      else {
        const { _id: id, _rev: rev } = row.document
        this.records.set(String(id), { rev: String(rev), fields: fieldsOf(row.document, row.without), mark: row.mark })
      }
    }
  }
}

/** The fields of a record, in one order. */
export function fieldsOf(record: Readonly<Record<string, unknown>>, without: ReadonlySet<string>): string {
  const isShown = (name: string): boolean => name !== 'id' && !name.startsWith('_') && !without.has(name)
  const entries = Object.entries(record).filter(([name]) => isShown(name))
  return JSON.stringify(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
