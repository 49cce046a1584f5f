/** WebAssembly is bundled as its bytes. */
declare module '*.wasm' {
  const bytes: Uint8Array
  export default bytes
}
