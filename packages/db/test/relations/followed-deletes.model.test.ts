/**
 * Goal: whatever the graph, deletes leave what a naive model leaves. Method: random relations between three collections, random
 * documents and deletes of every kind, some on a storage that answers late, compared after each delete.
 */
import { expect, test } from 'vitest'
import { isPannierError, open, type Database } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import { slow } from '../../testing/slow-storage.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

type Fields = Record<string, unknown>

interface ModelRelation {
  readonly from: string
  readonly field: string
  readonly to: string
  readonly many: boolean
  readonly onDelete: 'keep' | 'unset' | 'restrict' | 'cascade'
}

const NAMES = ['a', 'b', 'c']
const IDS = Array.from({ length: 12 }, (_, n) => `d${n}`)

class Model {
  readonly relations: readonly ModelRelation[]
  readonly collections: Map<string, Map<string, Fields>> = new Map(NAMES.map((name) => [name, new Map()]))

  constructor(random: Random) {
    this.relations = NAMES.flatMap((from) =>
      Array.from({ length: random.below(4) }, (_, n) => ({
        from,
        field: `r${n}`,
        to: random.pick(NAMES),
        many: random.chance(0.4),
        onDelete: random.pick(['keep', 'unset', 'unset', 'restrict', 'cascade', 'cascade', 'cascade'] as const),
      })),
    )
  }

  /** False: it is refused, and nothing has changed. */
  delete(name: string, ids: readonly string[]): boolean {
    const gone = new Set<string>()
    const waiting = ids.filter((id) => this.collections.get(name)!.has(id)).map((id) => [name, id] as const)
    const keyOf = (collection: string, id: string): string => `${collection} ${id}`
    for (const [collection, id] of waiting) {
      if (gone.has(keyOf(collection, id))) continue
      gone.add(keyOf(collection, id))
      for (const one of this.#referring(collection, id, 'cascade')) waiting.push([one.relation.from, one.id])
    }
    const left = [...waiting]
      .flatMap(([collection, id]) => [
        ...this.#referring(collection, id, 'restrict'),
        ...this.#referring(collection, id, 'unset'),
      ])
      .filter(({ relation, id }) => !gone.has(keyOf(relation.from, id)))
    if (left.some(({ relation }) => relation.onDelete === 'restrict')) return false
    for (const { relation, id, target } of left) {
      const document = this.collections.get(relation.from)!.get(id)!
      const { [relation.field]: value } = document
      if (Array.isArray(value)) document[relation.field] = value.filter((one) => one !== target)
      else delete document[relation.field]
    }
    for (const [collection, id] of waiting) this.collections.get(collection)!.delete(id)
    return true
  }

  #referring(
    to: string,
    target: string,
    onDelete: string,
  ): { readonly relation: ModelRelation; readonly id: string; readonly target: string }[] {
    return this.relations
      .filter((relation) => relation.to === to && relation.onDelete === onDelete)
      .flatMap((relation) =>
        [...this.collections.get(relation.from)!]
          .filter(([, { [relation.field]: value }]) =>
            relation.many && Array.isArray(value) ? value.includes(target) : value === target,
          )
          .map(([id]) => ({ relation, id, target })),
      )
  }
}

function randomFields(model: Model, name: string, random: Random): Fields {
  const fields: Fields = {}
  for (const { from, field, many } of model.relations) {
    if (from !== name || random.chance(0.3)) continue
    const several = many ? random.chance(0.9) : random.chance(0.1)
    fields[field] = several ? Array.from({ length: random.below(4) }, () => random.pick(IDS)) : random.pick(IDS)
  }
  return fields
}

async function remove(db: Database, model: Model, random: Random): Promise<void> {
  const name = random.pick(NAMES)
  const ids = [...new Set(Array.from({ length: 1 + random.below(3) }, () => random.pick(IDS)))]
  const documents = db.collection<Fields>(name)
  const kind = random.below(4)
  if (kind === 3) {
    const outcomes = await documents.delete(ids, { atomic: false })
    const expected = ids.map((id) => (model.collections.get(name)!.has(id) ? model.delete(name, [id]) : undefined))
    expect(outcomes.map((one) => one && !('error' in one))).toEqual(expected)
    return
  }
  const live = ids.filter((id) => model.collections.get(name)!.has(id))
  const work = [
    () => documents.delete(ids),
    () => documents.upsert(live.map((_id) => ({ _id, _deleted: true }))),
    () => db.transaction((tx) => tx.collection<Fields>(name).delete(ids)),
  ][kind]!
  const isDone = await work().then(
    () => true,
    (error: unknown) => {
      if (!isPannierError(error, 'PANNIER_RELATION_BROKEN')) throw error
      return false
    },
  )
  expect(isDone).toBe(model.delete(name, ids))
}

async function compare(db: Database, model: Model): Promise<void> {
  for (const name of NAMES) {
    const stored = await db.collection<Fields>(name).find().sort('_id').toArray()
    const plain = stored.map(({ _rev: _, ...fields }) => fields)
    const expected = [...model.collections.get(name)!].map(([_id, fields]) => ({ _id, ...fields }))
    expect(plain).toEqual(expected.sort((left, right) => (left._id < right._id ? -1 : 1)))
  }
}

for (const seed of seedsOf('model', 4))
  test(`random deletes, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, async () => {
    const random = seededRandom(seed)
    const model = new Model(random)
    const collections = Object.fromEntries(
      NAMES.map((name) => [
        name,
        {
          relations: Object.fromEntries(
            model.relations
              .filter(({ from }) => from === name)
              .map(({ field, to, many, onDelete }) => [field, { to, many, onDelete }]),
          ),
        },
      ]),
    )
    const storage = seed % 3 === 0 ? slow(memory(), seed) : memory()
    const db = (await open('model', { storage, collections })) as Database
    for (let round = 0; round < 12; round++) {
      for (const name of NAMES) {
        const documents = IDS.filter(() => random.chance(0.6)).map((_id) => ({
          _id,
          ...randomFields(model, name, random),
        }))
        await db.collection<Fields>(name).upsert(documents)
        for (const { _id, ...fields } of documents) model.collections.get(name)!.set(_id, structuredClone(fields))
      }
      if (random.chance(0.3)) await db.flush()
      for (let deletes = random.below(4); deletes >= 0; deletes--) {
        await remove(db, model, random)
        await compare(db, model)
      }
    }
    expect((await db.check()).problems).toEqual([])
    await db.close()
  })
