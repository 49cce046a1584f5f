/**
 * PouchDB of its parts, unmodified: over HTTP and in memory, with views and replication. The package `pouchdb` brings LevelDB, too.
 * There is one class in a process, which test files share: what it takes only once, as replication, is put into it here.
 */
import Core from 'pouchdb-core'
import httpAdapter from 'pouchdb-adapter-http'
import memoryAdapter from 'pouchdb-adapter-memory'
import mapReduce from 'pouchdb-mapreduce'
import replication from 'pouchdb-replication'

export const PouchDB = Core.plugin(httpAdapter).plugin(memoryAdapter).plugin(mapReduce).plugin(replication)
