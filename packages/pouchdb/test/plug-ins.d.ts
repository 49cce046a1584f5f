/** Plug-ins that tests hand to PouchDB as they are. */
declare module 'crypto-pouch' {
  const plugin: unknown
  export default plugin
}

declare module 'pouchdb-mapreduce' {
  const plugin: unknown
  export default plugin
}

declare module 'transform-pouch' {
  const plugin: unknown
  export default plugin
}
