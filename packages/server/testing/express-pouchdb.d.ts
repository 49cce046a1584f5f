/** PouchDB's server, as far as tests use it. */
declare module 'express-pouchdb' {
  import type { RequestListener } from 'node:http'
  export default function app(pouchdb: unknown, options?: object): RequestListener
}
