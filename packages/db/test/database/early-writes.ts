/**
 * A process of its own, where nothing is loaded yet that writes when the first writes are asked for. Prints what became of them
 * as JSON: `node --conditions=pannier-source early-writes.ts`.
 */
import { open } from '../../src/index.ts'
import { memory } from '../../src/storage/memory/memory.ts'

interface Note {
  readonly day: number
}

const storage = memory()
const db = await open('notes', { storage })
const notes = db.collection<Note>('notes', { indexes: ['day'] })
const order: string[] = []
const told = (name: string, work: Promise<unknown>): Promise<number> => work.then(() => order.push(name))
const document = { _id: 'a', day: 1 }
const written = [
  told('insert', notes.insert(document)),
  told(
    'update',
    notes.update('a', (note) => ({ ...note, day: note.day + 1 })),
  ),
  told('put', notes.put({ _id: 'b', day: 5 })),
]
// What was asked for is what the document was then, and is finished although the database is closed.
document.day = 1000
await Promise.all([...written, db.close()])

const again = await open('notes', { storage })
const days = (await again.collection<Note>('notes').find().sort('day').toArray()).map(({ day }) => day)
console.log(JSON.stringify({ order, days, wrong: await again.check() }))
await again.close()
