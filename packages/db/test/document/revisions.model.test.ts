/**
 * Goal: whatever is written, replicated, purged and resolved on several replicas, in any order, each answers as the naive model
 * of revision trees does, its indexes and its integrity check agree, and replicas that exchange everything converge.
 * Method: seeded random histories; a failure names its seed (SEED=… runs that one alone).
 */
import { expect, test } from 'vitest'
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import { openKeyValueStore } from '../../src/kv/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { countingEnvironment, databaseOver } from '../../testing/model-database.ts'
import { modelKeyValueStore } from '../../testing/model-key-value-store.ts'
import { ModelDocument } from '../../testing/model-revisions.ts'
import { seededRandom } from '../../testing/random.ts'
import type { Random } from '../../testing/random.ts'
import { openCold } from '../../testing/slow-database.ts'
import { slow } from '../../testing/slow-storage.ts'
import { soloCoordinator } from '../kv/solo-coordinator.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

const IDS = ['a', 'b', 'ü', 'long'.repeat(30)]
const REPLICAS = 3
const STEPS = 60

interface Settings {
  readonly history: boolean
  readonly revisionsLimit: number
}

type Docs = Collection<{ n?: number }>

class Replica {
  readonly docs: Docs
  readonly model = new Map<string, ModelDocument>()
  readonly #random: Random
  readonly #settings: Settings

  constructor(db: Database, name: string, settings: Settings, random: Random) {
    this.docs = db.collection(name, { ...settings, indexes: ['n', '-n'] })
    this.#settings = settings
    this.#random = random
  }

  document(id: string): ModelDocument {
    let document = this.model.get(id)
    if (document === undefined) this.model.set(id, (document = new ModelDocument()))
    return document
  }

  add(id: string, path: readonly string[], deleted: boolean, content: object): void {
    const { revisionsLimit, history } = this.#settings
    this.document(id).add(path, deleted, content as Record<string, unknown>, revisionsLimit, history)
  }

