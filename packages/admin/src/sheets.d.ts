/** A style sheet, by its address; the build gives each a file of its own. */
declare module '*.css' {
  const address: string
  export default address
}
