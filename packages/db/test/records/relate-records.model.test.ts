/**
 * Goal: whatever relations a database has by now, deletes leave what a naive model leaves, and touch what loses an id. Method: random
 * relations between three collections, which change between random documents and deletes, some on a storage that answers late.
 */
import { expect, test } from 'vitest'
import { isPannierError, open, type Database } from '../../src/index.ts'
import { guarded, relateRecords, type RecordRelation } from '../../src/internal.ts'
import { memory } from '../../src/memory.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import { slow } from '../../testing/slow-storage.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

type Fields = Record<string, unknown>

const NAMES = ['a', 'b', 'c']
const IDS = Array.from({ length: 12 }, (_, n) => `d${n}`)

interface ModelRelation extends RecordRelation {
  readonly from: string
  readonly field: string
}

function randomRelations(random: Random): ModelRelation[] {
  return NAMES.flatMap((from) =>
    Array.from({ length: random.below(4) }, (_, n) => ({
      from,
      field: `r${n}`,
      to: random.chance(0.2) ? NAMES.slice(random.below(2)) : random.pick(NAMES),
      many: random.chance(0.5),
      cascade: random.chance(0.6),
      required: random.chance(0.3),
      touch: (record) => void (record['touched'] = true),
    })),
  )
}

class Model {
  relations: readonly ModelRelation[] = []
  readonly records: Map<string, Map<string, Fields>> = new Map(NAMES.map((name) => [name, new Map()]))

  /** False: it is refused, and nothing has changed. */
  delete(name: string, ids: readonly string[]): boolean {
    const live = ids.filter((id) => this.records.get(name)!.has(id))
    const gone = new Set(live.map((id) => `${name} ${id}`))
    const affected = (relation: ModelRelation): { readonly id: string; readonly left: readonly string[] }[] =>
      Array.from(this.records.get(relation.from)!).flatMap(([id, fields]) => {
        if (gone.has(`${relation.from} ${id}`)) return []
        const held = idsIn(relation, fields[relation.field])
        const left = held.filter((one) => ![relation.to].flat().some((to) => gone.has(`${to} ${one}`)))
        return left.length < held.length ? [{ id, left }] : []
      })
    for (let before = -1; before < gone.size;) {
      before = gone.size
      for (const relation of this.relations.filter(({ cascade }) => cascade))
        for (const { id, left } of affected(relation)) if (left.length === 0) gone.add(`${relation.from} ${id}`)
    }
    const changes = this.relations.map((relation) => ({ relation, records: affected(relation) }))
    if (changes.some(({ relation, records }) => relation.required && records.some(({ left }) => left.length === 0)))
      return false
    for (const { relation, records } of changes)
      for (const { id, left } of records) {
        const record = this.records.get(relation.from)!.get(id)!
        record[relation.field] = relation.many ? left : ''
        record['touched'] = true
      }
    for (const key of gone) {
      const [from, id] = key.split(' ') as [string, string]
      this.records.get(from)!.delete(id)
    }
    return true
  }
}

function idsIn({ many }: RecordRelation, value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  return many && Array.isArray(value) ? value : []
}

function randomFields(model: Model, name: string, random: Random): Fields {
  const fields: Fields = {}
  for (const { from, field, many } of model.relations) {
    if (from !== name || random.chance(0.2)) continue
    fields[field] = many
      ? [...new Set(Array.from({ length: random.below(4) }, () => random.pick(IDS)))]
      : random.pick([...IDS, ''])
  }
  return fields
}

async function change(db: Database, model: Model, random: Random): Promise<void> {
  model.relations = randomRelations(random)
  const byCollection: Record<string, Record<string, RecordRelation>> = {}
  for (const { from, field, ...relation } of model.relations) (byCollection[from] ??= {})[field] = relation
  const before = random.chance(0.3) ? relateRecords(db, {}) : undefined
  await Promise.all([before, relateRecords(db, byCollection)])
  for (const name of NAMES) {
    const indexes = (await db.collection(name).indexes()).map((one) => `${one.name}, many: ${one.multi}`)
    const wanted = model.relations.filter(({ from }) => from === name)
    const exists = (await db.collections()).includes(name)
    expect(indexes.toSorted()).toEqual(
      exists ? wanted.map(({ field, many }) => `relation ${field}, many: ${many}`).toSorted() : [],
    )
  }
  // Values have the types of their fields.
  for (const name of NAMES) {
    const ids = [...model.records.get(name)!.keys()]
    for (const id of ids) model.records.get(name)!.set(id, randomFields(model, name, random))
    await db.collection<Fields>(name).upsert(ids.map((_id) => ({ _id, ...model.records.get(name)!.get(_id) })))
  }
}

async function remove(db: Database, model: Model, random: Random): Promise<void> {
  const name = random.pick(NAMES)
  const ids = [...new Set(Array.from({ length: 1 + random.below(3) }, () => random.pick(IDS)))]
  const work = [
    () => guarded(db.collection<Fields>(name), () => undefined).delete(ids),
    () => db.transaction((tx) => guarded(tx.collection<Fields>(name), () => undefined).delete(ids)),
  ][random.below(2)]!
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
    const expected = [...model.records.get(name)!].map(([_id, fields]) => ({ _id, ...fields }))
    expect(stored.map(({ _rev: _, ...fields }) => fields)).toEqual(
      expected.sort((left, right) => (left._id < right._id ? -1 : 1)),
    )
  }
}

for (const seed of seedsOf('model', 6))
  test(`random relations and deletes, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, async () => {
    const random = seededRandom(seed)
    const model = new Model()
    const storage = seed % 3 === 0 ? slow(memory(), 3) : memory()
    const db = (await open(`records-${seed}`, { storage })) as Database
    for (let step = 0; step < 60; step++) {
      if (step % 15 === 0) await change(db, model, random)
      if (random.chance(0.6)) {
        const name = random.pick(NAMES)
        const ids = [...new Set(Array.from({ length: 4 }, () => random.pick(IDS)))]
        for (const id of ids) model.records.get(name)!.set(id, randomFields(model, name, random))
        await db.collection<Fields>(name).upsert(ids.map((_id) => ({ _id, ...model.records.get(name)!.get(_id) })))
      } else await remove(db, model, random)
      await compare(db, model)
    }
    expect((await db.check()).ok).toBe(true)
    await db.close()
  })
