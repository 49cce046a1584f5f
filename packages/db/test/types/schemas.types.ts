/** Goal: schemas type what is written and read, wherever a collection is named. Checked by `npm run types`. */
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import type { JsonObject, Stored } from '../../src/database/collection/document-types.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { holds } from './equal.ts'
import type { Same } from './equal.ts'

const Person = z.object({
  name: z.string(),
  age: z.number().default(18),
  address: z.object({ city: z.string() }).optional(),
})
const City = v.object({ name: v.string(), population: v.optional(v.number(), 0) })
const Tag = type({ text: 'string', weight: 'number = 1' })

async function opened() {
  return await open('x', {
    storage: memory(),
    collections: {
      people: {
        schema: Person,
        version: 2,
        migrations: { 2: (doc) => ({ ...doc, name: String(doc['name']) }) },
        indexes: ['age', ['address.city', '-age']],
      },
      cities: { schema: City, indexes: ['-population'] },
      tags: { schema: Tag },
      log: { indexes: ['any.thing'] },
    },
  })
}

export async function typed(): Promise<void> {
  const db = await opened()
  const people = db.collection('people')
  const ann = await people.get('ann')
  holds<Same<typeof ann, Stored<{ name: string; age: number; address?: { city: string } | undefined }> | undefined>>()
  const city = await db.collection('cities').get('oslo')
  holds<Same<typeof city, Stored<{ name: string; population: number }> | undefined>>()
  const tag = await db.collection('tags').get('vip')
  holds<Same<typeof tag, Stored<{ text: string; weight: number }> | undefined>>()
  // What has a default may be left out.
  await people.insert([{ name: 'Ann' }, { _id: 'bob', name: 'Bob', age: 3 }])
  await people.update('ann', ({ name, age }) => ({ name, age: age + 1 }))
  await people.put({ ...ann!, age: 32 })
  // @ts-expect-error the name is missing
  await people.insert({ age: 3 })
  // @ts-expect-error the age is a number
  await people.upsert({ name: 'Ann', age: '3' })
  // @ts-expect-error there is no such field
  people.find({ nam: 'Ann' })
  people.find({ age: { $gt: 17 }, 'address.city': 'Oslo' }).sort('-age')
  await db.collection('log').insert({ what: 'ever' })
  // @ts-expect-error there is no such collection: another one is named with its type
  await db.collection('peopel').insert({ name: 'Ann' })
  await db.collection<JsonObject>('new').insert({ what: 'ever' })
  // @ts-expect-error a misspelt field
  await people.insert({ name: 'Ann', adress: { city: 'Oslo' } })
  // @ts-expect-error a misspelt field, in a batch
  await people.upsert([{ name: 'Ann', agee: 3 }])
  await people.put({ _id: 'ann', _deleted: true, name: 'kept in the tombstone' })
  await db.transaction(async (tx) => {
    const inside = await tx.collection('people').get('ann')
    holds<Same<typeof inside, typeof ann>>()
    // @ts-expect-error the name is missing
    await tx.collection('people').insert({ age: 3 })
    // @ts-expect-error there is no such collection
    await tx.collection('anything').insert({ what: 'ever' })
    await tx.collection<JsonObject>('anything').insert({ what: 'ever' })
    await tx.collection<{ n: number }>('numbers').insert({ n: 1 })
  })
}

export async function dates(db: Database): Promise<void> {
  interface Note {
    readonly title: string
    readonly created: Date
    readonly edits: readonly { readonly at?: Date }[]
  }
  const notes = db.collection<Note>('notes')
  // @ts-expect-error a Date is not stored
  await notes.insert({ title: 'a', created: new Date(), edits: [] })
  // @ts-expect-error nor inside
  await notes.insert({ title: 'a', created: '2026-01-01', edits: [{ at: new Date() }] })
  // @ts-expect-error nor is it compared with
  notes.find({ created: { $gt: new Date() } })
  // @ts-expect-error a method of Date is no field
  notes.find().sort('created.getTime')
  const timed = db.collection('timed', { schema: z.object({ at: z.date() }) })
  // @ts-expect-error the schema gives a Date
  await timed.insert({ at: new Date() })
  const coerced = db.collection('coerced', { schema: z.object({ at: z.coerce.date() }) })
  // @ts-expect-error the schema gives a Date
  await coerced.insert({ at: '2026-01-01' })
  const texts = db.collection('texts', { schema: z.object({ at: z.date().transform((at) => at.toISOString()) }) })
  // @ts-expect-error it must be given a text that it takes again when it is put back
  await texts.insert({ at: new Date() })
  const iso = db.collection('iso', { schema: z.object({ at: z.iso.datetime(), seen: z.number().optional() }) })
  await iso.insert({ at: new Date().toISOString(), seen: Date.now() })
}

export async function elsewhere(db: Database): Promise<void> {
  const people = db.collection('people', { schema: Person, indexes: ['age'] })
  holds<Same<typeof people, Collection<z.output<typeof Person>, z.input<typeof Person>>>>()
  // @ts-expect-error there is no such field
  db.collection('people', { schema: Person, indexes: ['agee'] })
  const adHoc: Collection<JsonObject> = db.collection('docs', { indexes: ['any', 'a.b'] })
  const named: Collection<{ n: number }> = db.collection<{ n: number }>('numbers', { indexes: ['n'] })
  void [adHoc, named]
}

export async function declarations(): Promise<void> {
  // @ts-expect-error there is no such field
  await open('x', { collections: { people: { schema: Person, indexes: ['agee'] } } })
  const db = await opened()
  // @ts-expect-error nor here
  db.collection('people', { indexes: ['agee'] })
  // Whoever takes any database takes this one.
  await elsewhere(db)
}
