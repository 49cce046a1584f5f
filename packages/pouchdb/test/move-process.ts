/** Moves a LevelDB of PouchDB into an SQLite file, and reports its progress. The parent kills it on the way. */
import { sqlite } from 'pannier/sqlite'
import { movePouch, type MovableDatabase } from 'pouchdb-adapter-pannier/move'
import { load } from './installed.ts'
import { PouchDB } from './pouch.ts'

const [from, to] = process.argv.slice(2) as [string, string]
for (const name of ['pouchdb-adapter-leveldb', 'pouchdb-replication']) PouchDB.plugin(load(name))
const source = new PouchDB(from, { adapter: 'leveldb' })
const target = new PouchDB(to, { adapter: 'pannier', storage: sqlite() })
await movePouch(source as unknown as MovableDatabase, target as unknown as MovableDatabase, {
  batchSize: 10,
  deleteSource: true,
  onProgress: (done) => process.send!(done),
})
await target.close()
process.disconnect?.()
