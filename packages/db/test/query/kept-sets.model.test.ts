/**
 * Goal: sets that are kept from query to query are right for each snapshot. Two handles update, delete and purge. A
 * collection is dropped and made again, and transactions are rolled back.
 * Method: queries that need the sets, and a naive model that knows in which order documents came.
 */
import { expect, test } from 'vitest'
import type { Collection } from '../../src/database/collection/collection.ts'
import { createQuery, type Query, type Selector } from '../../src/query/query.ts'
import { modelKeyValueStore } from '../../testing/model-key-value-store.ts'
import { QueryFixture, type Document } from '../../testing/query-fixture.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import { openHandles } from '../several-handles.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

const TAGS = ['a', 'b', 'c']
const TAG_INDEX = { on: 'tags', multi: true } as const

for (const seed of seedsOf('model')) {
  test(`two handles write and query, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, () => compareHandles(seed))
  test(`snapshots of any age, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, () => compareSnapshots(seed))
}

/** Sometimes without tags, or with none in it. */
function randomItem(random: Random, _id: string): Document {
  const tags = TAGS.filter(() => random.below(2) === 0)
  return random.below(4) === 0 ? { _id } : { _id, tags }
}

/** What a collection is to hold. */
class Model {
  /** How often it was asked by a plan with the set of documents that lack the field. */
  timesMissing = 0
  readonly documents = new Map<string, Document>()
  /** Each id that has a number, also of deleted documents. */
  readonly numbers = new Map<string, number>()
  #last = 0

  put(document: Document): void {
    this.documents.set(document._id, document)
    if (!this.numbers.has(document._id)) this.numbers.set(document._id, ++this.#last)
  }

  copy(): Model {
    const copy = new Model()
    for (const [id, number] of this.numbers) copy.numbers.set(id, number)
    for (const [id, document] of this.documents) copy.documents.set(id, document)
    return copy
  }

  all(): string[] {
    return [...this.documents.keys()].sort((left, right) => this.numbers.get(left)! - this.numbers.get(right)!)
  }

  without(tags: readonly string[]): string[] {
    return this.all().filter((id) => {
      const own = this.documents.get(id)!['tags'] as readonly string[] | undefined
      return own !== undefined && tags.every((tag) => !own.includes(tag))
    })
  }
}

async function checkAnswers(
  find: (selector: Selector<Document>) => Query<Document>,
  model: Model,
  random: Random,
): Promise<void> {
  const tags = TAGS.filter(() => random.chance(0.5))
  const expected = tags.length === 0 ? model.all() : model.without(tags)
  const query = find(tags.length === 0 ? {} : { tags: { $nin: tags } })
  expect(await query.count()).toBe(expected.length)
  const { plan } = await query.explain()
  if (JSON.stringify(plan).includes('"missing field"')) model.timesMissing++
  const skip = random.below(expected.length + 1)
  const page = await query.sort('$created').skip(skip).limit(5).toArray()
  expect(page.map(({ _id }) => _id)).toEqual(expected.slice(skip, skip + 5))
  const reversed = await query.sort('-$created').toArray()
  expect(reversed.map(({ _id }) => _id)).toEqual(expected.toReversed())
}

async function compareHandles(seed: number): Promise<void> {
  const random = seededRandom(seed)
  const handles = await openHandles(random, `kept sets ${seed}`, 2)
  let model = new Model()
  for (let step = 0; step < 60; step++) {
    const db = random.pick(handles)
    const items = db.collection('items', { indexes: [TAG_INDEX] }) as Collection<Document>
    const some = Array.from({ length: 1 + random.below(30) }, () => randomItem(random, `i${random.below(200)}`))
    const ids = [...model.numbers.keys()]
    switch (random.below(10)) {
      case 0:
        for (const id of ids.filter(() => random.chance(0.1))) {
          await items.purge(id)
          model.documents.delete(id)
          model.numbers.delete(id)
        }
        break
      case 1:
        if (step < 20 && (await db.dropCollection('items'))) {
          model = new Model()
          const source = await items.declarations.access.openSource()
          expect(source.kept!.sets).toBeUndefined()
          source.release()
        }
        break
      case 2:
      case 3:
        for (const id of [...model.documents.keys()].filter(() => random.chance(0.1))) {
          await items.delete(id)
          model.documents.delete(id)
        }
        break
      case 4: {
        const failed = db.transaction(async (tx) => {
          await tx.collection<Document>('items').upsert(some)
          await tx
            .collection<Document>('items')
            .find({ tags: { $ne: 'a' } })
            .sort('$created')
            .toArray()
          throw new Error('rolled back')
        })
        await expect(failed).rejects.toThrow('rolled back')
        break
      }
      default:
        for (const document of some) {
          await items.upsert(document)
          model.put(document)
        }
    }
    await checkAnswers((selector) => items.find(selector), model, random)
  }
  expect(model.timesMissing).toBeGreaterThan(0)
  for (const db of handles) await db.close()
}

async function compareSnapshots(seed: number): Promise<void> {
  const random = seededRandom(seed)
  const fixture = new QueryFixture(modelKeyValueStore({ seed, missChance: random.pick([0, 0.3, 1]) }), [TAG_INDEX])
  const model = new Model()
  const held: { readonly source: ReturnType<QueryFixture['source']>; readonly model: Model }[] = []
  for (let step = 0; step < 40; step++) {
    const some = Array.from({ length: random.below(20) }, () => randomItem(random, `i${random.below(200)}`))
    for (const document of some) {
      await fixture.upsert([document])
      model.put(document)
    }
    const deleted = [...model.documents.keys()].filter(() => random.chance(0.1))
    if (deleted.length > 0) await fixture.delete(deleted)
    for (const id of deleted) model.documents.delete(id)
    if (held.length < 4) held.push({ source: fixture.source(), model: model.copy() })
    const [old] = held.splice(random.below(held.length), 1)
    const kept = { ...old!.source, release: () => {} }
    await checkAnswers((selector) => createQuery<Document>(() => kept, selector), old!.model, random)
    old!.source.release()
    await checkAnswers((selector) => fixture.find(selector), model, random)
  }
  expect(model.timesMissing).toBeGreaterThan(0)
  for (const { source } of held) source.release()
  await fixture.store.close()
}
