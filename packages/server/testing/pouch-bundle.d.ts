/** The bundle of PouchDB, which comes with bench. */
declare module 'pouchdb' {
  // oxlint-disable typescript/consistent-type-imports -- the declaration of a module imports nothing by a relative name
  const PouchDB: typeof import('./pouch.js').PouchDB
  type PouchDB = import('./pouch.js').PouchDB
  export default PouchDB
}
