/** PouchDB behind express-pouchdb in a real HTTP server: a peer that speaks CouchDB's protocol, made by others. */
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import expressPouchDb from 'express-pouchdb'
import { PouchDB } from './pouch.js'

export interface PouchServer {
  readonly url: string
  /** Opens a database of the server in this process. */
  database(name: string): PouchDB
  close(): Promise<void>
}

/** Answers a request itself, or leaves it to the server by giving false. */
export type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean

let made = 0

/** In memory, or in files of a folder. Their LevelDB comes with bench: `npm ci` there. */
export async function pouchServer(intercept?: Intercept, dir?: string): Promise<PouchServer> {
  const Databases = dir === undefined ? memoryDatabases() : databasesIn(dir)
  const app = expressPouchDb(Databases, { mode: 'minimumForPouchDB' })
  const server = createServer((request, response) => {
    if (intercept?.(request, response) !== true) app(request, response)
  })
  const url = await listen(server)
  return { url, database: (name) => new Databases(name), close: () => closeServer(server) }
}

function databasesIn(dir: string): typeof PouchDB {
  const bench = createRequire(new URL('../../../bench/package.json', import.meta.url))
  return PouchDB.plugin(bench('pouchdb-adapter-leveldb')).defaults({ prefix: `${dir}/` })
}

/**
 * Databases of one server. PouchDB tells all servers of a process what happens to a name, without its prefix: the deletion of
 * one server's `docs` ends those of others. So each name here is unique, and each server knows its own.
 */
function memoryDatabases(): typeof PouchDB {
  const prefix = `server-${++made}-`
  const names = new Set<string>()
  return class extends PouchDB {
    constructor(name: string, options?: object) {
      super(`${prefix}${name}`, { ...options, adapter: 'memory' })
      if (name.startsWith(prefix)) return // A database of an index.
      names.add(name)
      this.once('destroyed', () => names.delete(name))
    }

    static allDbs(callback?: (error: null, names: string[]) => void): Promise<string[]> {
      const all = [...names]
      callback?.(null, all)
      return Promise.resolve(all)
    }
  }
}

/** On a free port of the loopback. */
export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
}
