/** As much of pouchdb-find as the differential test uses. */
declare module 'pouchdb-find' {
  const plugin: unknown
  export default plugin
}
