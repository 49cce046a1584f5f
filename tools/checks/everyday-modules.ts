/**
 * Lives an everyday life with a database in a file and prints which modules of the library that loads, as a JSON array:
 * `node --conditions=pannier-source everyday-modules.ts FILE read|query|write`. `write` comes first: it makes the file.
 */
import { registerHooks } from 'node:module'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from './packages.ts'

const LIBRARY = 'packages/db/src/'
/** What takes their place in a browser is always loaded. */
const NOT_IN_BROWSERS = [
  'packages/db/src/storage/sqlite/',
  'packages/db/src/database/coordination/local-coordinator.ts',
]

const [file = '', life = ''] = process.argv.slice(2)
const loaded = new Set<string>()
registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith('file:')) loaded.add(relative(root, fileURLToPath(url)))
    return nextLoad(url, context)
  },
})

const { open } = await import('../../packages/db/src/index.ts')
const db = await open(file, { collections: { notes: { indexes: ['day', ['list', '-day']] } } })
const notes = db.collection('notes')
if (life === 'write') {
  await notes.insert(
    Array.from({ length: 100 }, (_, at) => ({ _id: `n${at}`, list: 'a', day: at, text: `note ${at}` })),
  )
  await notes.insert({ _id: 'one', list: 'a', day: 5 })
  await notes.put({ _id: 'two', list: 'b', day: 5 })
  await notes.upsert({ _id: 'two', list: 'b', day: 6 })
  await notes.update('one', (note) => ({ ...note, day: 7 }))
  await notes.delete('n1')
  await notes.ready()
}
await notes.get('one')
await notes.get(['n2', 'n3'])
await notes.info()
if (life !== 'read') {
  await notes
    .find({ list: 'a', day: { $gte: 5, $lt: 50 } })
    .sort('list', '-day')
    .limit(10)
    .toArray()
  await notes.find({ day: { $in: [5, 6] } }).first()
  await notes.find({ day: 7 }).count()
  await notes.find().count()
}
await db.close()
const isCounted = (path: string): boolean =>
  path.startsWith(LIBRARY) && !NOT_IN_BROWSERS.some((prefix) => path.startsWith(prefix))
console.log(JSON.stringify([...loaded].filter(isCounted)))
