/**
 * A process of its own, where modules that are loaded on demand can't be loaded for a while. Prints what became of it as JSON:
 * `node --conditions=pannier-source lost-modules.ts`.
 */
import { registerHooks } from 'node:module'
import { open, isPannierError } from '../../src/index.ts'
import { memory } from '../../src/storage/memory/memory.ts'

interface Note {
  readonly day: number
}

const lost = new Set<string>()
registerHooks({
  resolve(specifier, context, nextResolve) {
    for (const name of lost) if (specifier.endsWith(name)) throw new Error('offline')
    return nextResolve(specifier, context)
  },
})

const outcomeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
    return 'done'
  } catch (error) {
    return isPannierError(error) ? error.code : String(error)
  }
}

const seen: Record<string, unknown> = {}
for (const name of ['/plan-general.ts', '/transaction.ts', '/sort.ts']) lost.add(name)
const db = await open('notes', { storage: memory() })
const notes = db.collection<Note>('notes')
seen['read'] = await notes.get('a')
const conflicting = { _id: 'a', _rev: '1-b', day: 1 }
const write = (): Promise<unknown> => notes.put(conflicting, { newEdits: false })
const inTransaction = (): Promise<unknown> =>
  db.transaction((tx) => tx.collection<Note>('notes').update('a', (note) => ({ ...note, day: note.day * 10 })))
seen['planned'] = await Promise.all([outcomeOf(write()), outcomeOf(inTransaction()), outcomeOf(db.flush())])
// Loads that are under way are shared: they fail first.
await new Promise(setImmediate)
lost.delete('/plan-general.ts')
lost.delete('/transaction.ts')
// Asked for at once, in an order that matters.
seen['together'] = await Promise.all([
  outcomeOf(write()),
  outcomeOf(notes.update('a', (note) => ({ ...note, day: note.day + 1 }))),
  outcomeOf(inTransaction()),
])
seen['day'] = (await notes.get('a'))?.day
const sorted = notes.find({ day: 20 }).sort('day')
seen['sorted'] = await outcomeOf(sorted.toArray())
await new Promise(setImmediate)
lost.delete('/sort.ts')
seen['found'] = (await sorted.toArray()).length
seen['wrong'] = (await db.check()).problems
await db.close()
console.log(JSON.stringify(seen))
