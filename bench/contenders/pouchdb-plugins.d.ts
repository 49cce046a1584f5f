/** Plugins of PouchDB have no types of their own. */
declare module 'pouchdb-find' {
  const plugin: unknown
  export default plugin
}
declare module 'pouchdb-mapreduce' {
  const plugin: unknown
  export default plugin
}
declare module 'pouchdb-replication' {
  const plugin: unknown
  export default plugin
}
declare module 'pouchdb-adapter-memory' {
  const plugin: unknown
  export default plugin
}
declare module 'pouchdb-adapter-idb' {
  const plugin: unknown
  export default plugin
}
declare module 'pouchdb-adapter-indexeddb' {
  const plugin: unknown
  export default plugin
}
declare module 'pouchdb-adapter-leveldb' {
  const plugin: unknown
  export default plugin
}
