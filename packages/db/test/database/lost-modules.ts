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
for (const name of ['/writer.ts', '/write-path.ts', '/answer.ts']) lost.add(name)
const db = await open('notes', { storage: memory() })
const notes = db.collection<Note>('notes')
seen['read'] = await notes.get('a')
seen['written'] = await outcomeOf(notes.insert({ _id: 'a', day: 1 }))
// Loads that are under way are shared: they fail first.
await new Promise(setImmediate)
lost.delete('/writer.ts')
seen['planned'] = await Promise.all([
  outcomeOf(notes.insert({ _id: 'a', day: 1 })),
  outcomeOf(db.transaction((tx) => tx.collection<Note>('notes').insert({ _id: 'a', day: 1 }))),
  outcomeOf(db.flush()),
])
lost.delete('/write-path.ts')
// Asked for at once, in an order that matters.
seen['together'] = await Promise.all([
  outcomeOf(notes.insert({ _id: 'a', day: 1 })),
  outcomeOf(notes.update('a', (note) => ({ ...note, day: note.day + 1 }))),
  outcomeOf(
    db.transaction((tx) => tx.collection<Note>('notes').update('a', (note) => ({ ...note, day: note.day * 10 }))),
  ),
])
seen['day'] = (await notes.get('a'))?.day
seen['queried'] = await outcomeOf(notes.find({ day: 20 }).toArray())
lost.delete('/answer.ts')
seen['found'] = await notes.find({ day: 20 }).count()
seen['wrong'] = await db.check()
await db.close()
console.log(JSON.stringify(seen))