  content(): { n: number } {
    return { n: this.#random.below(6) }
  }

  /** Put, insert, upsert: of the winner, another leaf, or a revision that is none. */
  async edit(id: string): Promise<void> {
    const random = this.#random
    const document = this.document(id)
    const { live } = document
    const leaves = document.leaves()
    const content = this.content()
    const deleted = random.chance(0.2)
    const input = { _id: id, ...content, ...(deleted && { _deleted: true as const }) }
    const mode = random.pick(['put', 'put', 'put', 'insert', 'upsert'] as const)
    const revs = [...document.revisions.keys(), '3-unknown']
    const _rev =
      mode === 'put' && random.chance(0.8)
        ? random.pick(leaves.length > 0 && random.chance(0.8) ? leaves : revs)
        : undefined
    const allowed =
      mode === 'upsert' ||
      (mode === 'insert'
        ? live === undefined
        : _rev === undefined
          ? leaves.length === 0 || (live === undefined && !deleted)
          : leaves.includes(_rev))
    const written = this.docs[mode]({ ...input, ...(_rev !== undefined && { _rev }) })
    if (!allowed) return expect(written).rejects.toMatchObject({ code: 'PANNIER_CONFLICT' })
    const { rev } = await written
    this.add(id, path(rev, _rev ?? leaves[0]), deleted, content)
  }

  async update(id: string): Promise<void> {
    const { live } = this.document(id)
    const content = this.content()
    const written = this.docs.update(id, () => content)
    if (live === undefined) return expect(written).rejects.toMatchObject({ code: 'PANNIER_NOT_FOUND' })
    this.add(id, path((await written).rev, live), false, content)
  }

  async delete(id: string): Promise<void> {
    const document = this.document(id)
    const live = document.liveLeaves()
    const some = live.filter(() => this.#random.chance(0.6))
    const references = this.#random.chance(0.5) ? [id] : some.map((_rev) => ({ _id: id, _rev }))
    const results = await this.docs.delete(references)
    const targets = references[0] === id ? live.slice(0, 1) : some
    results.slice(0, targets.length).forEach((result, at) => this.add(id, path(result!.rev, targets[at]), true, {}))
    if (targets.length === 0) expect(results.every((result) => result === undefined)).toBe(true)
  }

  async resolve(id: string): Promise<void> {
    const document = this.document(id)
    const live = document.liveLeaves()
    const content = this.content()
    const resolved = this.docs.resolve(id, (leaves) => {
      expect(leaves.map(({ _rev }) => _rev)).toStrictEqual(live)
      return content
    })
    if (live.length === 0) return expect(resolved).rejects.toMatchObject({ code: 'PANNIER_NOT_FOUND' })
    const { rev } = await resolved
    this.add(id, path(rev, live[0]), false, content)
    for (const { _rev, _revisions } of await this.leavesOf(id)) {
      const parent = `${_revisions.start - 1}-${_revisions.ids[1]}`
      if (live.slice(1).includes(parent)) this.add(id, path(_rev, parent), true, {})
    }
    expect(document.liveLeaves()).toStrictEqual([rev])
  }

  async purge(id: string): Promise<void> {
    const document = this.document(id)
    const leaves = document.leaves().filter(() => this.#random.chance(0.5))
    const before = [...document.revisions.keys()]
    const whole = this.#random.chance(0.3)
    const { purged, gone: isGone } = await this.docs.purge(id, whole ? undefined : leaves)
    for (const leaf of whole ? document.leaves() : leaves) document.purge(leaf, this.#settings.revisionsLimit)
    // Beside them the limit may forget others, which only what was purged had kept.
    const gone = before.filter((rev) => !document.revisions.has(rev)).sort()
    if (this.#settings.revisionsLimit === 1000) expect([...purged].sort()).toStrictEqual(gone)
    expect(purged.every((rev) => gone.includes(rev))).toBe(true)
    expect(isGone).toStrictEqual(before.length > 0 && document.revisions.size === 0)
  }

  async compact(): Promise<void> {
    await this.docs.compact()
    for (const document of this.model.values()) document.compact()
  }

  async leavesOf(id: string): Promise<readonly Leaf[]> {
    const results = await this.docs.getRevisions(id, 'all', { revs: true })
    return results.map((result) => (result as unknown as { ok: Leaf }).ok)
  }

  /** Takes up leaves of another replica, in any order, some with less of their history than is known, some twice. */
  async pull(source: Replica): Promise<void> {
    const random = this.#random
    const batch: Leaf[] = []
    for (const id of IDS) {
      if (random.chance(0.4)) continue
      for (const leaf of await source.leavesOf(id)) {
        if (random.chance(0.3)) continue
        const { start, ids } = leaf._revisions
        const known = random.chance(0.15) ? ids.slice(0, 1 + random.below(ids.length)) : ids
        batch.splice(random.below(batch.length + 1), 0, { ...leaf, _revisions: { start, ids: known } })
        if (random.chance(0.1)) batch.push(batch[0]!)
      }
    }
    await this.take(batch)
  }

  async take(batch: readonly Leaf[]): Promise<void> {
    await this.docs.put(batch, { newEdits: false })
    // The library forgets old revisions at the end of a batch.
    for (const { _id, _rev, _revisions, _deleted = false, ...content } of batch) {
      this.document(_id).add(revisionsOf(_revisions), _deleted, content, Infinity, this.#settings.history)
    }
    for (const { _id } of batch) this.document(_id).stem(this.#settings.revisionsLimit)
  }

  /** Answers as the model does. */
  async compare(): Promise<void> {
    const { docs, model } = this
    const live: { id: string; n: unknown }[] = []
    const conflicts: unknown[] = []
    for (const id of [...IDS].sort()) {
      const document = this.document(id)
      const leaves = await this.leavesOf(id)
      expect(
        leaves.map(({ _rev }) => _rev),
        `leaves of ${id}`,
      ).toStrictEqual(document.leaves())
      for (const { _id, _rev, _revisions, _deleted = false, ...content } of leaves) {
        expect(revisionsOf(_revisions), `history of ${_rev}`).toStrictEqual(document.path(_rev))
        expect([_deleted, content], _rev).toStrictEqual([document.deleted(_rev), document.content(_rev)])
      }
      expect((await docs.get(id))?._rev, 'the winner').toStrictEqual(document.live)
      const [rev, ...others] = document.liveLeaves()
      if (rev !== undefined) live.push({ id, n: document.content(rev)!['n'] })
      if (others.length > 0) conflicts.push({ id, rev, conflicts: others })
      for (const known of document.revisions.keys()) {
        const [read] = await docs.getRevisions(id, [known])
        expect('ok' in read!, `content of ${known}`).toStrictEqual(document.content(known) !== undefined)
      }
      expect(await docs.revsDiff({ [id]: [...document.revisions.keys()] })).toStrictEqual({})
    }
    expect(await docs.conflicts()).toStrictEqual(conflicts)
    for (let n = 0; n < 6; n++) {
      const found = (await docs.find({ n }).toArray()).map(({ _id }) => _id).sort()
      expect(found, `documents with ${n}`).toStrictEqual(live.filter((one) => one.n === n).map(({ id }) => id))
    }
    expect(await docs.find().count()).toStrictEqual(live.length)
    expect(model.size <= IDS.length).toBe(true)
  }
}

interface Leaf {
  readonly _id: string
  readonly _rev: string
  readonly _deleted?: boolean
  readonly _revisions: { readonly start: number; readonly ids: readonly string[] }
}

function revisionsOf({ start, ids }: Leaf['_revisions']): string[] {
  return ids.map((id, at) => `${start - at}-${id}`)
}

function path(rev: string, parent: string | undefined): string[] {
  expect(Number.parseInt(rev, 10)).toStrictEqual(parent === undefined ? 1 : Number.parseInt(parent, 10) + 1)
  return parent === undefined ? [rev] : [rev, parent]
}

async function runHistory(db: Database, settings: Settings, random: Random): Promise<void> {
  const replicas = Array.from({ length: REPLICAS }, (_, at) => new Replica(db, `replica${at}`, settings, random))
  for (let step = 0; step < STEPS; step++) {
    const replica = random.pick(replicas)
    const id = random.pick(IDS)
    const choice = random.next()
    if (choice < 0.35) await replica.edit(id)
    else if (choice < 0.5) await replica.update(id)
    else if (choice < 0.6) await replica.delete(id)
    else if (choice < 0.66 && settings.revisionsLimit > 1) await replica.resolve(id)
    else if (choice < 0.7) await replica.purge(id)
    else if (choice < 0.72) await replica.compact()
    else if (choice < 0.74) await replica.docs.dropIndex(random.pick(['n', '-n']))
    else await replica.pull(random.pick(replicas))
    if (step % 15 === 14) await replica.compare()
  }
  for (const replica of replicas) await replica.compare()
  for (const source of replicas) {
    for (const target of replicas) for (const id of IDS) await target.take(await source.leavesOf(id))
  }
  for (const source of replicas) {
    for (const target of replicas) for (const id of IDS) await target.take(await source.leavesOf(id))
  }
  for (const replica of replicas) {
    await replica.compare()
    for (const id of settings.revisionsLimit < 1000 ? [] : IDS) {
      expect(await replica.leavesOf(id), 'replicas converge').toStrictEqual(await replicas[0]!.leavesOf(id))
    }
  }
  expect((await db.check()).problems).toStrictEqual([])
}

const SETTINGS: readonly Settings[] = [
  { history: false, revisionsLimit: 1000 },
  { history: true, revisionsLimit: 1000 },
  { history: false, revisionsLimit: 3 },
  { history: true, revisionsLimit: 2 },
  { history: true, revisionsLimit: 4 },
  { history: false, revisionsLimit: 1 },
]

for (const settings of SETTINGS) {
  for (const [where, openDatabase, share] of [
    ['a store that misses', openModel, 2],
    ['the engine', openEngine, 2],
    ['a storage that answers later', openSlow, 1],
  ] as const) {
    test(`histories on replicas, ${JSON.stringify(settings)}, over ${where}`, async () => {
      const seeds = seedsOf('model', share)
      for (const seed of seeds) {
        const db = await openDatabase(seed)
        try {
          await runHistory(db, settings, seededRandom(seed))
        } catch (error) {
          expect.fail(`SEED=${seed}: ${error instanceof Error ? error.stack : String(error)}`)
        } finally {
          await db.close()
        }
      }
    })
  }
}

async function openModel(seed: number): Promise<Database> {
  return databaseOver(modelKeyValueStore({ missChance: 0.4, seed }), countingEnvironment())
}

async function openEngine(): Promise<Database> {
  const environment = countingEnvironment()
  const store = await openKeyValueStore({
    store: await memory().open('x'),
    coordinator: soloCoordinator(),
    environment,
    cacheBytesMax: 0,
    durability: 'relaxed',
  })
  return databaseOver(store, environment, () => store.check())
}

function openSlow(seed: number): Promise<Database> {
  return openCold('x', slow(memory(), seed), { checkpoints: seededRandom(seed) })
}
