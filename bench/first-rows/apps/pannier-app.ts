/** Pannier, by its public interface alone; the same in a page and in Node. */
import { open } from 'pannier'
import type { Collection, Database, OpenOptions } from 'pannier'
import type { Answer } from '../../contenders/contender.ts'
import type { Person } from '../../documents.ts'
import { CREATED_FROM, ROWS } from './app.ts'
import type { App } from './app.ts'

export function pannierApp(options: () => Answer<Pick<OpenOptions, 'encryption' | 'storage'>>): App {
  let database: Database
  let people: Collection<Person>
  return {
    async open(place) {
      database = await open(place, { ...(await options()), collections: { people: { indexes: ['created'] } } })
      people = database.collection<Person>('people')
    },
    firstRows: () =>
      people
        .find({ created: { $gte: CREATED_FROM } })
        .sort('created')
        .limit(ROWS)
        .toArray(),
    get: (id) => people.get(id),
    async fill(documents) {
      await people.insert(documents)
    },
    close: () => database.close(),
    async fillLog(ids, change) {
      await database.flush()
      for (const [turn, id] of ids.entries()) await people.update(id, (person) => change(person, turn))
    },
  }
}

/** A key, not a password: opening does not derive one. It is the same each time. */
export async function deviceKey(): Promise<Pick<OpenOptions, 'encryption'>> {
  const secret = new Uint8Array(32).fill(7)
  const key = await crypto.subtle.importKey('raw', secret, 'AES-GCM', false, ['encrypt', 'decrypt'])
  return { encryption: { key } }
}
