/**
 * A process of its own that preloads, and then does something of everything. Prints as JSON which modules of the library were loaded after that,
 * and how many before: `node --conditions=pannier-source preloaded.ts`.
 */
import { registerHooks } from 'node:module'
import { memory } from '../../src/storage/memory/memory.ts'

const loaded: string[] = []
registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith('file:')) loaded.push(url)
    return nextLoad(url, context)
  },
})
const { open, preload, repair } = await import('../../src/index.ts')
const start = loaded.length
await preload()
const preloaded = loaded.length - start
loaded.length = 0

const storage = memory()
const db = await open('shop', { storage, encryption: { password: 'x', derivation: 'pbkdf2' } })
const people = db.collection<{ name: string; age?: number }>('people', {
  indexes: ['age', { on: 'name', text: true }, { on: 'age', unique: true, name: 'once' }],
  history: true,
})
const live = people.find({ name: { $regex: '^a' } }).live()
const other = db.collection('other')
await people.insert({ _id: 'ann', name: 'ann', age: 5 })
await people.update('ann', (ann) => ({ ...ann, age: 6 }))
await people.putAttachment('ann', 'photo', 'bytes')
await live.ready
live.close()
await people.search('ann').toArray()
await people
  .find({ $or: [{ name: 'ann' }, { age: 5 }] })
  .sort('name')
  .explain({ run: true })
await people.find().sort('name').toArray()
await people
  .find()
  .groupBy('name')
  .aggregate({ count: { $count: true } })
  .toArray()
await people.list().toArray()
await people.changes().toArray()
await people.get('ann', { conflicts: true })
await people.local.put({ _id: 'seen' })
await people.duplicates('once')
await people.view('v', { map: (person, emit) => emit(person.name), reduce: '_count' }).query()
await db.transaction((tx) => tx.collection('other').insert({ _id: 'x' }))
await people.replicate({ to: other })
await people.compact()
await new Response(people.export()).text()
await other.import('{"_id":"y"}')
const snapshot = await new Response(db.snapshot()).bytes()
await db.check()
await db.close()
await repair('shop', { to: 'repaired', storage, encryption: { password: 'x', derivation: 'pbkdf2' } })
const copy = await open('copy', { storage, from: snapshot, encryption: { password: 'x', derivation: 'pbkdf2' } })
await copy.moveTo(memory(), { encryption: { password: 'x', derivation: 'pbkdf2' } })
console.log(JSON.stringify({ preloaded, after: loaded }))
