/** Calls of the library, on an SQLite file with one index. */
import { join } from 'node:path'
import { open, type Collection } from 'pannier'
import { makeFolder } from '../processes.ts'
import type { Walks } from './walks.ts'

interface Note {
  readonly _id: string
  readonly day: number
  readonly text: string
}

interface Notes {
  readonly notes: Collection<Note>
  readonly note: () => Note
}

/** Few enough that all are in the log: no page is read. */
const DOCUMENTS = 100

export const LIBRARY: Walks<Notes> = {
  open: async () => {
    const db = await open(join(makeFolder('rooms'), 'rooms.db'))
    const notes = db.collection<Note>('notes', { indexes: ['day'] })
    let made = 0
    const note = (): Note => ({ _id: `n${made}`, day: made++ % 100, text: 'a note of a few words' })
    await notes.insert(Array.from({ length: DOCUMENTS }, note))
    await notes.ready()
    return { notes, note }
  },
  walks: {
    insert: { bar: [40, 200], run: ({ notes, note }) => notes.insert(note()) },
    find: {
      bar: [36, 200],
      run: ({ notes }) =>
        notes
          .find({ day: { $gte: 50 } })
          .sort('day')
          .limit(5)
          .toArray(),
    },
    get: { run: ({ notes }) => notes.get('n7') },
    update: { run: ({ notes }) => notes.update('n7', (old) => ({ ...old, day: old.day + 1 })) },
  },
}
