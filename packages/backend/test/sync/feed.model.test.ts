/**
 * Goal: after every complete pull a replica has exactly the records that the account may list, and each record was visible when it was
 * handed out. Method: random rules, edits of records, relations and accounts, clocks, pages of every size, lost answers, restarts, rule
 * changes, forgotten losses, bodies that a replica has already; `evaluate` says what each account sees.
 */
import { expect, test } from 'vitest'
import { seedsOf } from '../../../../tools/test/seeds.ts'
import { seededRandom, type Random } from '../../../db/testing/random.ts'
import type { Has } from '../../src/sync/feed-page.ts'
import type { PulledPage } from '../../src/sync/feed.ts'
import type { FeedToken } from '../../src/sync/feed-token.ts'
import { FeedWorld, randomRule, USERS } from './feed-world.ts'

class Replica {
  readonly user: string | null
  readonly records = new Map<string, ReplicaRecord>()
  token: FeedToken | undefined

  constructor(user: string | null) {
    this.user = user
  }

  apply({ rows, token }: PulledPage): void {
    for (const row of rows) {
      if ('left' in row) this.records.delete(row.left)
      else if ('end' in row) {
        for (const [id, { mark }] of this.records) if (mark !== row.end) this.records.delete(id)
      } else if ('rev' in row) this.records.set(row.id, { ...this.records.get(row.id)!, mark: row.mark })
      else {
        const { _id: id, _rev: rev } = row.document
        this.records.set(String(id), { rev: String(rev), fields: fieldsOf(row.document), mark: row.mark })
      }
    }
    // As it comes back from the network.
    this.token = JSON.parse(JSON.stringify(token)) as FeedToken
  }
}

interface ReplicaRecord {
  readonly rev: string
  readonly fields: string
  readonly mark: string | undefined
}

function fieldsOf(record: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(record).filter(([name]) => name !== 'id' && !name.startsWith('_'))
  return JSON.stringify(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

class Simulation {
  readonly #random: Random
  readonly #world: FeedWorld
  readonly #replicas: readonly Replica[]
  /** What each account was allowed to see once. */
  readonly #ever = new Map<string | null, Set<string>>()
  complete = 0
  /** Bodies that were left out. */
  omitted = 0

  constructor(random: Random, world: FeedWorld) {
    this.#random = random
    this.#world = world
    this.#replicas = ['u1', 'u1', 'u2', 'u3', null].map((user) => new Replica(user))
    for (const user of [...USERS, null]) this.#ever.set(user, new Set())
    this.#observe()
  }

  async run(steps: number): Promise<void> {
    const { below, pick, chance } = this.#random
    for (let step = 0; step < steps; step++) {
      const what = below(100)
      if (what < 42) {
        await this.#commit()
      } else if (what < 84) {
        const limits = chance(0.4) ? undefined : { rows: 1 + below(3), entries: pick([1, 2, 4, 9, 1000]) }
        await this.#pull(pick(this.#replicas), limits, chance(0.1))
      } else if (what < 92) {
        this.#world.nowMs += (1 + below(3)) * 1000
        this.#observe()
      } else if (what < 95) await this.#world.restart()
      else if (what < 98) {
        const built = Math.max(0, ...this.#replicas.map(({ token }) => token?.builtTo ?? 0))
        await this.#world.feed.forget(this.#world.docs, below(built + 1))
      } else {
        this.#world.setRule(randomRule(this.#random))
        this.#observe()
      }
    }
    for (const replica of this.#replicas)
      for (let pages = 0; !(await this.#pull(replica, { rows: 2, entries: 7 }, false)).isComplete; pages++)
        expect(pages).toBeLessThan(300)
  }

  async #commit(): Promise<void> {
    const edits = Array.from({ length: this.#random.pick([1, 1, 2, 3]) }, () => this.#world.edit(this.#random))
    // One document once in a commit: the library would refuse another base.
    await this.#world.commit([...new Map(edits.map((edit) => [`${edit.collection}/${edit.id}`, edit])).values()])
    this.#observe()
  }

  async #pull(
    replica: Replica,
    limits: { rows: number; entries: number } | undefined,
    isLost: boolean,
  ): Promise<PulledPage> {
    const { user } = replica
    const world = this.#world
    const wanted = { definition: world.docs, token: replica.token }
    const hasRevision = (id: string, rev: string): boolean => replica.records.get(id)?.rev === rev
    const ask = async (has?: Has): Promise<PulledPage> => {
      const [page] = await world.feed.pull(world.actor(user), [has === undefined ? wanted : { ...wanted, has }], limits)
      return page!
    }
    const way = this.#random.pick(['bodies', 'revisions', 'known'])
    let page = await ask(way === 'bodies' ? undefined : way === 'known' ? hasRevision : () => true)
    const isKnown = page.rows.every((row) => !('rev' in row) || hasRevision(row.id, row.rev))
    if (way === 'revisions' && !isKnown) {
      if (this.#random.chance(0.5)) await this.#commit()
      page = await ask(hasRevision)
    }
    const visible = world.visible(user)
    for (const row of page.rows) {
      if ('document' in row) expect([...visible]).toContain(row.document['_id'])
      if ('rev' in row) {
        expect([...visible]).toContain(row.id)
        this.omitted++
      }
      if ('left' in row) expect([...this.#ever.get(user)!]).toContain(row.left)
    }
    if (isLost) return page
    const before = JSON.stringify(replica.token)
    replica.apply(page)
    if (page.isComplete) {
      this.complete++
      const expected = new Map([...visible].map((id) => [id, fieldsOf(world.data['docs']!.get(id)!)]))
      const found = new Map(Array.from(replica.records, ([id, { fields }]) => [id, fields]))
      expect([user, found]).toEqual([user, expected])
    } else expect(JSON.stringify(replica.token)).not.toBe(before)
    return page
  }

  #observe(): void {
    for (const [user, ids] of this.#ever) for (const id of this.#world.visible(user)) ids.add(id)
  }
}

test('a replica has exactly what its account may list', async () => {
  let [complete, omitted] = [0, 0]
  for (const seed of seedsOf('model', 20)) {
    const random = seededRandom(seed)
    const rule = randomRule(random)
    const world = await FeedWorld.make(random, rule)
    const simulation = new Simulation(random, world)
    try {
      await simulation.run(20 + (seed % 60))
    } catch (error) {
      throw new Error(`seed ${seed} (SEED=${seed} SEEDS=1), rule ${world.rule}`, { cause: error })
    } finally {
      await world.close()
    }
    complete += simulation.complete
    omitted += simulation.omitted
  }
  expect([complete, omitted].every((count) => count > 0)).toBe(true)
})
