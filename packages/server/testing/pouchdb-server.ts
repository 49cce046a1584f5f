/** PouchDB behind express-pouchdb in a real HTTP server: a peer that speaks CouchDB's protocol, made by others. */
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import expressPouchDb from 'express-pouchdb'
import memoryAdapter from 'pouchdb-adapter-memory'
import PouchDB from 'pouchdb'

PouchDB.plugin(memoryAdapter)

export interface PouchServer {
  readonly url: string
  /** Opens a database of the server in this process. */
  database(name: string): PouchDB
  close(): Promise<void>
}

/** Answers a request itself, or leaves it to the server by giving false. */
export type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean

let made = 0

/** In memory, or in files of a folder. */
export async function pouchServer(intercept?: Intercept, dir?: string): Promise<PouchServer> {
  const Databases = PouchDB.defaults(
    dir === undefined ? { adapter: 'memory', prefix: `server-${++made}-` } : { prefix: `${dir}/` },
  )
  const app = expressPouchDb(Databases, { mode: 'minimumForPouchDB' })
  const server = createServer((request, response) => {
    if (intercept?.(request, response) !== true) app(request, response)
  })
  const url = await listen(server)
  return { url, database: (name) => new Databases(name), close: () => closeServer(server) }
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
