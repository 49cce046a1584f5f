/** What must be true of every page of a feed, and of a replica that is complete. */
import type { PulledPage } from '../../src/sync/feed/feed.ts'
import type { FeedWorld } from './feed-world.ts'
import { fieldsOf, type Replica } from './replica.ts'

/** The account, the collection and the token that a page is for. */
type Asked = Pick<Replica, 'user' | 'collection' | 'token' | 'filter'>

export class FeedChecks {
  readonly #world: FeedWorld
  readonly #users: readonly (string | null)[]
  readonly #collections: readonly string[]
  /** What each account was allowed to see once, by collection. */
  readonly #ever = new Map<string, Set<string>>()

  constructor(world: FeedWorld, users: readonly (string | null)[], collections: readonly string[]) {
    this.#world = world
    this.#users = users
    this.#collections = collections
    this.observe()
  }

  /** Notes what accounts may list now. To be called after each change. */
  observe(): void {
    for (const user of this.#users)
      for (const collection of this.#collections)
        for (const id of this.#world.visible(user, collection)) this.#everOf(user, collection).add(id)
  }

  /** A page has only what the account may see now, and says only of what it was once allowed to list that it has left. */
  page({ rows }: PulledPage, asked: Asked): void {
    const { user, collection } = asked
    const visible = this.#visible(asked)
    const withheld = this.#world.withheld(user, collection, this.#timeOf(asked))
    for (const id of this.#visible({ ...asked, filter: '' })) this.#everOf(user, collection).add(id)
    for (const row of rows) {
      if ('document' in row)
        for (const name of withheld(String(row.document['_id'])))
          if (!row.without.has(name))
            throw new Error(`leak: ${user} gets ${name} of ${collection}/${String(row.document['_id'])}`)
      const put = 'document' in row ? String(row.document['_id']) : 'rev' in row ? row.id : undefined
      if (put !== undefined && !visible.has(put)) throw new Error(`leak: ${user} gets ${collection}/${put}`)
      if ('left' in row && !this.#everOf(user, collection).has(row.left))
        throw new Error(`leak: ${user} learns of ${collection}/${row.left}`)
    }
  }

  /** A complete replica has what the account may list, with the fields that it sees. */
  complete(replica: Replica): void {
    const { user, collection, records } = replica
    const visible = this.#visible(replica)
    const all = this.#world.data[collection]!
    const withheld = this.#world.withheld(user, collection, this.#timeOf(replica))
    for (const id of records.keys()) if (!visible.has(id)) throw new Error(`too many: ${user} has ${collection}/${id}`)
    for (const id of visible) {
      const { fields } = records.get(id) ?? {}
      if (fields === undefined) throw new Error(`missing: ${user} lacks ${collection}/${id} of (${replica.filter})`)
      const expected = fieldsOf(all.get(id)!, withheld(id))
      if (fields !== expected) throw new Error(`stale: ${user} has ${collection}/${id} as ${fields}, it is ${expected}`)
    }
  }

  #visible(asked: Asked): ReadonlySet<string> {
    const { user, collection, filter } = asked
    return this.#world.visible(user, collection, this.#timeOf(asked), filter)
  }

  /** The time that a page for a token is of. */
  #timeOf({ token }: Pick<Asked, 'token'>): number {
    return Math.max(this.#world.nowMs, token?.reached?.toMs ?? 0, token?.sweep?.toMs ?? 0)
  }

  #everOf(user: string | null, collection: string): Set<string> {
    const key = `${user} ${collection}`
    if (!this.#ever.has(key)) this.#ever.set(key, new Set())
    return this.#ever.get(key)!
  }
}
