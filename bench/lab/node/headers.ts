/** The headers of every answer of the lab's server. */
import { pageHeaders } from '../../../tools/web/loopback.ts'

export const HEADERS: Readonly<Record<string, string>> = pageHeaders({
  // SQLite is WebAssembly, made from a blob; frames and workers are the page's own.
  'script-src': "'wasm-unsafe-eval'",
  'img-src': 'data: blob:',
  'connect-src': 'blob:',
  'worker-src': '',
  'frame-src': '',
  'frame-ancestors': '',
})
