/**
 * Goal: a filtered replication brings what it lets through and nothing else, however often it is aborted and whatever is written
 * meanwhile. Method: random edits at the source beside replications with a random filter, on a storage that answers later, between
 * collections and over HTTP; then one that is not disturbed.
 */
import { expect, test } from 'vitest'
import { isPannierError } from '../../src/base/errors.ts'
import type { Collection } from '../../src/database/collection/collection.ts'
import type { JsonObject } from '../../src/database/collection/document-types.ts'
import type { ReplicationOptions } from '../../src/database/replication/replication-options.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { couchFetch } from '../../testing/couch-fetch.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import { openCold } from '../../testing/slow-database.ts'
import { pause, slow } from '../../testing/slow-storage.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

const IDS = 40
const ROUNDS = 8
const EDITS = 6
const ABORT_TURNS_MAX = 300

interface Revision {
  readonly _id: string
  readonly n: number
  readonly deleted: boolean
}

interface Filtering {
  readonly options: Pick<ReplicationOptions, 'ids' | 'selector' | 'tombstones' | 'filter'>
  readonly lets: (revision: Revision) => boolean
}

const FILTERINGS: readonly Filtering[] = [
  { options: { selector: { n: { $lt: 5 } } }, lets: ({ n, deleted }) => deleted || n < 5 },
  {
    options: { selector: { n: { $lt: 5 } }, tombstones: 'selected' },
    lets: ({ n, deleted }) => !deleted && n < 5,
  },
  {
    options: { selector: { $or: [{ n: { $gte: 5 } }, { _deleted: true }] } },
    lets: ({ n, deleted }) => deleted || n >= 5,
  },
  {
    options: { filter: ({ n }: JsonObject) => n === 3 || n === 4 },
    lets: ({ n, deleted }) => !deleted && (n === 3 || n === 4),
  },
  { options: { ids: ['d1', 'd2', 'd3', 'd30'] }, lets: ({ _id }) => ['d1', 'd2', 'd3', 'd30'].includes(_id) },
]

for (const seed of seedsOf('model')) {
  test(`filtered replication, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, () => replicateFiltered(seed))
}

async function replicateFiltered(seed: number): Promise<void> {
  const random = seededRandom(seed)
  const { options, lets } = random.pick(FILTERINGS)
  const db = await openCold('x', slow(memory(), random), { checkpoints: random })
  const source = db.collection<JsonObject>('source')
  const target = db.collection<JsonObject>('target')
  const overHttp = random.chance(0.5) && { fetch: couchFetch(db) }
  const replicate = async (signal?: AbortSignal): Promise<unknown> => {
    const settings = { ...options, ...overHttp, batchSize: 5, ...(signal && { signal }) }
    return target.replicate({ from: overHttp ? 'https://couch.test/source' : source, ...settings })
  }
  const writer = new Writer(source, random)
  await writer.edit()
  for (let round = 0; round < ROUNDS; round++) {
    const controller = new AbortController()
    const aborted = random.chance(0.6) ? pause(random, ABORT_TURNS_MAX).then(() => controller.abort()) : undefined
    const replicated = replicate(controller.signal).catch((error: unknown) => {
      if (!isPannierError(error, 'PANNIER_ABORTED')) throw error
    })
    await Promise.all([aborted, replicated, writer.edit()])
  }
  await replicate()
  for (const [id, revisions] of writer.written) {
    const [newest, winner] = [...revisions].at(-1)!
    const found = await target.get(id)
    if (lets(winner)) {
      expect(found?._rev, id).toBe(winner.deleted ? undefined : newest)
      expect(found?.['n'], id).toBe(winner.deleted ? undefined : winner.n)
    } else if (found !== undefined) expect(lets(revisions.get(found._rev)!), `${id} ${found._rev}`).toBe(true)
  }
  expect((await db.check()).problems).toEqual([])
  await db.close()
}

/** Knows all revisions that it has written, by id. */
class Writer {
  readonly written = new Map<string, Map<string, Revision>>()
  readonly #source: Collection<JsonObject>
  readonly #random: Random

  constructor(source: Collection<JsonObject>, random: Random) {
    this.#source = source
    this.#random = random
  }

  async edit(): Promise<void> {
    const random = this.#random
    for (let edit = 0; edit < EDITS; edit++) {
      const ids = new Set(Array.from({ length: 1 + random.below(12) }, () => `d${random.below(IDS)}`))
      if (random.chance(0.25)) {
        for (const result of await this.#source.delete([...ids]))
          if (result !== undefined) this.#add(result.rev, { _id: result.id, n: -1, deleted: true })
      } else {
        const items = [...ids].map((_id) => ({ _id, n: random.below(10) }))
        const results = await this.#source.upsert(items)
        results.forEach(({ rev }, at) => this.#add(rev, { ...items[at]!, deleted: false }))
      }
    }
  }

  #add(rev: string, revision: Revision): void {
    const revisions = this.written.get(revision._id) ?? new Map<string, Revision>()
    this.written.set(revision._id, revisions.set(rev, revision))
  }
}
